"""Format of github-action-benchmark, ``customSmallerIsBetter``: a list, less is better.

Its charts and alerts hold a value against that of an earlier commit and do not look at the unit, so
each kind of figure always has the same one.

What it keeps is read too: ``data.js``, a script with one assignment, or the same as JSON. It has a
list for each suite, with an entry for each time that it was measured.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.base import MOST_S
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Benchmarks, BenchmarkSamples
from coldwarm.integrations import figures
from coldwarm.integrations.formats import LONGEST_NAME, DocumentPart, HistoryReader, Writer, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.reasons import Reason
    from coldwarm.integrations.figures import Exported, Figure
    from coldwarm.integrations.formats import Opened

_UNITS: dict[str, tuple[str, float]] = {
    "call": ("µs", 1e6),
    "peak_memory": ("MiB", 1 / 2**20),
}
_SECONDS = ("s", 1.0)


def _files(made: Exported) -> dict[str, bytes]:
    """Return one file."""
    return {"": figures.json_bytes([_entry(made, figure) for figure in made.figures])}


def _entry(made: Exported, figure: Figure) -> dict[str, object]:
    unit, factor = _UNITS.get(figure.what, _SECONDS)
    summary = figure.summary
    entry: dict[str, object] = {
        "name": figure.name,
        "unit": unit,
        "value": summary.median * factor,
        "extra": "\n".join(_extra(made, figure)),
    }
    if summary.low is not None and summary.high is not None:
        bounds = f"{summary.low * factor:.6g}–{summary.high * factor:.6g}"
        entry["range"] = f"{bounds} at {100 * summary.confidence:.3g} %"
    return entry


def _extra(made: Exported, figure: Figure) -> list[str]:
    lines = [f"median of {figure.summary.n_processes} processes"]
    if not figure.steady:
        lines.append("calls were not steady")
    facts = figures.machine(made.measured.environment) | figures.versions(figure)
    lines += [f"{name}: {value}" for name, value in facts.items()]
    return [*lines, f"coldwarm: {figures.coldwarm_version(made.measured)}"]


_TOOL = "github-action-benchmark"
_BEGINS = re.compile(rb"\A\s*window\.BENCHMARK_DATA\s*=")
_MOST_RESULTS = 10_000
"""In one file; of more, each would be a folder on the disk."""
_IN_S = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millis", "millisecond", "milliseconds"), 1e-3),
    # The sign of micro has two codes.
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "usec", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("ps", "picosecond", "picoseconds"), 1e-12),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
}
_DONE = {f"{word}{end}" for word in ("iter", "iteration", "op", "call", "run") for end in ("", "s")}
"""What is counted by a rate whose inverse is the time of one."""
_MORE, _LESS = "customBiggerIsBetter", "customSmallerIsBetter"


class _Bench(DocumentPart, frozen=True, kw_only=True):
    name: str
    value: float | None
    """``None``: what was no number, as JavaScript writes it."""
    unit: str


class _Commit(DocumentPart, frozen=True, kw_only=True):
    id: str = ""


class _Entry(DocumentPart, frozen=True, kw_only=True):
    commit: _Commit
    date: int
    """Milliseconds since 1970 when it was measured."""
    tool: str = ""
    benches: list[_Bench]


class _Document(DocumentPart, frozen=True, kw_only=True):
    entries: dict[str, list[_Entry]]


def _is_mine(document: dict[str, Any]) -> bool:
    """Say whether a document has lists by suite."""
    entries = document.get("entries")
    return isinstance(entries, dict) and all(isinstance(one, list) for one in entries.values())


def _results(opened: Opened) -> list[Benchmarks]:
    """Return what was measured each time, suite by suite.

    Raises:
        ContractError: the document is broken, or holds no time at all, or too many results.
    """
    document = opened.typed(_Document)
    n_results = sum(map(len, document.entries.values()))
    if n_results > _MOST_RESULTS:
        what = f"holds {n_results} results, more than {_MOST_RESULTS}; leave out the oldest"
        raise opened.fault(what)
    found = [
        _result(opened, suite, one) for suite, every in document.entries.items() for one in every
    ]
    if not any(one.benchmarks for one in found):
        left_out = ", ".join(dict.fromkeys(name for one in found for name in one.left_out))
        what = f"none of its benchmarks has a time: {plain(left_out)}" if left_out else ""
        raise opened.fault(what or "holds no benchmark")
    return found


def _result(opened: Opened, suite: str, entry: _Entry) -> Benchmarks:
    """Return what was measured at one time, with an id that stays when the file grows."""
    names = [plain(f"{suite}: {one.name}", LONGEST_NAME) for one in entry.benches]
    times_of = Counter(names)
    kept: dict[str, BenchmarkSamples] = {}
    left_out: dict[str, Reason] = {}
    for name, one in zip(names, entry.benches, strict=True):
        found = _time_s(entry.tool, one)
        if not plain(one.name):
            left_out[name] = because("nameless_elsewhere")
        elif times_of[name] > 1:
            left_out[name] = because("same_name_elsewhere")
        elif isinstance(found, float):
            kept[name] = BenchmarkSamples("warm", ((found,),))
        else:
            left_out[name] = found
    # Nothing of who wrote the commit, and what.
    part = msgspec.json.encode({"entries": {suite: [entry]}}, order="deterministic")
    tool = f"{plain(entry.tool)}, kept by {_TOOL}" if plain(entry.tool) else _TOOL
    return Benchmarks(
        path=opened.path,
        tool=tool,
        benchmarks=kept,
        left_out=left_out,
        run_id=hashlib.sha256(part).hexdigest()[:32],
        started_at=opened.date(entry.date),
        commit=plain(entry.commit.id) or None,
        suite=plain(suite),
        part=part,
    )


def _time_s(tool: str, one: _Bench) -> float | Reason:
    """Return the seconds of one call, or why there are none."""
    if one.value is None:
        return because("no_samples_elsewhere", tool=_TOOL)
    for factor, is_rate in _readings(one.unit):
        if tool == (_LESS if is_rate else _MORE):
            unit = f"{plain(one.unit)}, of which {'less' if is_rate else 'more'} is better"
            return because("unit_elsewhere", unit=unit)
        given = 1 / one.value if is_rate and one.value else one.value
        time_s = factor * given
        if not 0 < time_s <= MOST_S:
            return because("no_time_elsewhere", value=f"{one.value:.6g} {plain(one.unit)}")
        return time_s
    return because("unit_elsewhere", unit=plain(one.unit) or "not told")


def _readings(unit: str) -> Iterator[tuple[float, bool]]:
    """Yield what a unit is in seconds, and whether it is a rate; nothing where it is no time.

    Behind a tab stand further figures, as files of Go had them once.
    """
    above, slash, below = (part.strip() for part in unit.partition("\t")[0].partition("/"))
    if above.lower() in _IN_S:
        yield _IN_S[above.lower()], False
    elif slash and above.lower() in _DONE and below.lower() in _IN_S:
        yield _IN_S[below.lower()], True


WRITER = Writer(files=_files)
HISTORY = HistoryReader(tool=_TOOL, begins=_BEGINS, is_mine=_is_mine, results=_results)
