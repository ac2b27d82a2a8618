"""A sweep of sizes: benches of the same functions, one for each size, chosen by what is open."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import re
import time
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from coldwarm.contracts import codec
from coldwarm.contracts.base import WARM
from coldwarm.contracts.environment import fingerprint
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.sweep import FILE, SizePoint, Slice, SweepReport, SweepRequest
from coldwarm.errors import RunDirectoryError, UsageError, storage_error
from coldwarm.runner import environment, recompute
from coldwarm.runner.case_list import COLD
from coldwarm.runner.directory import refuse_content
from coldwarm.runner.functions import bench
from coldwarm.runner.functions.targets import parse_inputs
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.ledger import Listener
from coldwarm.runner.results import INDEX
from coldwarm.stats import answers, sweeps
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.runner.case_list import Options
    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome

    Fixed = Mapping[str, int | Literal["all"]]

GOAL = 0.1
_BLOCKS = 8
_ROUNDS = {True: (3, 6), False: (2, 6)}
"""Of each size at least and at most, with starts and warm calls, and with one of them: who is the
cheapest by calls needs three. Another size tells more of a border than a finer ratio does."""
THREADS = "threads"
_WRITE = "write n=1e2:1e6, and n in an --input: x=f64[n,20]"
_LARGEST = 2**31
_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


def of_one_size(options: Options, left_s: float | None) -> Options:
    """Return the options of the bench of one size: rounds until it is clear who is the cheapest."""
    modes = set(options.cache_modes)
    least, most = _ROUNDS[WARM in modes and bool(modes & set(COLD))]
    threshold = options.decide or 0.0
    return replace(
        options,
        time_budget_s=left_s,
        min_runs=least,
        max_runs=most,
        blocks=_BLOCKS,
        calls_together=False,
        # Verdicts alone count, also within a time budget.
        limits={"cold": threshold, "warm": threshold},
    )


class Dimensions(NamedTuple):
    """What is swept: a range of sizes, and what else is tried, each value for itself."""

    name: str
    low: int
    high: int
    fixed: Mapping[str, Sequence[int | Literal["all"]]] = {}

    @property
    def slices(self) -> list[dict[str, int | Literal["all"]]]:
        """Every setting of what is not the range."""
        names = sorted(self.fixed)
        values = product(*(self.fixed[name] for name in names))
        return [dict(zip(names, one, strict=True)) for one in values]


def parse(texts: Sequence[str]) -> Dimensions:
    """Return what is swept by ``n=1e2:1e6``, and by lists such as ``k=8,64`` and ``threads=1,all``.

    Raises:
        UsageError: there is not one range, or a text is neither.
    """
    ranges: dict[str, tuple[int, int]] = {}
    fixed: dict[str, list[int | Literal["all"]]] = {}
    for text in texts:
        name, equals, what = text.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--sweep {text!r} has no name; {_WRITE}")
        if name in ranges or name in fixed:
            raise UsageError(f"--sweep {name} is given twice; leave one")
        low, colon, high = what.partition(":")
        if colon:
            ranges[name] = _whole(text, low), _whole(text, high)
        else:
            fixed[name] = [_setting(text, name, one) for one in what.split(",")]
            if len(set(fixed[name])) < len(fixed[name]):
                raise UsageError(f"--sweep {text!r} has a value twice; leave one")
    if len(ranges) != 1:
        what = f"--sweep needs one range, and {len(ranges)} are given"
        raise UsageError(f"{what}; {_WRITE}, and a list for all else: k=8,64")
    [(name, (first, last))] = ranges.items()
    if first >= last:
        raise UsageError(f"--sweep {name}: {first} is not below {last}; {_WRITE}")
    return Dimensions(name, first, last, fixed)


def _setting(text: str, name: str, part: str) -> int | Literal["all"]:
    return "all" if (name, part) == (THREADS, "all") else _whole(text, part)


def _whole(text: str, part: str) -> int:
    try:
        value = float(part)
    except ValueError:
        value = 0.0
    if not 1 <= value <= _LARGEST or value != int(value):
        what = f"--sweep {text!r}: {part!r} is no whole number from 1 to 2^31"
        raise UsageError(f"{what}; {_WRITE}")
    return int(value)


def inputs_at(inputs: Sequence[str], values: Mapping[str, int]) -> list[str]:
    """Return the inputs with numbers in the place of names, in shapes and as values.

    A length may be computed, such as ``2*n`` or ``n//4+1``.

    Raises:
        UsageError: a name is in none, or a length is not one.
    """
    for name in values:
        if not any(_names(what, name) for what in (one.partition("=")[2] for one in inputs)):
            raise UsageError(f"--sweep {name}: no --input has {name}; {_WRITE}")
    return [_at(one, values) for one in inputs]


def _names(what: str, name: str) -> bool:
    """Say whether a name stands in a shape, or in a value that is no text."""
    return not _is_text(what) and re.search(rf"\b{name}\b", what) is not None


def _is_text(what: str) -> bool:
    return what[:1] in {"'", '"'}


def _at(text: str, values: Mapping[str, int]) -> str:
    label, equals, what = text.partition("=")
    if not any(_names(what, name) for name in values):
        return text
    if "[" not in what:
        return f"{label}{equals}{_length(text, what, values)}"
    shapes = re.sub(
        r"\[([^\]]*)\]", lambda shape: f"[{','.join(_lengths(text, shape[1], values))}]", what
    )
    return f"{label}{equals}{shapes}"


def _lengths(text: str, inside: str, values: Mapping[str, int]) -> Iterator[str]:
    for part in inside.split(","):
        yield str(_length(text, part, values)) if part.strip() else ""


def _length(text: str, part: str, values: Mapping[str, int]) -> int:
    told = part.strip()
    try:
        value = _value(ast.parse(told, mode="eval").body, values)
    except (SyntaxError, ValueError, ZeroDivisionError, MemoryError, RecursionError):
        allowed = "whole numbers, names of --sweep, and + - * //"
        raise UsageError(
            f"--input {text!r}: {told:.40} is no length; it may have {allowed}"
        ) from None
    if value < 0:
        at = ", ".join(f"{name}={number}" for name, number in values.items())
        raise UsageError(f"--input {text!r}: {told} is {value} at {at}")
    return value


def _value(node: ast.expr, values: Mapping[str, int]) -> int:
    """Compute a length.

    Raises:
        ValueError: it has something else than whole numbers, the names, and + - * //.
    """
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=known) if known in values:
            return values[known]
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATIONS):
            first, second = _value(left, values), _value(right, values)
            match op:
                case ast.Add():
                    return first + second
                case ast.Sub():
                    return first - second
                case ast.Mult():
                    return first * second
            return first // second
    raise ValueError


class Ended(NamedTuple):
    """How a sweep ended."""

    report: SweepReport
    interrupted: bool


@dataclass(frozen=True)
class SizeSweep:
    """A sweep of sizes in a request's inputs."""

    request: Request
    """With the names of what is swept in its inputs."""
    dimensions: Dimensions
    budget_s: float | None = None
    goal: float = GOAL

    def run(self, out_dir: Path, listener: Listener | None = None) -> Ended:
        """Measure sizes until no border is wider than asked for, or the time is over.

        What lies there of the same sweep is taken up.

        Raises:
            UsageError: a candidate, an input or a commit is not what it should be.
            RunDirectoryError: the directory holds something else.
            RefusedError: none of the first sizes could be measured.
            StorageError: a file could not be written.
        """
        began_s = time.perf_counter()
        self._refuse_wrong()
        asked = self.written()
        prepare(out_dir, asked)
        slices = self.dimensions.slices
        made: list[Slice] = []
        for place, fixed in enumerate(slices):
            left_s = None
            if self.budget_s is not None:
                left_s = (self.budget_s - (time.perf_counter() - began_s)) / (len(slices) - place)
            sizes = Sizes(
                self.dimensions,
                _folder(out_dir, fixed),
                partial(self._bench, fixed, listener),
                fixed=fixed,
                goal=self.goal,
                listener=listener or Listener(),
                may_all_fail=any(point.answer for one in made for point in one.points),
            )
            interrupted = sizes.measure(left_s)
            made.append(sizes.told())
            if interrupted:
                return Ended(report_of(asked, out_dir, made), interrupted=True)
        return Ended(report_of(asked, out_dir, made), interrupted=False)

    def _bench(
        self,
        fixed: Fixed,
        listener: Listener | None,
        size: int,
        folder: Path,
        left_s: float | None,
    ) -> Outcome:
        return bench.run(self.at(size, fixed, left_s), folder, listener=listener)

    def at(self, size: int, fixed: Fixed, left_s: float | None = None) -> Request:
        """Return the bench of one size, which has so many seconds.

        Raises:
            UsageError: no input has what is swept, or a length is none.
        """
        options = of_one_size(self.request.options, left_s)
        values = {**fixed, self.dimensions.name: size}
        if (threads := values.pop(THREADS, None)) is not None:
            options = replace(options, threads=None if threads == "all" else int(threads))
        inputs = inputs_at(self.request.inputs, {name: int(one) for name, one in values.items()})
        return replace(self.request, inputs=inputs, options=options)

    def written(self) -> SweepRequest:
        """Return what was asked for."""
        name, low, high, fixed = self.dimensions
        asked = _as_written(self.request.asked())
        options = {**of_one_size(self.request.options, None).asked(), "option_origins": None}
        files = {
            one.path.name: hashlib.sha256(one.path.read_bytes()).hexdigest()
            for one in self.request.parsed()
            if one.path is not None
        }
        here = fingerprint(environment.collect())
        return SweepRequest(
            name=name,
            low=low,
            high=high,
            fixed={key: list(values) for key, values in fixed.items()},
            goal=self.goal,
            asked={} if self.request.options.leave_out_private else asked,
            identity=identity(asked, options, files, here),
        )

    def _refuse_wrong(self) -> None:
        """Refuse a size of the grid whose inputs are none, before anything is measured.

        Raises:
            UsageError: there is one.
        """
        for fixed in self.dimensions.slices:
            for size in sweeps.grid(self.dimensions.low, self.dimensions.high):
                parse_inputs(self.at(size, fixed).inputs)


