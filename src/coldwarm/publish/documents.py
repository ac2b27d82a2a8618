"""The documents of a snapshot that are made of its runs: manifest, index, report, citation."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import UNSET

from coldwarm.contracts import codec, nextstat
from coldwarm.contracts.base import WARM, is_name
from coldwarm.contracts.catalogue import INDEXES
from coldwarm.contracts.environment import fingerprint
from coldwarm.contracts.nextstat import Dataset
from coldwarm.contracts.reader import NAME
from coldwarm.contracts.snapshot import (
    BaselineManifest,
    CheckedGate,
    FigureSource,
    Git,
    IndexedFile,
    ManifestHarness,
    ManifestProgram,
    ManifestResult,
    ManifestSource,
    NamedLimitation,
    ProvenFigure,
    RejectedProcesses,
    SnapshotIndex,
    ValidatedRun,
    ValidatedVerdicts,
    ValidationReport,
)
from coldwarm.errors import UsageError
from coldwarm.publish import layout
from coldwarm.publish.lock import pins, requirements
from coldwarm.publish.storage import sha256_of
from coldwarm.stats.outcome import published_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.catalogue import Result
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.publish.content import Content, Run, Verdicts


_REPOSITORY = "https://github.com/coldwarm/coldwarm"
UNKNOWN = "unknown"
"""Where the published contracts have no null."""


def published_files(content: Content) -> dict[str, bytes]:
    """Return the published results of all runs of suites, and the one index over them."""
    runs = content.runs
    files: dict[str, bytes] = {}
    rows: list[nextstat.Published] = []
    for run in runs:
        folder = f"{run.name}/" if len(runs) > 1 else ""
        for case in run.cases:
            for name, result in published_of(case, run.environment):
                data, path = codec.encode(result), f"{folder}{name}.json"
                files[f"{layout.PUBLISHED}/{path}"] = data
                rows.append(nextstat.Published(result, path, sha256_of(data)))
    deterministic = all(run.suite.deterministic for run in runs)
    index = nextstat.suite(rows, content.environments[0], deterministic=deterministic)
    files[f"{layout.PUBLISHED}/{nextstat.INDEX}"] = codec.encode(index)
    return files


class Statement(NamedTuple):
    """Statement of the maker of a snapshot, and nothing else tells."""

    snapshot_id: str
    generated_at: str
    """UTC, ISO 8601."""
    deterministic: bool
    """Whether the same results give the same bytes again."""
    lock: Mapping[str, Any]
    """Contents and gaps of the environment's lock."""
    wheel: str | None
    """The path of the harness's wheel in the snapshot; ``None``: it is not there."""
    authors: tuple[str, ...] = ()
    """As they want to be cited; empty: they are not named."""
    licence: str | None = None
    """An SPDX identifier; ``None``: none is given."""


