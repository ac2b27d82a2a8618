"""A sweep of sizes: benches of the same functions, one for each size, chosen by what is open."""

from __future__ import annotations

import ast
import math
import re
import time
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from coldwarm.contracts import codec
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.sweep import SizePoint, Slice, SweepReport, SweepRequest
from coldwarm.errors import RunDirectoryError, UsageError, storage_error
from coldwarm.runner import recompute
from coldwarm.runner.directory import refuse_content
from coldwarm.runner.functions import bench
from coldwarm.runner.ledger import Listener
from coldwarm.runner.results import INDEX
from coldwarm.stats import answers, sweeps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome

REQUEST = "sweep.json"
GOAL = 0.1
_OF_ONE_SIZE: dict[str, Any] = {
    "time_budget_s": None,
    "min_runs": 2,
    "max_runs": 6,
    "blocks": 8,
    "calls_together": False,
}
"""Another size tells more of a border than a finer ratio does, so each has few rounds, until who is
the cheapest is clear, or it will hardly be."""
THREADS = "threads"
_WRITE = "write n=1e2:1e6, and n in an --input: x=f64[n,20]; k=8,64 tries both"
_LARGEST = 2**31
_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


class Dimensions(NamedTuple):
    """What is swept: a range of sizes, and what else is tried, each value for itself."""

    name: str
    low: int
    high: int
    fixed: Mapping[str, Sequence[int | Literal["all"]]] = {}

    @property
    def slices(self) -> list[dict[str, int | Literal["all"]]]:
        """Every setting of what is not the range."""
        return [
            dict(zip(self.fixed, values, strict=True)) for values in product(*self.fixed.values())
        ]


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
    if len(ranges) != 1:
        what = "has no range" if not ranges else f"has {len(ranges)} ranges"
        raise UsageError(f"--sweep {what}, of one; {_WRITE}")
    [(name, (low_, high_))] = ranges.items()
    if low_ >= high_:
        raise UsageError(f"--sweep {name}: {low_} is not below {high_}; {_WRITE}")
    return Dimensions(name, low_, high_, fixed)


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


def inputs_at(inputs: Sequence[str], name: str, size: int) -> list[str]:
    """Return the inputs with a number in the place of a name, in shapes and as values.

    A length may be computed, such as ``2*n`` or ``n//4+1``.

    Raises:
        UsageError: none has the name, or a length is not one.
    """
    found = [_at(one, name, size) for one in inputs]
    if found == list(inputs):
        raise UsageError(f"--sweep {name}: no --input has {name}; {_WRITE}")
    return found


def _at(text: str, name: str, size: int) -> str:
    label, equals, what = text.partition("=")
    if not re.search(rf"\b{name}\b", what):
        return text
    if "[" not in what:
        return f"{label}{equals}{_length(text, what, name, size)}"
    shapes = re.sub(
        r"\[([^\]]*)\]",
        lambda shape: "[" + ",".join(_lengths(text, shape[1], name, size)) + "]",
        what,
    )
    return f"{label}{equals}{shapes}"


def _lengths(text: str, inside: str, name: str, size: int) -> Iterator[str]:
    for part in inside.split(","):
        yield str(_length(text, part, name, size)) if part.strip() else ""


def _length(text: str, part: str, name: str, size: int) -> int:
    try:
        value = _value(ast.parse(part.strip(), mode="eval").body, name, size)
    except (SyntaxError, ValueError, ZeroDivisionError):
        raise UsageError(f"--input {text!r}: {part.strip()!r} is no length; {_WRITE}") from None
    if value < 0:
        raise UsageError(f"--input {text!r}: {part.strip()} is {value} at {name}={size}")
    return value


def _value(node: ast.expr, name: str, size: int) -> int:
    """Compute a length.

    Raises:
        ValueError: it has something else than whole numbers, the name, and + - * //.
    """
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=known) if known == name:
            return size
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATIONS):
            first, second = _value(left, name, size), _value(right, name, size)
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
    n_failed: int
    """Candidates that failed, over all sizes."""


