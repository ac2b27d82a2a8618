"""Record of one process: the lines of its journal, put together by call and by line.

A journal may have been cut off, changed or copied by hand: what is no JSON is left out, as a
program may have been ended in the middle of a line; what the doctor does not write is refused.
Times that overlap are not counted twice.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import msgspec

from coldwarm.contracts.doctor import Finding
from coldwarm.contracts.reasons import because
from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.doctor import Cause, CauseKind
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.source_code import Extent, SourceFiles

    Span = tuple[float, float]
    """From when to when."""
    Loop = tuple[str, Extent]
    """A file, and the first and the last line."""

_FIELDS = 4
"""Numbers of each place in the file of counts."""
_WORTH_SHARE, _WORTH_S = 0.05, 0.3
"""Least share of the run, and seconds."""
STAGES = ("trace", "lower", "compile", "cache_read")
_Slot = Annotated[int, msgspec.Meta(ge=0)]


class SourceLine(NamedTuple):
    """A line of a file, and the function that it is in; empty: it begins there, called by none."""

    path: str
    line: int
    function: str


class _Row(msgspec.Struct, kw_only=True, tag_field="kind"):
    """A line of a journal."""

    at_s: float
    """On the clock that the processes share."""


class _ProcessRow(_Row, tag="process"):
    """Statement of a process about itself."""

    argv: list[str] = []
    pid: int | None = None
    thread: int | None = None
    started_at: str = ""
    python: str = ""
    sees_calls: bool = False
    """Whether calls, clocks and reads could be watched."""
    is_tracker: bool = False
    """Whether it is what ``multiprocessing`` starts beside those of the program."""


class Nothing(_Row, tag="nothing"):
    """The one row of a program that has left no journal."""

    argv: list[str]


class BlockBegin(_Row, tag="block"):
    """The begin of a block of code that is followed by itself."""

    loaded: list[str]
    devices: bool
    jit: bool


class Framework(_Row, tag="framework"):
    """A framework that was loaded."""

    name: str
    versions: dict[str, str]


class Import(_Row, tag="import"):
    """An import of an installed package that the user's code asks for."""

    name: str
    begin_s: float
    seconds: float
    thread: int | None = None

    @property
    def span(self) -> Span:
        """From when to when it lasted."""
        return self.begin_s, self.begin_s + self.seconds


class Devices(_Row, tag="devices"):
    """The start of JAX's devices, which has just ended."""

    seconds: float
    thread: int | None = None

    @property
    def span(self) -> Span:
        """From when to when it lasted."""
        begin_s = self.at_s - self.seconds
        return begin_s, begin_s + self.seconds


class CompiledFunction(msgspec.Struct, kw_only=True, frozen=True):
    """A function that was given to a framework, as it is written."""

    name: str = "?"
    path: str | None = None
    line: int | None = None
    operation: bool = False
    """Whether it is a single operation outside of ``jit``."""
    whose: str = ""
    """``user``, ``package`` or ``framework``; empty where it has no code that is known."""


class CallDifference(msgspec.Struct, kw_only=True, frozen=True):
    """Difference between two calls, or between two function objects of the same code."""

    argument: str
    before: str
    now: str
    kind: str = ""
    fixed: str = ""
    """Not empty: a package has made it static, not the user."""


class _CallCause(msgspec.Struct, kw_only=True, frozen=True):
    """Why something was compiled for a call."""

    kind: str
    """``first``, ``again``, ``new_function``, ``operation`` or ``apart``."""
    differences: list[CallDifference] | None = None
    held: list[CallDifference] | None = None
    """Numbers and texts from around a function that were others in its earlier object."""
    taken: list[str] | None = None
    """Arrays, or what arrays are in, from around it: not the same objects."""
    n_objects: int | None = None
    n_kept: int | None = None
    """Function objects of the same code so far, and those that are still there."""


class _Signature(msgspec.Struct, kw_only=True, frozen=True):
    arguments: dict[str, str] = {}
    static: dict[str, str] = {}
    from_host: dict[str, int] = {}


class _Memory(msgspec.Struct, kw_only=True, frozen=True):
    """Bytes that a program takes when it runs."""

    temporary: int
    arguments: int


