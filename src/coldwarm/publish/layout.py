"""The files of a snapshot: what each is called, what it holds, and its contract.

    snapshot_index.json         every other file with its size and SHA-256; written last
    snapshot_index.json.sig     a signature of the index, added afterwards
    baseline_manifest.json      versions, hardware, settings, cache policies, inputs, results
    validation_report.json      gates, rejected processes, limitations, figures with provenance
    results/NAME/…              each run as it was measured: its index, answers, cases, journal,
                                environment
    patterns/…                  verdicts on patterns, and the runs that they are from
    claims/…                    verdicts on claims, and the runs that they are from
    nextstat/…                  the published contracts of all runs, under one index
    pylock.toml                 the measured environment, to be installed again (PEP 751)
    requirements.txt            the same distributions, by version alone
    code/…                      functions of the maker's own with their data, where asked for
    harness/…                   the wheel of coldwarm, where it was asked for
    report.html, validation_report.pdf
    CITATION.cff, ro-crate-metadata.json, .zenodo.json

NAME is the suite's; where several runs are of one suite, ``ml-2`` and so on, in order of time.
There are runs of suites, patterns or claims, or several of these. The runs of patterns and claims
are without their journals: those say once more what the cases hold, and are as large.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import UNSEEN

if TYPE_CHECKING:
    from collections.abc import Collection

INDEX = "snapshot_index.json"
SIGNATURE = f"{INDEX}.sig"
"""The raw 64 bytes of Ed25519 over the index."""
PUBLIC_KEY = f"{INDEX}.pub"
"""The public half of the key that signed, as PEM."""
BUNDLE = f"{INDEX}.sigstore.json"
"""The bundle of a signature without a key."""
MANIFEST = "baseline_manifest.json"
VALIDATION = "validation_report.json"
ANSWERS = "answers.json"
LOCK = "pylock.toml"
PINS = "requirements.txt"
CITATION = "CITATION.cff"
CRATE = "ro-crate-metadata.json"
ZENODO = ".zenodo.json"
PAGE = "report.html"
PDF = "validation_report.pdf"
RESULTS = "results"
PUBLISHED = "nextstat"
HARNESS = "harness"
CODE = "code"
_VERDICTS = ("patterns/patterns.json", "claims/claims.json")
"""The indexes of patterns and claims; their folders are called as what they hold."""
REGISTRY = "snapshot_registry.json"
"""The registry beside snapshots; in none of them."""
NOT_INDEXED = frozenset({INDEX, SIGNATURE, PUBLIC_KEY, BUNDLE})
"""Files that the index does not name: itself, and what is made from it afterwards."""

_NAME = rf"[^/.{UNSEEN}][^/{UNSEEN}]*"


class FileKind(NamedTuple):
    """A kind of file in a snapshot."""

    path: str
    """A regular expression of its whole path, with forward slashes."""
    contract: str
    """Its ``schema_version``; empty for files of other formats."""
    holds: str
    """Contents, in words."""
    format: str = "application/json"
    """Its media type."""
    required: bool = False
    """Whether no snapshot is without it; of runs, whether none that has runs of suites is."""
    made: bool = False
    """Whether all of it is made of other files, so that it can be made again and compared."""

    def is_of(self, path: str) -> bool:
        """Say whether a path is one of these."""
        return re.fullmatch(self.path, path) is not None


_RUN = rf"{RESULTS}/{_NAME}"
_POINT = rf"(?:/{_NAME})?"
_MEASURED = rf"patterns/{_NAME}{_POINT}|claims/{_NAME}/{_NAME}{_POINT}"
"""A run that verdicts are from; of a grid, that of a point. One of a pattern that claims rest on is
called as one of those."""
_PARTS: tuple[FileKind, ...] = (
    FileKind(
        re.escape(MANIFEST),
        "nextstat.baseline_manifest.v1",
        "versions, hardware and settings that the figures belong to, inputs and results",
        required=True,
    ),
    FileKind(
        re.escape(VALIDATION),
        "coldwarm.validation_report.v1",
        "correctness gates, rejected processes, limitations, figures with where they are from",
        required=True,
        made=True,
    ),
    FileKind(
        rf"{_RUN}/suite\.json", "coldwarm.suite_result.v2", "the index of a run", required=True
    ),
    FileKind(
        rf"{_RUN}/{re.escape(ANSWERS)}",
        "coldwarm.answers.v1",
        "which candidate is the cheapest from how many calls",
        made=True,
    ),
    FileKind(
        rf"{_RUN}/environment\.json",
        "coldwarm.environment.v2",
        "where a run was measured",
        required=True,
    ),
    FileKind(
        rf"{_RUN}/cases/{_NAME}\.json",
        "coldwarm.case_result.v2",
        "a case with its raw samples and summaries",
    ),
    FileKind(
        rf"{_RUN}/journal\.jsonl", "", "what happened in a run, line by line", "application/jsonl"
    ),
    FileKind(
        rf"{_RUN}/{PUBLISHED}/ml_suite\.json",
        "nextstat.ml_benchmark_suite_result.v1",
        "the published index of a run",
        made=True,
    ),
    FileKind(
        rf"{_RUN}/{PUBLISHED}/{_NAME}\.json",
        "nextstat.ml_benchmark_result.v1",
        "a case in the published contract",
        made=True,
    ),
    FileKind(
        r"patterns/patterns\.json",
        "coldwarm.pattern_results.v1",
        "what patterns have shown, with what was seen of each",
    ),
    FileKind(
        r"claims/claims\.json",
        "coldwarm.claim_results.v1",
        "the verdicts on claims, with what was seen of each",
    ),
    FileKind(
        r"(?:patterns|claims)/environment\.json",
        "coldwarm.environment.v2",
        "where patterns or claims were measured",
    ),
    FileKind(
        rf"(?:{_MEASURED})/suite\.json",
        "coldwarm.suite_result.v2",
        "the index of a run of a pattern or a claim",
    ),
    FileKind(
        rf"(?:{_MEASURED})/environment\.json",
        "coldwarm.environment.v2",
        "where such a run was measured",
    ),
    FileKind(
        rf"(?:{_MEASURED})/{re.escape(ANSWERS)}",
        "coldwarm.answers.v1",
        "which candidate of such a run is the cheapest from how many calls",
        made=True,
    ),
    FileKind(
        rf"(?:{_MEASURED})/cases/{_NAME}\.json",
        "coldwarm.case_result.v2",
        "one side of a pattern, or a candidate of a claim, with its raw samples",
    ),
    FileKind(
        rf"{PUBLISHED}/ml_suite\.json",
        "nextstat.ml_benchmark_suite_result.v1",
        "the published index of all runs",
        required=True,
        made=True,
    ),
    FileKind(
        rf"{PUBLISHED}/(?:{_NAME}/)?{_NAME}\.json",
        "nextstat.ml_benchmark_result.v1",
        "a case in the published contract",
        made=True,
    ),
    FileKind(
        re.escape(LOCK),
        "",
        "the measured environment with the hash of every wheel, to be installed again",
        "application/toml",
    ),
    FileKind(
        re.escape(PINS),
        "",
        "the measured environment by versions alone",
        "text/plain",
        required=True,
        made=True,
    ),
    FileKind(rf"{HARNESS}/{_NAME}\.whl", "", "the wheel of coldwarm", "application/zip"),
    FileKind(
        rf"{CODE}/(?:{_NAME}/)*{_NAME}",
        "",
        "functions of the maker's own that were measured, and what they read",
        "application/octet-stream",
    ),
    FileKind(re.escape(PAGE), "", "the report as one page", "text/html", made=True),
    FileKind(
        re.escape(PDF), "", "the validation report, to be printed", "application/pdf", made=True
    ),
    FileKind(
        re.escape(CITATION), "", "how to cite the snapshot", "application/yaml", required=True
    ),
    FileKind(
        re.escape(CRATE),
        "",
        "the snapshot described as an RO-Crate",
        "application/ld+json",
        required=True,
    ),
    FileKind(re.escape(ZENODO), "", "what Zenodo asks for of a deposit", required=True),
)
"""In the order in which a path is looked up; the index itself is not among them."""


def lacking(paths: Collection[str]) -> list[FileKind]:
    """Return what a snapshot of these paths has to have besides."""
    judged = any(path in _VERDICTS for path in paths)
    measured = not judged or any(path.startswith(f"{RESULTS}/") for path in paths)
    return [
        part
        for part in _PARTS
        if part.required
        and (measured or not part.path.startswith(_RUN))
        and not any(part.is_of(path) for path in paths)
    ]


def part_of(path: str) -> FileKind | None:
    """Return what a file is by its path; ``None``: no file of a snapshot is called so."""
    return next((part for part in _PARTS if part.is_of(path)), None)
