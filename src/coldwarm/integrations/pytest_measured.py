"""What tests measure: warm calls and first results, judged, saved as a file, compared at the end.

Values are plain, as workers send them. Two measure one after the other: at once they would disturb
each other, also in different processes.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import platform
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from coldwarm import __version__
from coldwarm.contracts.base import WARM
from coldwarm.contracts.codec import without_secrets
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.result import Benchmarks, Measured
from coldwarm.errors import ColdwarmError, ListedError, UsageError
from coldwarm.inprocess import sending
from coldwarm.integrations import figures, formats
from coldwarm.integrations.figures import exported
from coldwarm.report import comparison_text, terminal
from coldwarm.report.comparison_text import change
from coldwarm.report.headline import around
from coldwarm.report.sentences import counted, with_advice
from coldwarm.report.units import duration, interval, significant
from coldwarm.runner import environment, recompute, temporary
from coldwarm.runner.case_list import Options
from coldwarm.runner.functions.targets import Request
from coldwarm.stats.comparable import failure
from coldwarm.stats.compared_results import IncomparableError, NothingValidError, compare_results
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE
from coldwarm.stats.ratio import CONFIDENCE
from coldwarm.stats.selection import warm_processes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.comparison import ComparedMetric, RunComparison
    from coldwarm.contracts.environment import Environment
    from coldwarm.inprocess.bench_result import BenchResult


@dataclass
class Measurements:
    """Measurements in one process, or in several."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    """For each measurement the test, and its outcome."""
    benchmarks: list[dict[str, Any]] = field(default_factory=list)
    """As pyperf has them."""

    def add(self, test: str, line: str, found: list[dict[str, Any]]) -> None:
        """Keep what a test has measured."""
        self.lines.append((test, line))
        self._take(found)

    def add_calls(self, test: str, result: BenchResult) -> None:
        """Keep warm calls: those of a test that have one name are numbered, in their order."""
        found = _calls(test, result)
        names = {one["metadata"]["name"] for one in self.benchmarks}
        for one in found:
            name, number = one["metadata"]["name"], 1
            while one["metadata"]["name"] in names:
                number += 1
                one["metadata"]["name"] = f"{name} ({number})"
        self.add(test, _warm_call(result), found)

    def merge(self, values: Mapping[str, Any]) -> None:
        """Add what another process has sent."""
        self.lines += [(test, line) for test, line in values["lines"]]
        self._take(values["benchmarks"])

    def _take(self, found: Iterable[dict[str, Any]]) -> None:
        """Take figures; what has been measured several times has the processes of all."""
        known = {one["metadata"]["name"]: one for one in self.benchmarks}
        for one in found:
            same = known.get(one["metadata"]["name"])
            if same is None:
                self.benchmarks.append(one)
            else:
                same["runs"] += one["runs"]

    def plain(self) -> dict[str, Any]:
        """Return plain values."""
        return {"lines": [list(one) for one in self.lines], "benchmarks": self.benchmarks}


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other test of this user measures, of any session on this machine.

    Raises:
        OSError: the folder for temporary files cannot be written to.
    """
    path = Path(tempfile.gettempdir()) / f"coldwarm-measuring-{os.getuid()}.lock"
    # Not through a link: the folder is everybody's.
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _starts(measured: Measured, called: str) -> list[dict[str, Any]]:
    """Return the figures of fresh processes of the one function that was measured."""
    found: list[dict[str, Any]] = json.loads(formats.load("pyperf").files(exported(measured))[""])[
        "benchmarks"
    ]
    for one in found:
        rest = one["metadata"]["name"].partition("/")[2]
        one["metadata"]["name"] = figures.told(f"{called}/{rest}")
    return found


def _warm_call(result: BenchResult) -> str:
    """Return the figure of warm calls in this process, in words."""
    if result.warm is None or result.warm.call_s is None:
        return f"{result.name}, warm call: {result.reasons.get('warm', 'not measured')}"
    taken = result.warm.call_s
    steady = "" if result.warm.steady.steady else ", not steady"
    samples = counted(taken.n_samples, "sample")
    return f"{result.name}, warm call: {duration(taken.median)} ({samples} of 1 process{steady})"