class LoweredProgram(msgspec.Struct, kw_only=True, frozen=True):
    """Parts of a program that JAX has lowered."""

    equations: int = 0
    lines: list[tuple[list[SourceLine], int, int]] = []
    """Lines that have most of them, each with those that called it: how many, and in how many
    turns."""
    constants_bytes: int = 0
    constants_line: SourceLine | None = None
    reusable_bytes: int = 0
    """Size of outputs that could take the place of an input."""
    asking: list[SourceLine] = []
    """Lines that ask by ``lax.cond`` below ``vmap``, where all branches are computed."""
    heavy: list[tuple[str, list[SourceLine]]] = []
    """Operations that take long, and where they are from, if there are such lines."""
    kept_steps: list[tuple[SourceLine, int, int]] = []
    """Lines that keep every step of a scan and use one alone: the steps, and the bytes."""
    sorted_turns: list[tuple[SourceLine, int, int]] = []
    """Lines that sort in each turn of a scan: the turns, and the numbers."""
    picked: list[tuple[SourceLine, int, int]] = []
    """Lines that multiply with rows of zeros and one 1: the rows, and the columns."""
    apart: list[tuple[SourceLine, int, int]] = []
    """Loops no turn of which needs another: their turns, and how often loops around repeat them."""


class Stage(_Row, tag="stage"):
    """A stage of a call, from its begin to its end."""

    call: int
    stage: str
    begin_s: float
    seconds: float
    own_s: dict[str, float]
    """Exclusive seconds by part."""
    hit: bool | None
    """Whether the program was read from a cache on disk."""
    program: LoweredProgram | None
    memory: _Memory | None = None
    fingerprint: str | None = None
    """Hash that tells the program from others; ``None``: nobody asked for it."""

    @property
    def span(self) -> Span:
        """From when to when it lasted."""
        return self.begin_s, self.begin_s + self.seconds


_FIRST: tuple[CauseKind, ...] = ("static", "tree", "shape")
"""Causes that count before others of the same call: a call with other shapes is another input,
whatever its dtypes are."""


