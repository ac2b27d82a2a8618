"""What was seen of one process: the lines of its journal, put together by call and by place."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.stats.doctor.elapsed import shared, union

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from coldwarm.stats.doctor.code.lines import Extent
    from coldwarm.stats.doctor.code.sources import Sources
    from coldwarm.stats.doctor.elapsed import Span

    Loop = tuple[str, Extent]
    """A file, and the first and the last line."""

FIELDS = 4
"""Numbers of each place in the file of counts."""


class Line(NamedTuple):
    """A line of a file, and the function that it is in; empty: it begins there, called by none."""

    path: str
    line: int
    function: str


@dataclass
class Call:
    """A call for which something was traced, lowered, compiled or read from a cache."""

    number: int
    framework: str
    stack: list[Line]
    function: Mapping[str, Any]
    cause: Mapping[str, Any]
    arguments: Mapping[str, str]
    static: Mapping[str, str]
    thread: int
    at_s: float
    slot: int | None
    keeps: bool | None
    captured: list[str]
    """Names of large arrays that the function takes from around it."""
    around: bool
    """Of Numba: whether it takes another compiled function from around it."""
    missed: str | None
    """Of Numba: why it was not in the cache on disk; ``None``: it was, or is not kept there."""
    guard: str | None
    """Of PyTorch: the check of the compiled code that failed; ``None``: it has told none."""
    from_host: Mapping[str, int]
    """Bytes of the arguments that were arrays of the host, by name."""
    own_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Exclusive seconds by stage."""
    spans: list[tuple[float, float]] = field(default_factory=list)
    """From when to when a stage of it lasted."""
    compiled: bool = False
    hit: bool = False
    program: Mapping[str, Any] | None = None
    memory: Mapping[str, int] | None = None
    """Bytes that the program takes when it runs; ``None``: not known."""
    fingerprint: str | None = None
    """What tells the program from others; ``None``: nobody asked for it."""

    @property
    def site(self) -> Line | None:
        """The innermost line of the user's; ``None``: there is none.

        A thread may be given a compiled function to call: then no line of the user's calls it,
        and it is the function's own, without a caller.
        """
        if self.stack:
            return self.stack[0]
        if self.function.get("whose") != "user":
            return None
        return Line(str(self.function["path"]), int(self.function["line"]), "")

    @property
    def total_s(self) -> float:
        """Seconds of all its stages."""
        return sum(self.own_s.values())

    @property
    def name(self) -> str:
        """The name of what is compiled."""
        return str(self.function.get("name", "?"))

    @property
    def is_operation(self) -> bool:
        """Whether it is a single operation outside of ``jit``."""
        return bool(self.function.get("operation"))

    @property
    def is_frameworks(self) -> bool:
        """Whether the framework itself has written what is compiled."""
        return self.is_operation or self.function.get("whose") == "framework"

    @property
    def differences(self) -> list[Mapping[str, str]]:
        """What differs from the earlier call that is most alike."""
        return list(self.cause.get("differences") or ())


@dataclass(frozen=True)
class Place:
    """A line of the user's that calls something of interest, and how often."""

    what: str
    """``jitted``, ``clock``, ``read``, ``transfer``, ``concatenation``, ``effect`` or ``draw``."""
    name: str
    """Of what is called."""
    stack: list[Line]
    slot: int
    counts: tuple[int, ...]
    """How often, and further numbers that depend on ``what``."""
    bound: tuple[int | str, ...] = ()
    """Arguments, by place or name, that a ``functools.partial`` gives to what is called."""

    @property
    def site(self) -> Line:
        """The innermost line."""
        return self.stack[0]

    @property
    def n(self) -> int:
        """How often."""
        return self.counts[0]