def _calls(test: str, result: BenchResult) -> list[dict[str, Any]]:
    """Return the warm calls of one process; none where none could be measured."""
    seen = result.in_process
    if seen is None or result.warm is None:
        return []
    date = str(datetime.fromisoformat(seen.started_at).replace(tzinfo=None))
    found = []
    for process in warm_processes([seen]):
        name = figures.told(f"{test} {result.name}/{WARM}/call")
        metadata = {"name": name, "unit": "second", "coldwarm_cache_mode": WARM}
        if not process.steadiness.steady:
            metadata["coldwarm_note"] = "calls were not steady"
        run = {
            "values": list(process.steadiness.samples),
            "metadata": {"loops": process.blocks[0].batch, "date": date},
        }
        found.append({"metadata": metadata, "runs": [run]})
    return found


def _document(kept: Measurements, place: Environment) -> dict[str, Any]:
    """Return a file of pyperf: ``coldwarm compare`` reads it, and so does pyperf."""
    metadata = {
        "coldwarm_version": __version__,
        "python_implementation": platform.python_implementation().lower(),
        "python_version": platform.python_version(),
        "cpu_model_name": figures.told(place.cpu.model or ""),
        "platform": figures.told(place.platform),
    }
    return {
        "version": "1.0",
        "metadata": {name: value for name, value in metadata.items() if value},
        "benchmarks": kept.benchmarks,
    }


_T = TypeVar("_T")


def _labels(baseline: Measured) -> dict[str, str]:
    """Return by target what a stored run calls it."""
    own = {name: case.protocol.own for name, case in baseline.cases.items()}
    return {one.target: name for name, one in own.items() if one is not None and one.target}


def _by_target(made: Benchmarks, measured: Measured) -> Benchmarks:
    """Return the benchmarks of a run, each called by the target that was measured."""
    named = {label: target for target, label in _labels(measured).items()}
    return replace(
        made,
        benchmarks=_renamed(made.benchmarks, named),
        failed=_renamed(made.failed, named),
        left_out=_renamed(made.left_out, named),
        short_names={},
    )


def _renamed(of: Mapping[str, _T], named: Mapping[str, str]) -> dict[str, _T]:
    split = ((name.partition("/"), one) for name, one in of.items())
    return {f"{named.get(head, head)}{slash}{rest}": one for (head, slash, rest), one in split}


TITLE = "coldwarm: measured"
_NOW = "this session"


def base(path: str) -> Benchmarks:
    """Read what a session is to be compared with.

    Raises:
        UsageError: there is nothing.
        ContractError: it is broken, or of a kind that is not read.
    """
    found = formats.read(Path(path))
    if isinstance(found, Measured):
        return _by_target(formats.benchmarks_of(found), found)
    return found


def refuse_place(path: str) -> None:
    """Refuse a file that cannot be written, before anything is measured.

    Raises:
        UsageError: it cannot.
    """
    place = Path(path)
    if place.is_dir():
        raise UsageError(f"--coldwarm-save {path} is a folder; name a file, such as base.json")
    if not place.absolute().parent.is_dir():
        raise UsageError(f"--coldwarm-save {path}: its folder is not there; make it first")


def lines(
    kept: Measurements, width: int, *, save: str | None, against: Benchmarks | None
) -> Iterator[str]:
    """Write the file; yield what is printed at the end."""
    for test, line in kept.lines:
        yield f"{test}: {line}"
    if not kept.benchmarks:
        if save is not None or against is not None:
            yield (
                "no test has measured anything, so there is nothing to save or to compare: a test"
                " measures by the fixture `coldwarm`, coldwarm.warm(f, x) or coldwarm.assert_ttfr"
            )
        return
    made = _document(kept, environment.collect())
    if against is not None:
        yield from _compared(against, made, save or _NOW, width)
    if save is not None:
        yield _saved(made, Path(save))