class CompiledCall(_Row, tag="call", dict=True):
    """A call for which something was traced, lowered, compiled or read from a cache."""

    number: int = msgspec.field(name="call")
    framework: str
    stack: list[SourceLine]
    function: CompiledFunction
    cause: _CallCause
    thread: int
    slot: _Slot | None = None
    """Where calls from its line are counted."""
    told: str = ""
    """For JAX: its own name for what is compiled, which its cache has, too."""
    keeps: bool | None = None
    """For Numba: whether it is to be kept on disk."""
    captured: list[str] | None = None
    """Names of large arrays that the function takes from around it."""
    around: bool | None = None
    """For Numba: whether it takes another compiled function from around it."""
    lists: dict[str, int] | None = None
    """For Numba: elements of the arguments that are lists or sets of Python's, by name, in the call
    for which it was compiled."""
    tuples: dict[str, int] | None = None
    """For Numba: elements of the long tuples that the function takes from around it, by name."""
    declared: bool | None = None
    """For Numba: whether its signature was declared, and no call has asked for it."""
    given: dict[str, list[int]] | None = None
    """For Numba: sizes of arrays, and values of integers, in the call for which it was compiled."""
    missed: str | None = None
    """For Numba: why it was not in the cache on disk; ``None``: it was, or is not kept there."""
    hash_s: dict[str, float] | None = None
    """For JAX: seconds of hashing static arguments, where these are long."""
    guard: str | None = None
    """For PyTorch: the check of the compiled code that failed; ``None``: it has told none."""
    signature: _Signature | None = None

    def __post_init__(self) -> None:
        """Begin without stages: each has a line of its own."""
        self.stages: list[Stage] = []
        self.own_s: dict[str, float] = defaultdict(float)
        self._compiled: Stage | None = None

    def add(self, stage: Stage) -> None:
        """Add a stage of it."""
        self.stages.append(stage)
        for name, seconds in stage.own_s.items():
            self.own_s[name] += seconds
        if stage.stage == "compile":
            self._compiled = stage

    @property
    def spans(self) -> list[Span]:
        """From when to when each stage of it lasted."""
        return [one.span for one in self.stages]

    @property
    def compiled(self) -> bool:
        """Whether it came to a program, compiled or read from a cache."""
        return self._compiled is not None

    @property
    def hit(self) -> bool:
        """Whether the program was read from a cache on disk."""
        return self._compiled is not None and bool(self._compiled.hit)

    @property
    def program(self) -> LoweredProgram | None:
        """Parts of the program; ``None``: not known."""
        return self._compiled.program if self._compiled is not None else None

    @property
    def memory(self) -> _Memory | None:
        """Bytes that the program takes when it runs; ``None``: not known."""
        return self._compiled.memory if self._compiled is not None else None

    @property
    def fingerprint(self) -> str | None:
        """Hash that tells the program from others; ``None``: nobody asked for it."""
        return self._compiled.fingerprint if self._compiled is not None else None

    @property
    def arguments(self) -> Mapping[str, str]:
        """The arguments that are not static, as they are written, by name."""
        return self.signature.arguments if self.signature is not None else {}

    @property
    def static(self) -> Mapping[str, str]:
        """The static arguments, as they are written, by name."""
        return self.signature.static if self.signature is not None else {}

    @property
    def hashing_s(self) -> Mapping[str, float]:
        """Seconds of hashing static arguments, by name, where these are long."""
        return self.hash_s or {}

    @property
    def from_host(self) -> Mapping[str, int]:
        """Bytes of the arguments that were arrays of the host, by name."""
        return self.signature.from_host if self.signature is not None else {}

    @property
    def site(self) -> SourceLine | None:
        """The innermost line of the user's; ``None``: there is none.

        A thread may be given a compiled function to call: then no line of the user's calls it,
        and it is the function's own, without a caller.
        """
        if self.stack:
            return self.stack[0]
        if self.function.whose != "user" or self.function.path is None:
            return None
        return SourceLine(self.function.path, self.function.line or 0, "")

    @property
    def definition(self) -> SourceLine | None:
        """Where the function begins; ``None``: it has no file."""
        if not self.function.path or not self.function.line:
            return None
        return SourceLine(self.function.path, self.function.line, self.name)

    @property
    def total_s(self) -> float:
        """Seconds of all its stages."""
        return sum(self.own_s.values())

    @property
    def name(self) -> str:
        """The name of what is compiled."""
        return self.function.name

    @property
    def short_name(self) -> str:
        """The last part of its name, as calls of it are counted."""
        return self.name.rpartition(".")[2]

    @property
    def is_operation(self) -> bool:
        """Whether it is a single operation outside of ``jit``."""
        return self.function.operation

    @property
    def is_frameworks(self) -> bool:
        """Whether the framework itself has written what is compiled."""
        return self.is_operation or self.function.whose == "framework"

    @property
    def differences(self) -> list[CallDifference]:
        """Differences from the earlier call that is most alike."""
        return self.cause.differences or []

    @property
    def again_for(self) -> CauseKind | None:
        """Why it was compiled again; ``None``: it was not compiled before."""
        kind = self.cause.kind
        if kind == "new_function":  # with other arguments it would be compiled in any case
            return None if self.differences else "new_function"
        if kind != "again":
            return None
        kinds: list[CauseKind] = [one.kind for one in self.differences]  # type: ignore[misc] # of these kinds
        if not kinds:
            return "guard" if self.guard else "unknown"
        return next((one for one in _FIRST if one in kinds), kinds[0])


class Spot(_Row, tag="spot"):
    """A place at which the first thread was seen."""

    number: int
    stack: list[SourceLine]
    below: str = ""
    """What its line had called that is written in Python, as ``jax.grad``; empty: nothing."""
    anomalies: bool = False
    """Whether PyTorch looked for NaN in gradients."""


class SpotTimes(_Row, tag="looks"):
    """Where the first thread was, one place after the other, and for how many seconds."""

    begin_s: float
    runs: list[tuple[int, float]]


class CountedLine(_Row, tag="place"):
    """A line of the user's that calls something of interest, and how often."""

    what: str
    """``jitted``, ``clock``, ``read``, ``transfer``, ``concatenation``, ``effect``,
    ``draw``, ``numba`` or ``object_mode``."""
    name: str
    """Name of what is called."""
    stack: list[SourceLine]
    slot: _Slot
    bound: list[int | str] | None = None
    """Arguments, by place or name, that a ``functools.partial`` gives to what is called."""
    counts: tuple[int, ...] = ()
    """How often, and further numbers that depend on ``what``: from the file of counts."""

    @property
    def site(self) -> SourceLine:
        """The innermost line."""
        return self.stack[0]

    @property
    def n(self) -> int:
        """How often."""
        return self.counts[0]