@dataclass(frozen=True)
class Sweep:
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
            RefusedError: no size could be measured.
            StorageError: a file could not be written.
        """
        began_s = time.perf_counter()
        self._prepare(out_dir)
        slices = self.dimensions.slices
        made: list[Slice] = []
        n_failed, interrupted = 0, False
        for place, fixed in enumerate(slices):
            left_s = None
            if self.budget_s is not None:
                left_s = (self.budget_s - (time.perf_counter() - began_s)) / (len(slices) - place)
            sizes = _Sizes(self, _folder(out_dir, fixed), fixed, listener or Listener())
            interrupted = not interrupted and sizes.measure(left_s)
            n_failed += sizes.n_failed
            made.append(sizes.told(complete=not interrupted))
            if interrupted:
                break
        return Ended(_report(self.written(), out_dir, made), interrupted, n_failed)

    def at(self, size: int, fixed: Mapping[str, int | Literal["all"]]) -> Request:
        """Return the bench of one size.

        Raises:
            UsageError: an input has not what is swept, or a length is none.
        """
        options = replace(self.request.options, **_OF_ONE_SIZE)
        inputs: Sequence[str] = self.request.inputs
        for name, value in {**fixed, self.dimensions.name: size}.items():
            if name == THREADS:
                options = replace(options, threads=None if value == "all" else int(value))
            else:
                inputs = inputs_at(inputs, name, int(value))
        return replace(self.request, inputs=inputs, options=options)

    def written(self) -> SweepRequest:
        """Return what was asked for."""
        name, low, high, fixed = self.dimensions
        return SweepRequest(
            name=name,
            low=low,
            high=high,
            fixed={key: list(values) for key, values in fixed.items()},
            goal=self.goal,
            asked=_as_written(self.request.asked()),
        )

    def _prepare(self, out_dir: Path) -> None:
        """Write what is asked for, or see that the same was.

        Raises:
            UsageError: an input has not the dimension.
            RunDirectoryError: the directory holds something else.
            StorageError: it cannot be written.
        """
        for fixed in self.dimensions.slices:
            self.at(self.dimensions.low, fixed)
        path = out_dir / REQUEST
        if path.is_file():
            if codec.load_as(SweepRequest, path) != codec.without_secrets(self.written()):
                text = f"{out_dir} holds another sweep; name another --out"
                raise RunDirectoryError(text)
            return
        refuse_content(out_dir)
        try:
            out_dir.mkdir(parents=True, exist_ok=True)
            path.write_bytes(codec.encode(codec.without_secrets(self.written())))
        except OSError as error:
            raise storage_error(path, error) from error


@dataclass
class _Sizes:
    """The sizes of one slice of a sweep."""

    sweep: Sweep
    folder: Path
    fixed: Mapping[str, int | Literal["all"]]
    listener: Listener
    points: dict[int, SizePoint] = field(default_factory=dict)
    n_failed: int = 0

    def __post_init__(self) -> None:
        """Take up what lies in the folder."""
        name = self.sweep.dimensions.name
        self.points = {one.size: one for one in _read_points(self.folder, name)}

    def measure(self, left_s: float | None) -> bool:
        """Measure until nothing is open or the time is over; say whether it was interrupted.

        Raises:
            As ``Sweep.run`` does.
        """
        ends_s = math.inf if left_s is None else time.perf_counter() + left_s
        dearest_s = 0.0
        while (size := self._next()) is not None:
            begun_s = time.perf_counter()
            if self.points and begun_s + dearest_s >= ends_s:
                break
            outcome = self._bench(size)
            dearest_s = max(dearest_s, time.perf_counter() - begun_s)
            if outcome is not None and outcome.interrupted:
                return True
        return False

    def told(self, *, complete: bool) -> Slice:
        """Return what is known of the slice."""
        complete = complete and self._next() is None
        known = [one for one in self.points.values() if one.answer is not None]
        return _slice(self.folder, self.fixed, known, complete=complete)

    def _bench(self, size: int) -> Outcome | None:
        name = self.sweep.dimensions.name
        place = _free(self.folder / f"{name}={size}")
        shown = {**self.fixed, name: size}
        self.listener.note(
            because("sweep_size", setting_names=[f"{k} = {v}" for k, v in shown.items()])
        )
        try:
            outcome = bench.run(self.sweep.at(size, self.fixed), place, listener=self.listener)
        except RefusedError as error:
            self.points[size] = SizePoint(
                size=size, path="", answer=None, wall_s=0.0, reason=error.reason
            )
            if all(one.answer is None for one in self.points.values()) and len(self.points) > 1:
                raise
            self.listener.note(because("size_refused", error.reason, n_size=size))
            return None
        self.points[size] = _point(size, place, outcome.suite, outcome.cases)
        self.n_failed += outcome.suite.n_failed
        return outcome

    def _next(self) -> int | None:
        """Return the size to measure next; one that was refused counts as measured."""
        asked = self.sweep.dimensions
        known = list(self.points.values())
        return sweeps.next_size(known, asked.low, asked.high, self.sweep.goal)


def _folder(out_dir: Path, fixed: Mapping[str, int | Literal["all"]]) -> Path:
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
        wall_s=suite.wall_s,
    )


def is_sweep(folder: Path) -> bool:
    """Say whether a folder holds a sweep."""
    return (folder / REQUEST).is_file()


def read(folder: Path) -> SweepReport:
    """Return the report of a sweep, computed again from the samples of its benches.

    Raises:
        UsageError: there is no sweep.
        ContractError: a file does not keep its contract, or says what its observations do not.
    """
    path = folder / REQUEST
    if not path.is_file():
        raise UsageError(f"{folder} holds no sweep; name the --out of a bench with --sweep")
    asked = codec.load_as(SweepRequest, path)
    swept = Dimensions(asked.name, asked.low, asked.high, asked.fixed)
    made = []
    for fixed in swept.slices:
        place = _folder(folder, fixed)
        points = [*_read_points(place, asked.name)]
        complete = sweeps.next_size(points, asked.low, asked.high, asked.goal) is None
        made.append(_slice(place, fixed, points, complete=complete))
    return _report(asked, folder, made)


def _read_points(folder: Path, name: str) -> Iterator[SizePoint]:
    named = re.compile(rf"{re.escape(name)}=(\d+)(?:-\d+)?")
    for place in sorted(folder.glob(f"{name}=*")):
        found = named.fullmatch(place.name)
        if found and (place / INDEX).is_file():
            run = recompute.read_run(place)
            yield _point(int(found[1]), place, run.suite, run.cases)


def _slice(
    folder: Path,
    fixed: Mapping[str, int | Literal["all"]],
    points: Sequence[SizePoint],
    *,
    complete: bool,
) -> Slice:
    ordered = sorted(points, key=lambda one: one.size)
    names = list(
        dict.fromkeys(name for one in ordered if one.answer for name in one.answer.candidates)
    )
    baselines = [one.answer.baseline for one in ordered if one.answer]
    warm = any(one.call for one in ordered)
    return Slice(
        path=str(folder),
        fixed=dict(fixed),
        complete=complete,
        wall_s=sum(one.wall_s for one in ordered),
        reference=baselines[0] if baselines else None,
        candidates=names,
        points=ordered,
        by_size=[sweeps.by_size(ordered, figure) for figure in sweeps.figures(ordered)],
        growth=[sweeps.growth(ordered, name) for name in names] if warm else [],
    )


def _report(asked: SweepRequest, folder: Path, slices: Sequence[Slice]) -> SweepReport:
    return SweepReport(
        path=str(folder), name=asked.name, low=asked.low, high=asked.high, slices=list(slices)
    )