def identity(*facts: object) -> str:
    """Return the hash of all that the figures of a sweep depend on, and of coldwarm."""
    text = json.dumps([*facts, harness_sha256()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def prepare(out_dir: Path, asked: SweepRequest) -> None:
    """Write what a sweep was asked for, or see that the same was.

    Raises:
        RunDirectoryError: the directory holds something else.
        StorageError: it cannot be written.
    """
    path, asked = out_dir / FILE, codec.without_secrets(asked)
    if path.is_file():
        if codec.load_as(SweepRequest, path) != asked:
            text = (
                f"{out_dir} holds another sweep, or its functions, options or machine have changed"
            )
            raise RunDirectoryError(f"{text}; name another --out")
        return
    refuse_content(out_dir)
    unfinished = path.with_name(f".{FILE}.unfinished")
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(codec.encode(asked))
        unfinished.replace(path)
    except OSError as error:
        raise storage_error(path, error) from error


@dataclass
class Sizes:
    """The sizes of a sweep, while all else stays as it is."""

    dimensions: Dimensions
    folder: Path
    bench: Callable[[int, Path, float | None], Outcome]
    """Measures one size into a folder, within so many seconds."""
    fixed: Fixed = field(default_factory=dict)
    goal: float = GOAL
    listener: Listener = field(default_factory=Listener)
    may_all_fail: bool = False
    """Whether it is no error that none of the sizes of the grid can be measured."""
    points: dict[int, SizePoint] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take up what lies in the folder."""
        self.points = _read_points(self.folder, self.dimensions.name)

    def measure(self, left_s: float | None) -> bool:
        """Measure until nothing is open or the time is over; say whether it was interrupted.

        Raises:
            RefusedError: none of the sizes of the grid can be measured; the last one's reason.
        """
        ends_s = math.inf if left_s is None else time.perf_counter() + left_s
        dearest_s = max((one.wall_s for one in self.points.values()), default=0.0)
        while (size := self._next()) is not None:
            begun_s = time.perf_counter()
            if begun_s + dearest_s >= ends_s:
                return False
            if self._bench(size, None if left_s is None else ends_s - begun_s):
                return True
            dearest_s = max(dearest_s, time.perf_counter() - begun_s)
        return False

    def told(self) -> Slice:
        """Return what is known of the slice."""
        points = list(self.points.values())
        return _slice(self.folder, self.fixed, points, complete=self._next() is None)

    def _bench(self, size: int, left_s: float | None) -> bool:
        """Measure a size; say whether it was interrupted. What was cut short does not count."""
        begun_s = time.perf_counter()
        name = self.dimensions.name
        place = _free(self.folder / f"{name}={size}")
        shown = {**self.fixed, name: size}
        named = [f"{key} = {value}" for key, value in shown.items()]
        self.listener.note(because("sweep_size", setting_names=named))
        try:
            outcome = self.bench(size, place, left_s)
        except KeyboardInterrupt:
            return True
        except RefusedError as error:
            self.points[size] = _nothing(size, error.reason)
            self._refuse_all(error)
            self.listener.note(because("size_refused", error.reason, n_size=size))
            return False
        is_over = left_s is not None and time.perf_counter() - begun_s >= left_s
        if not outcome.interrupted and (_is_whole(outcome.cases) or not is_over):
            self.points[size] = _point(size, place, outcome.suite, outcome.cases)
        return outcome.interrupted

    def _refuse_all(self, error: RefusedError) -> None:
        """Give up where every size of the grid is refused."""
        tried = self.points.keys() >= {*sweeps.grid(self.dimensions.low, self.dimensions.high)}
        if tried and not self.may_all_fail and not any(one.answer for one in self.points.values()):
            raise error

    def _next(self) -> int | None:
        """Return the size to measure next; one that was refused counts as measured."""
        known = list(self.points.values())
        return sweeps.next_size(known, self.dimensions.low, self.dimensions.high, self.goal)


def _folder(out_dir: Path, fixed: Fixed) -> Path:
    named = ",".join(f"{name}={value}" for name, value in fixed.items())
    return out_dir / named if named else out_dir


def _as_written(asked: dict[str, Any]) -> dict[str, Any]:
    """Return it as it is once it was written and read: with lists in the place of tuples."""
    return {name: list(one) if isinstance(one, tuple) else one for name, one in asked.items()}


def _free(place: Path) -> Path:
    """Return a folder that does not exist: an earlier one was left unfinished."""
    number, found = 1, place
    while found.exists():
        number += 1
        found = place.with_name(f"{place.name}-{number}")
    return found


def _nothing(size: int, reason: Reason) -> SizePoint:
    return SizePoint(size=size, path="", answer=None, wall_s=0.0, null_reasons={"answer": reason})


def _point(size: int, path: Path, suite: SuiteResult, cases: Sequence[CaseResult]) -> SizePoint:
    """Return what a bench says of its size."""
    known = [case for case in cases if case.control_of is None]
    start: dict[Any, dict[str, Any]] = {}
    for case in known:
        for mode in case.cold:
            if (seconds := mode.seconds.get("ttfr_process")) is not None:
                start.setdefault(mode.cache_mode, {})[case.candidate] = seconds
    return SizePoint(
        size=size,
        path=path.name,
        answer=answers.answer(known),
        call={case.candidate: case.warm.call_s for case in known if case.warm and case.warm.call_s},
        start=start,
        n_failed=suite.n_failed,
        wall_s=suite.wall_s,
    )


def is_sweep(folder: Path) -> bool:
    """Say whether a folder holds a sweep."""
    return (folder / FILE).is_file()


def read(folder: Path) -> SweepReport:
    """Return the report of a sweep, computed again from the samples of its benches.

    Raises:
        UsageError: there is no sweep.
        ContractError: a file does not keep its contract, or says what its observations do not.
    """
    if not is_sweep(folder):
        raise UsageError(f"{folder} holds no sweep; name the --out of a bench with --sweep")
    asked = codec.load_as(SweepRequest, folder / FILE)
    swept = Dimensions(asked.name, asked.low, asked.high, asked.fixed)
    made = []
    for fixed in swept.slices:
        place = _folder(folder, fixed)
        points = [*_read_points(place, asked.name).values()]
        complete = sweeps.next_size(points, asked.low, asked.high, asked.goal) is None
        made.append(_slice(place, fixed, points, complete=complete))
    return report_of(asked, folder, made)


def _read_points(folder: Path, name: str) -> dict[int, SizePoint]:
    """Return what was measured to its end, by size; of two of a size the later one."""
    named = re.compile(rf"{re.escape(name)}=([1-9]\d*)(?:-\d+)?")
    found = {}
    for place in sorted(folder.glob(f"{name}=*")):
        told = named.fullmatch(place.name)
        if told and (place / INDEX).is_file():
            run = recompute.read_run(place)
            if run.suite.complete and _is_whole(run.cases):
                found[int(told[1])] = _point(int(told[1]), place, run.suite, run.cases)
    return found


def _is_whole(cases: Sequence[CaseResult]) -> bool:
    """Say whether every candidate that did not fail has its first rounds: time was not short."""
    least = min(fewest for fewest, _ in _ROUNDS.values())
    seen = [
        one
        for case in cases
        if case.status != "failed"
        for mode in case.protocol.cache_modes
        for one in [len(counted(case.observations, mode))]
    ]
    return bool(seen) and min(seen) >= least


def _slice(folder: Path, fixed: Fixed, points: Sequence[SizePoint], *, complete: bool) -> Slice:
    ordered = sorted(points, key=lambda one: one.size)
    known = [one.answer for one in ordered if one.answer is not None]
    names = list(dict.fromkeys(name for one in known for name in one.candidates))
    warm = any(one.call for one in ordered)
    return Slice(
        path=str(folder),
        fixed=dict(fixed),
        complete=complete,
        wall_s=sum(one.wall_s for one in ordered),
        reference=next((one.baseline for one in known if one.baseline), None),
        candidates=names,
        points=ordered,
        by_size=[sweeps.by_size(ordered, measure) for measure in sweeps.measures(ordered)],
        growth=[sweeps.growth(ordered, name) for name in names] if warm else [],
    )


def report_of(asked: SweepRequest, folder: Path, slices: Sequence[Slice]) -> SweepReport:
    """Return the report of slices that were measured."""
    return SweepReport(
        path=str(folder), name=asked.name, low=asked.low, high=asked.high, slices=list(slices)
    )