class ClockRead(_Row, tag="clock"):
    """A reading of a clock."""

    slot: _Slot
    thread: int
    pending: int = 0
    """Results that were still being computed."""
    number: int = 0
    """Of the readings at this place, from 0 on."""
    after: int | None = None
    """Where the compiled function is counted that was called last."""
    caller: list[SourceLine] | None = None
    """The lines that have called the function that reads it, the innermost first."""


class Ready(_Row, tag="ready"):
    """End of what was being computed when a clock was read: all results were ready by then."""

    slot: _Slot
    number: int
    late_s: float
    """After the reading, at most."""


class StaleValue(_Row, tag="stale"):
    """What a compiled function had read from around it, and was another when it was called."""

    function: CompiledFunction
    slot: _Slot
    """Where the first such call is counted."""
    name: str
    """Of the variable, or ``argument.attribute``."""
    before: str
    now: str


class KeyUse(_Row, tag="key"):
    """A second use of a key of random numbers."""

    name: str
    before: list[SourceLine]
    stack: list[SourceLine]
    made: list[SourceLine]
    n_made: int
    apart: int | None


class ProgramError(_Row, tag="error"):
    """The error that ended the program, or the block."""

    error: str
    stack: list[tuple[str, int | None, str]]
    inside: list[str]


class GraphBreak(_Row, tag="break"):
    """A line at which ``torch.compile`` ends a graph."""

    stack: list[SourceLine]
    text: str
    why: str = ""


class RecompileLimit(_Row, tag="limit"):
    """A function that PyTorch compiles no more."""

    function: CompiledFunction
    limit: int
    setting: str


class DoctorFailure(_Row, tag="failed"):
    """A fault of the doctor's own."""

    at: str
    error: str


class CachesCleared(_Row, tag="cleared"):
    """A call of ``jax.clear_caches``."""

    stack: list[SourceLine]


class NumbaWarning(_Row, tag="warned"):
    """A line of which Numba's compiler says that it will be slow."""

    what: str
    path: str
    line: int


class NumbaGiven(_Row, tag="given"):
    """A type of the first argument that a function of Numba's was called with."""

    function: CompiledFunction
    first: str


class Jacobian(_Row, tag="jacobian"):
    """A Jacobian that was taken, for how many numbers."""

    framework: str
    by: str
    """``jacfwd`` or ``jacrev``."""
    stack: list[SourceLine]
    n_inputs: int
    n_outputs: int

    @property
    def n_passes(self) -> int:
        """Passes that it takes: one for each output back, or for each input forward."""
        return self.n_outputs if self.by == "jacrev" else self.n_inputs

    @property
    def n_of_other(self) -> int:
        """Passes that the other way takes."""
        return self.n_inputs if self.by == "jacrev" else self.n_outputs


class EmbeddingGradient(_Row, tag="embedding"):
    """The dense gradient of an embedding of PyTorch's, as looks have found it."""

    stack: list[SourceLine]
    """The line that has made the embedding, and those that called it."""
    n_rows: int
    n_columns: int
    n_looks: int
    looked: int
    """Rows that were looked at, in all looks."""
    used: int
    """Those of them that were not zero."""


class HeldArray(NamedTuple):
    """An array that a line could use."""

    name: str
    """As the line's function calls it: ``x``, or ``self.x`` of its object."""
    package: str
    """``torch``, ``numpy`` or ``jaxlib``."""
    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


class HeldArrays(_Row, tag="held"):
    """The arrays that a line could use when it was looked at."""

    path: str
    line: int
    arrays: list[HeldArray]


class SavedProgram(_Row, tag="kept"):
    """A program as JAX gives it to its compiler; ``file`` is ``None`` where it was not kept."""

    name: str
    file: str | None
    why: str
    call: int | None = None
    platform: str = ""
    devices: list[int] = []
    shape: list[int] = []
    n_callbacks: int = 0


class JaxSettings(_Row, tag="settings"):
    """Settings that the name of a program in JAX's cache depends on."""

    settings: dict[str, Any] = {}
    variables: dict[str, str | None] = {}