def _saved(made: dict[str, Any], path: Path) -> str:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(figures.json_bytes(made))
        part.replace(path)
    except OSError as error:
        return f"--coldwarm-save {path}: not written: {error.strerror}"
    return f"saved in {path}; to compare: coldwarm compare {path} OTHER"


def _compared(against: Benchmarks, made: dict[str, Any], name: str, width: int) -> Iterator[str]:
    try:
        now = formats.benchmarks(name, "", made)
        found = compare_results([against], [now], Policy())
    except IncomparableError as error:
        yield from ListedError(comparison_text.refused(error)).lines
        return
    except ColdwarmError as error:
        yield from error.lines
        return
    said = comparison_text.document(without_secrets(found), everything=True)
    yield from terminal.text(said, width).splitlines()


_MODES: dict[str, CacheMode] = {
    "empty": "cold_process_cold_cache",
    "filled": "cold_process_warm_cache",
}
"""By what the caches on disk are before a process starts."""
_MOST = 1.1
"""Times as long as a stored result, by default: as ``coldwarm compare`` has it for starts."""


@dataclass(frozen=True)
class FirstResultRequest:
    """What a test wants to know of a first result; see ``MeasureFixture.assert_ttfr``."""

    target: str
    """``package.module:name`` or ``file.py:name``."""
    inputs: Sequence[str] = ()
    caches: str = "empty"
    processes: int = 6
    timeout_s: float = 300.0
    below: float | None = None
    """How late it may come: with a baseline a ratio, without one seconds."""
    baseline: str | None = None
    allow: Collection[str] = ()
    """What may differ from the baseline, besides the source of the function."""

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            UsageError: it is not what it must be.
        """
        target: Any = self.target  # whatever a test has given
        if not isinstance(target, str):
            what = f"assert_ttfr takes the name of a function, not a {type(target).__name__}"
            raise UsageError(
                f"{what}: 'package.module:name', so that fresh processes can import it"
            )
        if self.caches not in _MODES:
            raise UsageError(f"caches={self.caches!r}: give 'empty' or 'filled'")
        if self.processes < FEWEST_FOR_CONFIDENCE:
            few = f"processes={self.processes}: give {FEWEST_FOR_CONFIDENCE} or more"
            raise UsageError(f"{few}; fewer give no interval to judge by")
        below: Any = self.below
        if below is None and self.baseline is None:
            what = "assert_ttfr needs a limit: below=2.0 in seconds"
            raise UsageError(f"{what}, or baseline='out/base', a stored result")
        number = isinstance(below, (int, float)) and not isinstance(below, bool)
        if below is not None and not (number and 0 < below < math.inf):
            raise UsageError(f"below={below!r}: give a number above 0")

    @property
    def mode(self) -> CacheMode:
        """The cache mode."""
        return _MODES[self.caches]

    @property
    def called(self) -> str:
        """What the target is called in a saved file: other inputs make another figure."""
        inputs = f"({', '.join(self.inputs)})" if self.inputs else ""
        return f"{self.target}{inputs}"

    @property
    def name(self) -> str:
        """The name of its first result there."""
        return f"{self.called}/{self.mode}/first_result"


_SOURCE = "workload"
"""Fields that differ where the function was changed, which is what a test is to see."""
_SHOWN = 5


@dataclass(frozen=True)
class _Against:
    """A first result held against a stored one."""

    comparison: RunComparison
    metric: ComparedMetric
    below: float
    """The ratio that may not be exceeded."""

    @property
    def most(self) -> float:
        """The same, where the known noise between two runs makes it more."""
        noise = self.comparison.noise
        share = noise.shares.get("cold", 0.0) if noise else 0.0
        return max(self.below, min(self.below, 1.0) * (1.0 + share))

    @property
    def too_late(self) -> bool:
        """Whether the whole interval of the ratio lies above."""
        low = self.metric.low
        return low is not None and self.metric.confidence >= CONFIDENCE and low > self.most


def _is_above(seconds: Summary, below_s: float) -> bool:
    """Say whether the whole interval of a median lies above so many seconds."""
    enough = seconds.n_processes >= FEWEST_FOR_CONFIDENCE
    return enough and seconds.low is not None and seconds.low > below_s


def _label_in(baseline: Measured | Benchmarks, asked: FirstResultRequest) -> str | None:
    """Return what a stored run calls a target; ``None``: in this file it is called by itself.

    Raises:
        UsageError: it has no such target, but others, which are named.
    """
    of_run = _labels(baseline) if isinstance(baseline, Measured) else None
    there = list(baseline.benchmarks if isinstance(baseline, Benchmarks) else of_run or ())
    wanted = asked.name if of_run is None else asked.target
    if wanted not in there:
        more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        shown = ", ".join(there[:_SHOWN]) or "nothing"
        text = f"{baseline.path} has no result of {wanted}; it has {shown}{more}"
        raise UsageError(
            f"{text}. Make one with --coldwarm-save, or with coldwarm bench {asked.target}"
        )
    return None if of_run is None else of_run[asked.target]


_MOST_CHANGES = 4
_DOCTOR = "coldwarm doctor PROGRAM.py names what it compiles, and where"


def _figure(taken: Summary) -> str:
    level = f"{taken.confidence:.0%} interval".replace("%", " %")
    interval = around(taken).replace("…", "to")
    from_ = counted(taken.n_processes, "process")
    return (
        f"{duration(taken.median)} ({level} {interval}, {from_})"
        if interval
        else (f"{duration(taken.median)} ({from_}, no interval)")
    )


def _ratio(judged: _Against) -> str:
    """Return the ratio to the stored result with its interval, and the verdict."""
    one = judged.metric
    if one.ratio is None or one.low is None or one.high is None:
        return f"not to be compared with {judged.comparison.a.path}: {with_advice(one.reason)}"
    bounds = f"{one.confidence:.0%} interval {interval(one.low, one.high, ' to ')}"
    text = f"{significant(one.ratio)} times that of {judged.comparison.a.path}"
    return f"{text} ({bounds.replace('%', ' %')}): {one.verdict}"


def _later(asked: FirstResultRequest, taken: Summary, judged: _Against) -> Iterator[str]:
    yield f"{asked.target} has its first result too late: {_ratio(judged)}"
    most = f"at most {significant(judged.below)} times"
    if judged.most > judged.below:
        most += f" ({significant(judged.most)}, as two equal runs differ by so much here)"
    yield f"allowed: {most}, by below={judged.below:g}"
    yield f"B, now:  {_figure(taken)}"
    side, one = judged.comparison.a, judged.metric
    when = f", of {side.started_at}" if side.started_at else ""
    then = "" if one.a is None else f"{duration(one.a)} ({counted(one.n_a, 'process')}{when})"
    yield f"A, then: {then}"
    software = judged.comparison.software
    if software:
        more = "; …" if len(software) > _MOST_CHANGES else ""
        yield f"differs: {'; '.join(map(change, software[:_MOST_CHANGES]))}{more}"
    for reason in judged.comparison.warnings:
        yield f"care:    {with_advice(reason)}"
    yield (
        f"to do:   {_DOCTOR}; coldwarm bench {asked.target} --before COMMIT measures two"
        " commits together; if it is to take longer now, store a new result (--coldwarm-save)"
    )


class _FirstResult(NamedTuple):
    """Measurement of a first result, and its text."""

    seconds: Summary
    benchmarks: list[dict[str, Any]]
    """The figures of its processes, to be saved."""
    text: str
    late: str
    """Why the test fails; empty: it does not."""


def first_result(asked: FirstResultRequest) -> _FirstResult:
    """Measure a first result, one measuring at a time, and hold it against its limit.

    Raises:
        UsageError: it cannot be measured, or not be compared.
        ContractError: the baseline is broken.
    """
    stored = None if asked.baseline is None else formats.read(Path(asked.baseline))
    label = None if stored is None else _label_in(stored, asked)
    with alone():
        ours = _measured(asked, label)
    return judge(asked, ours, stored)


def judge(
    asked: FirstResultRequest, ours: Measured, stored: Measured | Benchmarks | None
) -> _FirstResult:
    """Hold what was measured against its limit, or against a stored result.

    Raises:
        UsageError: it has no figure, or cannot be compared.
    """
    taken, late = _seconds(ours, asked), ""
    text = f"{asked.target}, first result, {asked.caches} caches: {_figure(taken)}"
    if stored is not None:
        judged = _held(ours, asked, stored)
        late = "\n".join(_later(asked, taken, judged)) if judged.too_late else ""
        text += f"; {_ratio(judged)}"
    elif asked.below is not None and _is_above(taken, asked.below):
        late = (
            f"{text}: all of it above the {duration(asked.below)} that it may take\n"
            f"to do: {_DOCTOR}; if it is to take longer now, raise below={asked.below:g}"
        )
    return _FirstResult(taken, _starts(ours, asked.called), text, late)


def _measured(asked: FirstResultRequest, label: str | None) -> Measured:
    """Measure in fresh processes, one after the other; nothing is left on disk.

    ``label``: what the function is called in a stored result.

    Raises:
        UsageError: it cannot be measured, and why.
    """
    if sys.platform != "linux":
        raise UsageError(with_advice(because("needs_linux", platform=sys.platform)))
    variables = [f"{name}={value}" for name, value in sending.variables(None).items()]
    request = Request(
        targets=[asked.target if label is None else f"{label}={asked.target}"],
        inputs=asked.inputs,
        variables=variables,
        options=Options(
            suite="bench",
            cache_modes=(asked.mode,),
            min_runs=asked.processes,
            max_runs=asked.processes,
            timeout_s=asked.timeout_s,
        ),
    )
    # By its name, as the command line loads its commands.
    bench: Any = import_module("coldwarm.runner.functions.bench")
    with temporary.made() as folder:
        try:
            outcome = bench.run(request, folder / "out")
        except RefusedError as error:
            raise UsageError(f"{asked.target}: {with_advice(error.reason)}") from None
        if outcome.interrupted:
            raise KeyboardInterrupt
        found = recompute.read(outcome.path)
    why = failure(next(iter(found.cases.values())))
    if why is not None:
        raise UsageError(f"{asked.target} fails in a fresh process: {with_advice(why)}")
    return found


def _seconds(ours: Measured, asked: FirstResultRequest) -> Summary:
    """Return the first result of what was measured.

    Raises:
        UsageError: no process had the caches that were asked for.
    """
    (case,) = ours.cases.values()
    for one in case.cold:
        if one.cache_mode == asked.mode and "ttfr" in one.seconds:
            return one.seconds["ttfr"]
    why = with_advice(case.reason or because("no_valid_process"))
    raise UsageError(f"{asked.target} has no first result: {why}")


def _held(ours: Measured, asked: FirstResultRequest, stored: Measured | Benchmarks) -> _Against:
    """Hold what was measured against a stored result, as ``coldwarm compare`` does.

    Raises:
        UsageError: they cannot be compared, and what to do; or ``allow`` names no field.
    """
    label = _label_in(stored, asked) or asked.name
    reports = recompute.read_noise(None, [Path(stored.path).parent])
    try:
        if isinstance(stored, Measured):
            before = replace(stored, cases={label: stored.cases[label]})
            allow = {_SOURCE, *asked.allow}
            found = compare_results([before], [ours], Policy(), allow, reports=reports)
            metric = next(one for one in found.metrics if one.metric == f"{asked.mode}.ttfr_s")
        else:
            (name,) = ours.cases
            pair = f"{label}={name}/{asked.mode}/first_result"
            now = formats.benchmarks_of(ours)
            found = compare_results([stored], [now], Policy(), asked.allow, pairs=[pair])
            metric = found.metrics[0]
    except IncomparableError as error:
        text = comparison_text.refused(error).replace("--allow ", "allow=")
        raise UsageError(f"{asked.target}, with A {stored.path} and B now: {text}") from None
    except NothingValidError as error:
        raise UsageError(comparison_text.nothing_valid(error)) from None
    return _Against(found, metric, asked.below or _MOST)