@dataclass
class Seen:
    """One process."""

    rows: Sequence[Mapping[str, Any]]
    counts: Sequence[int]
    sources: Sources
    calls: list[Call] = field(init=False)
    _below: dict[Any, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the rows together."""
        calls: dict[int, Call] = {}
        for row in self.rows:
            if row["kind"] == "call":
                calls[row["call"]] = _call(row)
            elif row["kind"] == "stage" and row["call"] in calls:
                _add_stage(calls[row["call"]], row)
        self.calls = list(calls.values())

    def of_kind(self, kind: str) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of one kind."""
        return (row for row in self.rows if row["kind"] == kind)

    @cached_property
    def process(self) -> Mapping[str, Any]:
        """What the process says of itself."""
        return next(self.of_kind("process"), {})

    @property
    def sees_calls(self) -> bool:
        """Whether calls, clocks and reads could be watched."""
        return bool(self.process.get("sees_calls"))

    @cached_property
    def lasted_s(self) -> float:
        """From the first line of the journal to the last."""
        return float(self.rows[-1]["at_s"] - self.rows[0]["at_s"]) if self.rows else 0.0

    @cached_property
    def share(self) -> Callable[[Span], float]:
        """What gives a part of a thread's time its share, where other threads compile meanwhile."""
        by_thread: dict[int, list[Span]] = {}
        for one in self.calls:
            by_thread.setdefault(one.thread, []).extend(one.spans)
        return shared([span for spans in by_thread.values() for span in union(spans)])

    @cached_property
    def places(self) -> list[Place]:
        """The places whose calls were counted."""
        return [
            Place(
                row["what"],
                row["name"],
                _stack(row["stack"]),
                row["slot"],
                numbers,
                tuple(row.get("bound") or ()),
            )
            for row in self.of_kind("place")
            if (numbers := self._numbers(row["slot"]))
        ]

    @cached_property
    def _by_kind(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for one in self.places:
            found.setdefault(one.what, []).append(one)
        return found

    @cached_property
    def _by_site(self) -> dict[tuple[str, Line], list[Place]]:
        found: dict[tuple[str, Line], list[Place]] = {}
        for one in self.places:
            found.setdefault((one.what, one.site), []).append(one)
        return found

    def places_of(self, what: str) -> list[Place]:
        """Return the places of one kind."""
        return self._by_kind.get(what, [])

    def places_at(self, what: str, site: Line) -> list[Place]:
        """Return the places of one kind at a line."""
        return self._by_site.get((what, site), [])

    def _numbers(self, slot: int) -> tuple[int, ...]:
        numbers = tuple(self.counts[slot : slot + FIELDS])
        return numbers + (0,) * (FIELDS - len(numbers))

    def in_loop(self, stack: Iterable[Line]) -> bool:
        """Say whether one of these lines is inside of a loop of the program."""
        return any(self.sources.loop(line.path, line.line) for line in stack)

    def turned(self, stack: Iterable[Line]) -> Line | None:
        """Return the innermost of these lines that is inside of a loop."""
        return next((one for one in stack if self.sources.loop(one.path, one.line)), None)

    def loop_at(self, line: Line | None) -> Loop | None:
        """Return the innermost loop that a line is inside of."""
        extent = self.sources.loop(line.path, line.line) if line is not None else None
        return (line.path, extent) if line is not None and extent is not None else None

    def n_below(self, site: Line, *kinds: str) -> int:
        """Return how many calls of some kinds the innermost loop around a line has led to."""
        loop = self.sources.loop(site.path, site.line)
        if loop is None:
            return 0
        key = site.path, loop, kinds
        if key not in self._below:
            self._below[key] = sum(
                one.n
                for kind in kinds
                for one in self.places_of(kind)
                if self.lines_within(one, site)
            )
        return self._below[key]

    def lines_within(self, one: Place, site: Line) -> set[int]:
        """Return the lines of the innermost loop around a line through which a place is reached."""
        loop = self.sources.loop(site.path, site.line)
        if loop is None:
            return set()
        first, last = loop
        return {at.line for at in one.stack if at.path == site.path and first <= at.line <= last}


def _stack(rows: Iterable[Sequence[Any]]) -> list[Line]:
    return [Line(str(path), int(line), str(function)) for path, line, function in rows]


def _call(row: Mapping[str, Any]) -> Call:
    signature = row.get("signature") or {}
    return Call(
        number=row["call"],
        framework=row["framework"],
        stack=_stack(row["stack"]),
        function=row["function"],
        cause=row["cause"],
        arguments=signature.get("arguments", {}),
        static=signature.get("static", {}),
        thread=row["thread"],
        at_s=row["at_s"],
        slot=row.get("slot"),
        keeps=row.get("keeps"),
        captured=list(row.get("captured") or ()),
        around=bool(row.get("around")),
        missed=row.get("missed"),
        guard=row.get("guard"),
        from_host=signature.get("from_host", {}),
    )


def _add_stage(call: Call, row: Mapping[str, Any]) -> None:
    for name, seconds in row["own_s"].items():
        call.own_s[name] += seconds
    call.spans.append((row["begin_s"], row["begin_s"] + row["seconds"]))
    if row["stage"] == "compile":
        call.compiled = True
        call.hit = bool(row["hit"])
        call.program = row["program"]
        call.memory = row.get("memory")
        call.fingerprint = row.get("fingerprint")