class ProcessEnd(_Row, tag="end"):
    """The last words of a process."""

    doctor_s: float


class Enough(_Row, tag="enough"):
    """The moment from which operations outside of ``jit`` are counted no more: they are many."""


class DebugSettings(_Row, tag="debugging"):
    """Settings that slow a program down, and that were on when the process or the block ended."""

    on: list[str] = []
    threads: int = 0
    """Of PyTorch, for one operation."""
    processors: int = 0
    """Those that the process may use."""
    torch_gpu: bool = False
    """Whether PyTorch had started a GPU."""
    caches: dict[str, str] = {}
    """Folders of compilation caches that were set, by framework."""


class Untold(_Row, tag="untold"):
    """Note that the program has taken listeners away."""

    framework: str = ""


class Cut(_Row, tag="cut"):
    """The end of a journal that is full."""


_KINDS: dict[str, type[_Row]] = {
    str(kind.__struct_config__.tag): kind for kind in _Row.__subclasses__()
}
_Kind = TypeVar("_Kind", bound=_Row)


def _row_of(line: Mapping[str, Any]) -> _Row:
    """Return a line of a journal as a record; of another kind it has its moment alone.

    Raises:
        ValidationError: it lacks something, or has something of another type.
    """
    kind = line["kind"]
    if isinstance(kind, str) and kind not in _KINDS:
        return msgspec.convert({**line, "kind": _Row.__name__}, _Row)
    return msgspec.convert(line, _KINDS[kind] if isinstance(kind, str) else _Row)