def documents_of(
    stated: Statement, content: Content, files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return every document of a snapshot that is made of its runs, but the index.

    Args:
        stated: What its maker states.
        content: What was measured.
        files: The files of the snapshot, as far as there are.
    """
    made = published_files(content)
    made[layout.MANIFEST] = codec.encode(_manifest(stated, content, made | dict(files)))
    report = validation_report(stated.snapshot_id, stated.generated_at, content)
    made[layout.VALIDATION] = codec.encode(report)
    made[layout.PINS] = requirements(pins(content), stated.wheel).encode()
    return made | _descriptions(stated, content, made | dict(files))


def _manifest(stated: Statement, content: Content, files: Mapping[str, bytes]) -> BaselineManifest:
    """Return the baseline manifest: what the figures belong to."""
    runs, first = content.runs, content.environments[0]
    indexes = [
        ("ml", f"{layout.PUBLISHED}/{nextstat.INDEX}"),
        *((run.suite.suite, f"{run.folder}/{NAME}") for run in runs),
        *((one.kind, one.path) for one in content.verdicts),
    ]
    return BaselineManifest(
        snapshot_id=stated.snapshot_id,
        deterministic=stated.deterministic,
        harness=ManifestHarness(repo=_REPOSITORY, git_commit=_commit(content)),
        nextstat=ManifestProgram(
            version=first.harness.version,
            wheel_sha256=sha256_of(files[stated.wheel]) if stated.wheel else UNSET,
            wheel_url=stated.wheel or UNSET,
            source=ManifestSource(repo=_REPOSITORY, git_commit=_commit(content)),
        ),
        environment={
            "python": first.python.version,
            "platform": first.platform,
            "harness_version": first.harness.version,
            "harness_sha256": harness_sha256(content),
            "lock": dict(stated.lock),
            "runs": {run.name: _of_run(run) for run in runs},
            **{one.kind: _of_verdicts(one) for one in content.verdicts},
        },
        datasets=_datasets(runs),
        results=[
            ManifestResult(suite=suite, path=path, sha256=sha256_of(files[path]))
            for suite, path in indexes
        ],
    )


def harness_sha256(content: Content) -> str:
    """Return the hash of the sources that measured; several, where results are of several."""
    hashes = {case.protocol.harness_sha256 for run in content.all_runs for case in run.cases}
    hashes |= {one.index.harness_sha256 for one in content.verdicts}
    return ", ".join(sorted(hashes)) or UNKNOWN


def _commit(content: Content) -> str:
    """Return the commit of the checkout that measured, where all was of one, unchanged."""
    found = [one.harness for one in content.environments]
    commits = {one.git_commit if one.git_dirty is False else None for one in found}
    commit = commits.pop() if len(commits) == 1 else None
    return commit or UNKNOWN


def _of_run(run: Run) -> dict[str, Any]:
    """Return versions, hardware, settings and cache policies of one run; nothing is null."""
    facts = {
        "environment_sha256": run.suite.environment_sha256,
        "seed": run.suite.seed,
        "versions": _versions(one for case in run.cases for one in case.observations),
        **_machine(run.environment),
        **_caches(run.cases),
    }
    return {name: _without_null(value) for name, value in facts.items()}


def _of_verdicts(one: Verdicts) -> dict[str, Any]:
    """Return the same of patterns or claims, where all runs were measured in one place."""
    cases = [case for run in one.runs for case in run.cases]
    facts = {
        "n_results": len(one.index.results),
        "n_runs": len(one.runs),
        "versions": _versions(one.index.results),
        **({} if one.environment is None else _machine(one.environment)),
        **_caches(cases),
    }
    return {name: _without_null(value) for name, value in facts.items()}


def _versions(of: Iterable[Observation | Result]) -> dict[str, str]:
    """Return the versions that processes, or results, have told."""
    found = {k: v for one in of for k, v in one.versions.items()}
    return dict(sorted(found.items()))


def _machine(environment: Environment) -> dict[str, Any]:
    return {
        "fingerprint": fingerprint(environment),
        "python": msgspec.to_builtins(environment.python),
        "cpu": msgspec.to_builtins(environment.cpu),
        "system": msgspec.to_builtins(environment.system),
        "limits": msgspec.to_builtins(environment.limits),
        "gpus": msgspec.to_builtins(environment.gpus or []),
        "variables": environment.variables,
    }


def _caches(cases: Sequence[CaseResult]) -> dict[str, Any]:
    return {
        "cache_policies": sorted({m for c in cases for m in c.protocol.cache_modes}),
        "caches": sorted({name for case in cases for name in case.protocol.caches or ()}),
    }


def _without_null(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Leave out what was not found out, and its reasons: the native environment has both."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if v is not None and k != "null_reasons"}
        return {key: _without_null(one) for key, one in kept.items()}
    return [_without_null(one) for one in value] if isinstance(value, list) else value


def _datasets(runs: Sequence[Run]) -> list[Dataset]:
    """Return the inputs of all workloads, each once."""
    found = {
        (case.dataset_id, case.dataset_sha256)
        for run in runs
        for case in run.cases
        if case.dataset_sha256 is not None
    }
    return [Dataset(id=id_, sha256=sha256) for id_, sha256 in sorted(found)]


def snapshot_index(
    stated: Statement, content: Content, files: Mapping[str, bytes], workflow: Mapping[str, str]
) -> SnapshotIndex:
    """Return the index of every file, sorted by path."""
    return SnapshotIndex(
        generated_at=stated.generated_at,
        snapshot_id=stated.snapshot_id,
        suite="+".join(
            [
                *sorted({run.suite.suite for run in content.runs}),
                *(one.kind for one in content.verdicts),
            ]
        ),
        git=Git(
            sha=_commit(content),
            ref=UNKNOWN,
            repository=_REPOSITORY,
        ),
        workflow=dict(workflow),
        artifacts=[
            IndexedFile(path=path, bytes=len(data), sha256=sha256_of(data))
            for path, data in sorted(files.items())
        ],
    )


_HEADLINES = ("ttfr", "ttfr_process", "total")
"""The figures of a cold cache mode that are listed with their provenance."""


def validation_report(snapshot_id: str, generated_at: str, content: Content) -> ValidationReport:
    """Return the report of runs that were computed again, and of verdicts that were judged so."""
    runs = content.runs
    return ValidationReport(
        snapshot_id=snapshot_id,
        generated_at=generated_at,
        runs=[_validated(run) for run in runs],
        gates=[_gate(run.name, case) for run in runs for case in run.cases],
        rejected=[one for run in runs for case in run.cases for one in _rejected(run.name, case)],
        limitations=[one for run in runs for one in _limitations(run)],
        figures=[one for run in runs for case in run.cases for one in _figures(run, case)],
        verdicts=[_validated_verdicts(one) for one in content.verdicts],
    )


def _validated_verdicts(one: Verdicts) -> ValidatedVerdicts:
    index = one.index
    return ValidatedVerdicts(
        kind=one.kind,
        path=one.path,
        sha256=sha256_of(one.files[INDEXES[one.kind]]),
        started_at=index.started_at,
        finished_at=index.finished_at,
        harness_version=index.harness_version,
        harness_sha256=index.harness_sha256,
        versions=_versions(index.results),
        verdicts=index.verdicts,
        n_runs=len(one.runs),
    )


def _validated(run: Run) -> ValidatedRun:
    suite = run.suite
    hashes = {case.protocol.harness_sha256 for case in run.cases}
    return ValidatedRun(
        suite=run.name,
        run_id=suite.run_id,
        started_at=suite.started_at,
        finished_at=suite.finished_at,
        complete=suite.complete,
        n_ok=suite.n_ok,
        n_warn=suite.n_warn,
        n_failed=suite.n_failed,
        harness_version=run.environment.harness.version,
        harness_sha256=hashes.pop() if len(hashes) == 1 else None,
        environment_sha256=suite.environment_sha256,
        environment_fingerprint=fingerprint(run.environment),
        statuses={case.case: case.status for case in run.cases},
    )


def _gate(suite: str, case: CaseResult) -> CheckedGate:
    gates = [seen.gate.passed for seen in case.observations if seen.gate is not None]
    return CheckedGate(
        suite=suite,
        case=case.case,
        passed=all(gates) if gates else None,
        n_passed=gates.count(True),
        n_failed=gates.count(False),
    )


def _rejected(suite: str, case: CaseResult) -> Iterator[RejectedProcesses]:
    seen = [one for one in case.observations if one.status != "ok" and one.reason is not None]
    counts = Counter((one.cache_mode, one.status, msgspec.json.encode(one.reason)) for one in seen)
    reasons = {msgspec.json.encode(one.reason): one.reason for one in seen}
    for (mode, status, key), n_processes in sorted(counts.items()):
        reason = reasons[key]
        if status != "ok" and reason is not None:
            yield RejectedProcesses(
                suite=suite,
                case=case.case,
                cache_mode=mode,
                status=status,
                reason=reason,
                n_processes=n_processes,
            )


def _limitations(run: Run) -> Iterator[NamedLimitation]:
    cases: dict[bytes, list[str]] = {}
    reasons: dict[bytes, Reason] = {}
    for case in run.cases:
        for reason in case.limitations:
            key = msgspec.json.encode(reason)
            reasons[key] = reason
            cases.setdefault(key, []).append(case.case)
    for key, reason in reasons.items():
        yield NamedLimitation(suite=run.name, reason=reason, cases=cases[key])


def _figures(run: Run, case: CaseResult) -> Iterator[ProvenFigure]:
    """Yield the headline figures of a case; all are of the run that measured them."""
    path = next(row.path for row in run.suite.cases if row.case == case.case)
    source = FigureSource(
        provenance="measured_here",
        path=f"{run.folder}/{path}",
        sha256=sha256_of(run.files[path]),
    )

    def figure(mode: CacheMode, name: str, summary: Summary) -> ProvenFigure:
        return ProvenFigure(
            suite=run.name,
            case=case.case,
            cache_mode=mode,
            name=name,
            median_s=summary.median,
            low_s=summary.low,
            high_s=summary.high,
            n_processes=summary.n_processes,
            source=source,
        )

    for cold in case.cold:
        for name in _HEADLINES:
            if name in cold.seconds:
                yield figure(cold.cache_mode, name, cold.seconds[name])
    if case.warm is not None and case.warm.call_s is not None:
        yield figure(WARM, "call", case.warm.call_s)


_SPDX = re.compile(r"[A-Za-z0-9.+-]{1,60}")
NO_AUTHOR = "Authors not named"
_KEYWORDS = ("benchmark", "just-in-time compilation", "cold start", "reproducibility")
_CONFORMS = "https://w3id.org/ro/crate/1.1"


def refuse_names(authors: Sequence[str], licence: str | None) -> None:
    """Refuse names and licences that could not stand in one line.

    Raises:
        UsageError: one is empty, too long, or holds what nobody sees.
    """
    for name in authors:
        if not is_name(name):
            raise UsageError(f"--author {name[:80]!r} is no name: one line of visible characters")
    if licence is not None and not _SPDX.fullmatch(licence):
        raise UsageError(f"--license {licence[:80]!r} is no SPDX identifier, such as CC-BY-4.0")


def _descriptions(
    stated: Statement, content: Content, files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return how a snapshot is cited and described, which says nothing that is not in it besides.

    All are written as JSON, which YAML reads too.
    """
    title, abstract = f"coldwarm snapshot {stated.snapshot_id}", _abstract(content)
    authors = stated.authors or (NO_AUTHOR,)
    lines = [
        "cff-version: 1.2.0",
        "message: Please cite this snapshot where its figures are used.",
        "type: dataset",
        f"title: {_quoted(title)}",
        f"abstract: {_quoted(abstract)}",
        f"version: {_quoted(stated.snapshot_id)}",
        f'date-released: "{stated.generated_at[:10]}"',
        "authors:",
        *(f"  - name: {_quoted(name)}" for name in authors),
        "keywords:",
        *(f"  - {word}" for word in _KEYWORDS),
    ]
    deposit: dict[str, Any] = {
        "title": title,
        "upload_type": "dataset",
        "description": abstract,
        "version": stated.snapshot_id,
        "publication_date": stated.generated_at[:10],
        "creators": [{"name": name} for name in authors],
        "keywords": list(_KEYWORDS),
    }
    root: dict[str, Any] = {
        "name": title,
        "description": abstract,
        "identifier": stated.snapshot_id,
        "datePublished": stated.generated_at,
        "keywords": ", ".join(_KEYWORDS),
    }
    if stated.licence:
        lines.append(f"license: {_quoted(stated.licence)}")
        deposit["license"] = stated.licence
    made = {
        layout.ZENODO: _json(deposit),
        layout.CITATION: ("\n".join(lines) + "\n").encode(),
    }
    return made | {layout.CRATE: _crate(root, stated, made | dict(files))}


def _abstract(content: Content) -> str:
    """Return what a snapshot holds, in a sentence or two."""
    suites = sorted({run.suite.suite for run in content.runs})
    cpus = sorted({one.cpu.model for one in content.environments if one.cpu.model})
    gpus = sorted({gpu.model for one in content.environments for gpu in one.gpus or ()})
    held = []
    if suites:
        named = f"the {_listed(suites)} suite{'s' * (len(suites) > 1)}"
        held.append(f"cold-start and warm-call distributions of {named}")
    if content.verdicts:
        kinds = _listed([one.kind for one in content.verdicts])
        held.append(f"verdicts on {kinds} about just-in-time compilers")
    text = _listed(held)
    return (
        f"{text[:1].upper()}{text[1:]}, measured with coldwarm on "
        f"{_listed([*cpus, *gpus]) or 'a processor that gives no name'}: raw samples, summaries, "
        "verdicts, the environment and the cache policies they belong to, with hashes of every "
        "file."
    )


def _crate(root: Mapping[str, Any], stated: Statement, files: Mapping[str, bytes]) -> bytes:
    """Return ``ro-crate-metadata.json`` over the files of a snapshot.

    It is written here and not by a library, so that the same snapshot has the same bytes: of two
    files, neither can hold the hash of the other, so hashes stand in the snapshot's index alone.
    """
    people = [
        {"@id": f"#author-{n}", "@type": "Person", "name": name}
        for n, name in enumerate(stated.authors, start=1)
    ]
    parts = sorted({*files, layout.INDEX} - {layout.CRATE})
    dataset = {
        "@id": "./",
        "@type": "Dataset",
        **root,
        "hasPart": [{"@id": path} for path in parts],
    }
    if people:
        dataset["author"] = [{"@id": one["@id"]} for one in people]
    if stated.licence:
        dataset["license"] = {"@id": f"https://spdx.org/licenses/{stated.licence}"}
    about = {
        "@id": layout.CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": _CONFORMS},
        "about": {"@id": "./"},
    }
    graph = [about, dataset, *people, *(_file(path, files.get(path)) for path in parts)]
    return _json({"@context": f"{_CONFORMS}/context", "@graph": graph})


def _file(path: str, data: bytes | None) -> dict[str, Any]:
    part = layout.part_of(path)
    about: dict[str, Any] = {"@id": path, "@type": "File", "name": path}
    if part is not None:
        about |= {"description": part.holds, "encodingFormat": part.format}
    elif path == layout.INDEX:
        about |= {"description": "every file with its hash", "encodingFormat": "application/json"}
    return about if data is None else about | {"contentSize": str(len(data))}


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
