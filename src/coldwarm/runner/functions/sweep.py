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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coldwarm.contracts import codec
from coldwarm.contracts.environment import fingerprint
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.sweep import FILE, SizePoint, SweepReport, SweepRequest
from coldwarm.errors import RunDirectoryError, UsageError, storage_error
from coldwarm.runner import environment
from coldwarm.runner.directory import refuse_content
from coldwarm.runner.functions.targets import parse_inputs
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.ledger import Listener
from coldwarm.runner.sweep_results import (
    folder_of,
    is_whole,
    point_of,
    read_points,
    report_of,
    slice_of,
    slices_of,
)
from coldwarm.stats import sweeps
from coldwarm.stats.answers import FEWEST_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.sweep import Setting, Slice
    from coldwarm.runner.case_list import Options
    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome
    from coldwarm.runner.sweep_results import Fixed


GOAL = 0.1
_BLOCKS, _MOST_ROUNDS = 8, 6
"""Of each size: another one tells more of a border than a finer ratio does."""
THREADS = "threads"
_WRITE = "write n=1e2:1e6, and n in an --input: x=f64[n,20]"
_LARGEST = 2**31
_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


def of_one_size(options: Options, left_s: float | None) -> Options:
    """Return the options of the bench of one size: rounds until it is clear who is the cheapest."""
    threshold = options.decide or 0.0
    fewest = max(FEWEST_ROUNDS, options.min_runs)
    return replace(
        options,
        time_budget_s=left_s,
        min_runs=fewest,
        max_runs=max(fewest, _MOST_ROUNDS),
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
    fixed: Mapping[str, Sequence[Setting]] = {}

    @property
    def slices(self) -> list[dict[str, Setting]]:
        """Every setting of what is not the range."""
        return slices_of(self.fixed)


def parse(texts: Sequence[str]) -> Dimensions:
    """Return what is swept by ``n=1e2:1e6``, and by lists such as ``k=8,64`` and ``threads=1,all``.

    Raises:
        UsageError: there is not one range, or a text is neither.
    """
    ranges: dict[str, tuple[int, int]] = {}
    fixed: dict[str, list[Setting]] = {}
    for given in texts:
        name, equals, what = given.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--sweep {given!r} has no name; {_WRITE}")
        if name in ranges or name in fixed:
            raise UsageError(f"--sweep {name} is given twice; leave one")
        low, colon, high = what.partition(":")
        if colon:
            ranges[name] = _whole(given, low), _whole(given, high)
        else:
            fixed[name] = [_setting(given, name, one) for one in what.split(",")]
            if len(set(fixed[name])) < len(fixed[name]):
                raise UsageError(f"--sweep {given!r} has a value twice; leave one")
    if len(ranges) != 1:
        what = f"--sweep needs one range, and {len(ranges)} are given"
        raise UsageError(f"{what}; {_WRITE}, and a list for all else: k=8,64")
    [(name, (first, last))] = ranges.items()
    if first >= last:
        raise UsageError(f"--sweep {name}: {first} is not below {last}; {_WRITE}")
    return Dimensions(name, first, last, fixed)


def _setting(text: str, name: str, part: str) -> Setting:
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


def _at(given: str, values: Mapping[str, int]) -> str:
    label, equals, what = given.partition("=")
    if not any(_names(what, name) for name in values):
        return given
    if "[" not in what:
        return f"{label}{equals}{_length(given, what, values)}"
    shapes = re.sub(
        r"\[([^\]]*)\]", lambda shape: f"[{','.join(_lengths(given, shape[1], values))}]", what
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
    bench: Callable[[Request, Path, Listener], Outcome]
    """Measures the functions at one size, as ``functions.bench.run`` does."""
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
        began_s, listener = time.perf_counter(), listener or Listener()
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
                folder_of(out_dir, fixed),
                partial(self._bench, fixed, listener),
                fixed=fixed,
                goal=self.goal,
                listener=listener,
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
        listener: Listener,
        size: int,
        folder: Path,
        left_s: float | None,
    ) -> Outcome:
        return self.bench(self.at(size, fixed, left_s), folder, listener)

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
    spent_s: dict[int, float] = field(default_factory=dict)
    """By size."""

    def __post_init__(self) -> None:
        """Take up what lies in the folder."""
        self.points = read_points(self.folder, self.dimensions.name)
        known = {size: one for size, one in self.points.items() if one.answer is not None}
        self.spent_s = {size: point.wall_s for size, point in known.items()}

    def measure(self, left_s: float | None) -> bool:
        """Measure until nothing is open or the time is over; say whether it was interrupted.

        Raises:
            RefusedError: none of the sizes of the grid can be measured; the last one's reason.
        """
        ends_s = math.inf if left_s is None else time.perf_counter() + left_s
        while (size := self._next()) is not None:
            begun_s = time.perf_counter()
            if begun_s + self._expected_s(size) >= ends_s:
                return False
            if self._bench(size, None if left_s is None else ends_s - begun_s):
                return True
            if size in self.points and self.points[size].answer is not None:
                self.spent_s[size] = time.perf_counter() - begun_s
        return False

    def _expected_s(self, size: int) -> float:
        """Return what a size takes: between two sizes as if in proportion, else as the nearest."""
        known = sorted(self.spent_s)
        return float(np.interp(size, known, [self.spent_s[one] for one in known])) if known else 0.0

    def told(self) -> Slice:
        """Return what is known of the slice."""
        points = list(self.points.values())
        return slice_of(self.folder, self.fixed, points, complete=self._next() is None)

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
            nothing = {"answer": error.reason}
            self.points[size] = SizePoint(
                size=size, path="", answer=None, wall_s=0.0, null_reasons=nothing
            )
            self._refuse_all(error)
            self.listener.note(because("size_refused", error.reason, n_size=size))
            return False
        is_over = left_s is not None and time.perf_counter() - begun_s >= left_s
        if not outcome.interrupted and (is_whole(outcome.cases) or not is_over):
            self.points[size] = point_of(size, place, outcome.suite, outcome.cases)
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