def journal_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a journal; the last one may have been cut off.

    Raises:
        ContractError: a line lacks something, or has something of another type.
    """
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict) and "kind" in found:
                try:
                    _row_of(found)
                except msgspec.ValidationError as error:
                    text = f"this is no line of the doctor's journal: {error}"
                    raise ContractError(str(path), text, line=number) from None
                yield found


def union(spans: Iterable[Span]) -> list[Span]:
    """Return the time that at least one of the spans has, as spans in order that do not overlap."""
    found: list[Span] = []
    for begin_s, end_s in sorted(spans):
        if found and begin_s <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end_s)
        else:
            found.append((begin_s, end_s))
    return found


def outside(span: Span, others: Iterable[Span]) -> list[Span]:
    """Return the parts of a span that are in none of the others, in order."""
    parts = []
    begin_s, end_s = span
    for from_s, to_s in union(others):
        if to_s <= begin_s or from_s >= end_s:
            continue
        if from_s > begin_s:
            parts.append((begin_s, from_s))
        begin_s = max(begin_s, to_s)
    return [*parts, (begin_s, end_s)] if begin_s < end_s else parts


def length(spans: Iterable[Span]) -> float:
    """Return the seconds of spans that do not overlap."""
    return sum(end_s - begin_s for begin_s, end_s in spans)


def shared(spans: Sequence[Span]) -> Callable[[Span], float]:
    """Return what gives each span its share of the time: half of that in which two of them run."""
    changes = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    times = [at for at, _ in changes]
    active = list(accumulate(change for _, change in changes))
    parts = [(b - a) / n if n else 0.0 for (a, b), n in zip(pairwise(times), active, strict=False)]
    before = [0.0, *accumulate(parts)]

    def until(at_s: float) -> float:
        last = bisect_right(times, at_s) - 1
        if last < 0:
            return 0.0
        return before[last] + ((at_s - times[last]) / active[last] if active[last] else 0.0)

    return lambda span: until(span[1]) - until(span[0])


def _until(spans: Sequence[Span]) -> Callable[[float], float]:
    """Return what gives the seconds of spans, in order and apart, that are over at a moment."""
    begins = [begin for begin, _ in spans]
    before = [0.0, *accumulate(end - begin for begin, end in spans)]

    def until(at_s: float) -> float:
        last = bisect_right(begins, at_s) - 1
        if last < 0:
            return 0.0
        return before[last] + min(at_s, spans[last][1]) - spans[last][0]

    return until


def _is_inside(line: SourceLine, path: str, extent: Extent | None) -> bool:
    return extent is not None and line.path == path and extent[0] <= line.line <= extent[1]


@dataclass
class ProcessTrace:
    """Record of one process."""

    rows: Sequence[_Row]
    counts: Sequence[int]
    sources: SourceFiles
    calls: list[CompiledCall] = field(init=False)
    _below: dict[Any, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the rows together."""
        calls: dict[int, CompiledCall] = {}
        for row in self.rows:
            if isinstance(row, CompiledCall):
                calls[row.number] = row
            elif isinstance(row, Stage) and row.call in calls:
                calls[row.call].add(row)
            elif isinstance(row, CountedLine):
                numbers = tuple(self.counts[row.slot : row.slot + _FIELDS])
                row.counts = numbers + (0,) * (_FIELDS - len(numbers))
        self.calls = list(calls.values())

    @classmethod
    def of(
        cls, lines: Iterable[Mapping[str, Any]], counts: Sequence[int], sources: SourceFiles
    ) -> ProcessTrace:
        """Return what the lines of a journal tell; ``counts`` are the numbers beside it.

        Raises:
            ValidationError: a line is not what the doctor writes.
        """
        return cls([_row_of(one) for one in lines], counts, sources)

    @cached_property
    def _by_type(self) -> dict[type[_Row], list[_Row]]:
        found: dict[type[_Row], list[_Row]] = {}
        for row in self.rows:
            found.setdefault(type(row), []).append(row)
        return found

    def rows_of(self, kind: type[_Kind]) -> list[_Kind]:
        """Return the rows of one kind."""
        return self._by_type.get(kind, [])  # type: ignore[return-value] # of this type

    @cached_property
    def process(self) -> _ProcessRow:
        """Statement of the process about itself."""
        return next(iter(self.rows_of(_ProcessRow)), _ProcessRow(at_s=0.0))

    @property
    def first_framework(self) -> str:
        """Return the framework of findings that are of no framework's."""
        return next((row.name for row in self.rows_of(Framework)), "jax")

    @property
    def main_thread(self) -> int:
        """The thread that the process began with, as far as it is known."""
        if self.process.thread is not None:
            return self.process.thread
        return self.calls[0].thread if self.calls else 0

    def thread_of(self, row: Import | Devices) -> int:
        """Return the thread of a row; where it does not tell, that is the main one."""
        return self.main_thread if row.thread is None else row.thread

    @property
    def sees_calls(self) -> bool:
        """Whether calls, clocks and reads could be watched."""
        return self.process.sees_calls

    @cached_property
    def lasted_s(self) -> float:
        """From the first line of the journal to the last."""
        return self.rows[-1].at_s - self.rows[0].at_s if self.rows else 0.0

    @cached_property
    def share(self) -> Callable[[Span], float]:
        """Weight of a part of a thread's time, where other threads compile meanwhile."""
        by_thread: dict[int, list[Span]] = {}
        for one in self.calls:
            by_thread.setdefault(one.thread, []).extend(one.spans)
        return shared([span for spans in by_thread.values() for span in union(spans)])

    @cached_property
    def _by_kind(self) -> dict[str, list[CountedLine]]:
        found: dict[str, list[CountedLine]] = {}
        for one in self.rows_of(CountedLine):
            found.setdefault(one.what, []).append(one)
        return found

    @cached_property
    def _by_site(self) -> dict[tuple[str, SourceLine], list[CountedLine]]:
        found: dict[tuple[str, SourceLine], list[CountedLine]] = {}
        for one in self.rows_of(CountedLine):
            found.setdefault((one.what, one.site), []).append(one)
        return found

    @cached_property
    def _taken_until(self) -> Callable[[float], float]:
        """Seconds up to a moment in which the first thread did what has rows of its own."""
        first = self.main_thread
        taken = [span for one in self.calls if one.thread == first for span in one.spans]
        taken += [row.span for row in self.rows_of(Import) if self.thread_of(row) == first]
        taken += [row.span for row in self.rows_of(Devices) if self.thread_of(row) == first]
        return _until(union(taken))

    def ran_s(self, from_s: float) -> float:
        """Return the seconds from a moment to the end in which nothing was compiled or imported."""
        until, end_s = self._taken_until, self.rows[-1].at_s
        return end_s - from_s - (until(end_s) - until(from_s))

    @cached_property
    def spent(self) -> list[tuple[Spot, float]]:
        """Where the first thread was seen, and its seconds there that are of nothing else.

        What it compiled, imported, or waited for devices to start has rows of its own.
        """
        until = self._taken_until
        spots: dict[int, Spot] = {}
        seconds: dict[int, float] = defaultdict(float)
        for spot, (from_s, to_s) in self.looked():
            spots[spot.number] = spot
            seconds[spot.number] += max(0.0, to_s - from_s - (until(to_s) - until(from_s)))
        found = [(spots[number], own_s) for number, own_s in seconds.items()]
        return sorted(found, key=lambda one: -one[1])

    def looked(self) -> Iterator[tuple[Spot, Span]]:
        """Yield where the first thread was seen, and from when to when."""
        spots: dict[int, Spot] = {}
        for row in self.rows:
            if isinstance(row, Spot):
                spots[row.number] = row
            elif isinstance(row, SpotTimes):
                at_s = row.begin_s
                for number, lasted_s in row.runs:
                    if number in spots:
                        yield spots[number], (at_s, at_s + lasted_s)
                    at_s += lasted_s

    def spent_in(self, site: SourceLine) -> Iterator[tuple[Spot, float]]:
        """Yield the spots that the innermost loop around a line has led to, and their seconds."""
        loop = self.sources.loop(site.path, site.line)
        return self.spent_within(site.path, loop) if loop is not None else iter(())

    def spent_within(self, path: str, extent: Extent) -> Iterator[tuple[Spot, float]]:
        """Yield the spots that lines of a file have led to, and their seconds."""
        for spot, seconds in self.spent:
            if any(_is_inside(one, path, extent) for one in spot.stack):
                yield spot, seconds

    def spots_at(self, sites: Iterable[SourceLine]) -> Iterator[tuple[Spot, float]]:
        """Yield the spots at lines, or at other lines of the same statements, and their seconds.

        A call that is written in several lines is seen now at one of them, now at another.
        """
        places = {(one.path, one.line) for one in sites}
        wanted = {self.sources.statement(*one) for one in places} - {None}
        for spot, seconds in self.spent:
            at = spot.stack[0].path, spot.stack[0].line
            if at in places or self.sources.statement(*at) in wanted:
                yield spot, seconds

    def spent_at(self, sites: Iterable[SourceLine]) -> float:
        """Return the seconds of these."""
        return sum(seconds for _, seconds in self.spots_at(sites))

    def is_worth(self, seconds: float) -> bool:
        """Say whether seconds that are known from looks alone are a share that matters."""
        return seconds >= max(_WORTH_S, _WORTH_SHARE * self.lasted_s)

    def held_at(self, path: str, line: int) -> dict[str, HeldArray]:
        """Return the arrays that a line could use, by name, as far as it was looked at."""
        return self._held.get((path, line), {})

    @cached_property
    def _held(self) -> dict[tuple[str, int], dict[str, HeldArray]]:
        return {
            (row.path, row.line): {one.name: one for one in row.arrays}
            for row in self.rows_of(HeldArrays)
        }

    def line_at(self, path: str, line: int) -> SourceLine:
        """Return a line with the function that it is in."""
        around = self.sources.functions_around(path, line)
        return SourceLine(path, line, around[0].name if around else "<module>")

    def places_of(self, what: str) -> list[CountedLine]:
        """Return the places of one kind."""
        return self._by_kind.get(what, [])

    def places_at(self, what: str, site: SourceLine) -> list[CountedLine]:
        """Return the places of one kind at a line."""
        return self._by_site.get((what, site), [])

    def in_loop(self, stack: Iterable[SourceLine]) -> bool:
        """Say whether one of these lines is inside of a loop of the program."""
        return any(self.sources.loop(line.path, line.line) for line in stack)

    def turned(self, stack: Iterable[SourceLine]) -> SourceLine | None:
        """Return the innermost of these lines that is inside of a loop."""
        return next((one for one in stack if self.sources.loop(one.path, one.line)), None)

    def loop_at(self, line: SourceLine | None) -> Loop | None:
        """Return the innermost loop that a line is inside of."""
        extent = self.sources.loop(line.path, line.line) if line is not None else None
        return (line.path, extent) if line is not None and extent is not None else None

    def stacks_of(self, call: CompiledCall) -> Iterator[list[SourceLine]]:
        """Yield the stacks from which the function of a call was called, that of the call first.

        After a warm-up, a loop compiles nothing. Functions of one name cannot be told apart where
        they are called: of these, there are none.
        """
        if call.stack:  # a thread may call it by itself
            yield call.stack
        name = call.short_name
        alike = [one for one in self.calls if one.short_name == name]
        if len({(one.function.path, one.function.line) for one in alike}) > 1:
            return
        compiled = {one.site for one in alike}
        for place in self.places_of("jitted"):
            if place.name == name and place.site not in compiled:
                yield place.stack

    def n_below(self, site: SourceLine, *kinds: str) -> int:
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

    def lines_within(self, one: CountedLine, site: SourceLine) -> set[int]:
        """Return the lines of the innermost loop around a line through which a place is reached."""
        loop = self.sources.loop(site.path, site.line)
        return {at.line for at in one.stack if _is_inside(at, site.path, loop)}

    def n_calls(self, site: SourceLine, name: str) -> int:
        """Return how often a compiled function was called from a line, by its short name."""
        places = (*self.places_at("jitted", site), *self.places_at("numba", site))
        return sum(one.n for one in places if one.name == name)

    def _freed_s(self, calls: Sequence[CompiledCall]) -> float:
        """Return about how much shorter the process were without these calls.

        That is their time; of a second in which two threads compile, each has half: the other one
        would hardly be done sooner by more, as they share processors.
        """
        return min(_spent_s(calls), sum(map(self._share_s, calls)))

    def _share_s(self, call: CompiledCall) -> float:
        lasted_s = length(call.spans)
        shared_s = sum(map(self.share, call.spans))
        return call.total_s * shared_s / lasted_s if lasted_s else call.total_s

    def finding(  # noqa: PLR0913 - as many as a finding has
        self,
        pattern: str,
        site: SourceLine,
        says: Reason,
        *,
        framework: str = "jax",
        again: Sequence[CompiledCall] = (),
        saved: Sequence[CompiledCall] = (),
        n: int = 1,
        cost_s: float | None = None,
        saving_s: float | None = None,
        saving_from: Reason | None = None,
        no_figure: Reason | None = None,
        no_cost: Reason | None = None,
        no_saving: Reason | None = None,
        after: Reason | None = None,
        cause: Cause | None = None,
    ) -> Finding:
        """Return something to change at a line.

        ``again`` are calls that it made compile again, in whose time its cost lies; ``saved`` those
        of them that a change would save, if not all. ``no_cost``, ``no_saving`` or ``no_figure``,
        of both, say why there is none.
        """
        reasons = {"cost_s": no_cost or no_figure, "saving_s": no_saving or no_figure}
        if again:
            n, cost_s = len(again), _spent_s(again)
            if no_saving is None:
                calls = saved or again
                saving_s, saving_from = self._freed_s(calls), _estimate(calls)
        return Finding(
            pattern=pattern,
            framework=framework,
            path=site.path,
            line=site.line,
            function=site.function,
            source=self.sources.line(site.path, site.line),
            n=n,
            cost_s=cost_s,
            saving_s=saving_s,
            saving_from=saving_from,
            says=says,
            after=after,
            cause=cause,
            null_reasons={name: one for name, one in reasons.items() if one is not None},
        )

    def finding_of_seconds(
        self, pattern: str, site: SourceLine, says: Reason, *, framework: str, n: int = 1
    ) -> Finding:
        """Return something to change that costs the seconds which its sentence says."""
        return self.finding(
            pattern,
            site,
            says,
            framework=framework,
            n=n,
            cost_s=float(str(says.values["spent_s"])),
            no_saving=because("doctor_depends"),
        )


def _spent_s(calls: Sequence[CompiledCall]) -> float:
    """Return the time in which at least one of the calls was compiled."""
    spans = [span for one in calls for span in one.spans]
    return min(sum(one.total_s for one in calls), length(union(spans)))


def _estimate(calls: Sequence[CompiledCall]) -> Reason:
    """Return how a saving is estimated that is the time of these calls."""
    n_read = sum(one.hit for one in calls)
    if n_read:
        return because("saving_read", n_times=len(calls), n_read=n_read)
    return because("saving_again", n_times=len(calls))
