"""Observations, each of one process: phases, raw samples, evidence, telemetry."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from coldwarm.contracts.base import (
    Allocator,
    CacheMode,
    CacheSettings,
    Count,
    Name,
    Record,
    Seconds,
    Sha256,
)
from coldwarm.contracts.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PHASES = (
    "interpreter",
    "import",
    "device_init",
    "setup",
    "wrap",
    "first_call",
    "second_call",
)


_TO_RESULT = ("import", "build", "first_call")
"""The phases that make up the time to the first result. ``build``, between ``setup`` and ``wrap``,
is a user's factory making the function and its arguments; where there is none, it is absent."""


class PhaseCounts(Record, frozen=True, kw_only=True):
    """Counts that a process keeps of itself in a phase."""

    name: str
    peak_rss_bytes: Count | None = None
    """Highest resident memory of the process up to the end of this phase."""
    involuntary_switches: Count | None = None
    """Involuntary context switches of the main thread in this phase."""


class Phase(PhaseCounts, frozen=True, kw_only=True):
    """One phase of a process's life, on the axis that starts at the spawn."""

    start_s: Seconds
    duration_s: Seconds
    null_reasons: dict[str, Reason] = {}


def first_result_s(phases: Mapping[str, Phase]) -> tuple[float, float]:
    """Return what a first result took: by the published definition, and from the spawn on.

    Raises:
        KeyError: the process did not come so far.
    """
    first = phases["first_call"]
    needed = [phases[name].duration_s for name in _TO_RESULT if name in phases]
    return math.fsum(needed), first.start_s + first.duration_s


class CallParts(Record, frozen=True, kw_only=True):
    """Exclusive times inside a call, those of compiling and what replaces it.

    A part is ``None`` where the backend has no such step or gives no account of it.
    """

    trace_s: Seconds | None = None
    lower_s: Seconds | None = None
    compile_s: Seconds | None = None
    cache_read_s: Seconds | None = None


PARTS = CallParts.__struct_fields__


class FirstCallParts(CallParts, frozen=True, kw_only=True):
    """Exclusive times inside the first call; with ``rest_s`` they sum to the whole."""

    rest_s: Seconds
    null_reasons: dict[str, Reason] = {}


class LoopAccount(Record, frozen=True, kw_only=True):
    """The whole loop of a scenario in one process, from its first step to its last."""

    total_s: Seconds
    """From the spawn to the end of the loop: the total wall clock."""
    loop_s: Seconds
    """The phases ``first_call`` and ``remaining_calls`` together."""
    steps_s: list[Seconds]
    """Each step, synchronised on its own output; the first one is the first call."""
    compiling_steps: list[Count] | None
    """Positions of the steps in which something was compiled or read from a cache."""
    parts: FirstCallParts
    """Parts of the loop; with ``rest_s`` they sum to ``loop_s``."""
    compiling_share: float | None
    """Tracing, lowering, compiling and reading caches, as a share of ``total_s``."""
    null_reasons: dict[str, Reason] = {}


class BlockCounts(Record, frozen=True, kw_only=True):
    """Counts that a process keeps of itself in a block of warm calls."""

    batch: Annotated[int, msgspec.Meta(ge=1)]
    """Calls that one sample holds."""
    compiles: Count | None
    """Programs compiled inside the window; must be 0 for the samples to count."""
    involuntary_switches: Count | None = None
    page_faults: Count | None = None
    """Pages that the kernel had to hand out in this block without reading from storage."""
    idle_cpu_s: Seconds | None = None
    """Processor time this process used between its previous block and this one."""
    cpu_s: Seconds | None = None
    """Processor time this process used in this block, all threads together."""


class Block(BlockCounts, frozen=True, kw_only=True):
    """A run of consecutive warm calls in one process.

    ``samples_s`` are seconds for one call: each is the wall clock of ``batch`` calls
    divided by ``batch``. Every sample is kept, also those before the steady state.
    """

    order: Count
    """Position among all blocks and processes of the suite, in time."""
    start_s: Seconds
    """Since the spawn of this process."""
    samples_s: list[Seconds]
    wall_s: Seconds | None = None
    """Wall clock of this block, what lies between its samples included."""
    bound_to: Count | None = None
    """The processor that its main thread was bound to."""
    null_reasons: dict[str, Reason] = {}


class CacheCounts(Record, frozen=True, kw_only=True):
    """Counts that the owner of a cache keeps in a process."""

    requests: Count | None = None
    hits: Count | None = None
    misses: Count | None = None
    writes: Count | None = None
    bypasses: Count | None = None
    compiles: Count | None = None


COUNTS = CacheCounts.__struct_fields__


class CacheEvidence(CacheCounts, frozen=True, kw_only=True):
    """Counters and file listings of one cache of one process.

    ``files_before`` and ``files_after`` count the files in the private directories
    before the spawn and after the exit; ``new_files`` those that appeared meanwhile.
    """

    owner: Name
    files_before: Count | None = None
    files_after: Count | None = None
    bytes_before: Count | None = None
    bytes_after: Count | None = None
    new_files: dict[str, Count] = {}
    """New files by suffix."""
    raw: dict[str, float | int | str | None] = {}
    """The framework's own counters, under its own names."""
    kept_by_default: Literal["all", "some", "none"] | None = None
    """How much of what this process compiled the framework would have kept with its own settings
    and only a cache directory; ``None``: nothing was compiled, or it is not known."""
    null_reasons: dict[str, Reason] = {}


class Judgement(Record, frozen=True, kw_only=True):
    """Whether the evidence proves the cache mode, and why."""

    proved: bool
    reason: Reason


class GateFigures(Record, frozen=True, kw_only=True):
    """How far an output is from the reference."""

    passed: bool
    max_abs_error: float | None
    max_relative_error: float | None = None
    """Largest error of a number: over its own magnitude in the reference, or over how far the
    reference moves there for inputs moved by all of themselves, where that is more."""
    tolerance: float


class Gate(GateFigures, frozen=True, kw_only=True):
    """The correctness gate: the outputs against the reference."""

    checked: list[str]
    """Outputs that were compared, such as ``first_call`` and ``last_call``."""
    reason: Reason | None = None
    max_scaled_error: float | None = None
    """Error as results from before had it: the largest absolute error over the largest magnitude in
    the reference."""

    @property
    def error(self) -> float | None:
        """The figure that is held against the tolerance."""
        relative = self.max_relative_error
        return self.max_scaled_error if relative is None else relative


class HarnessFigures(Record, frozen=True, kw_only=True):
    """Measures of the harness's own cost, in seconds."""

    timer_s: Seconds | None = None
    loop_s: Seconds | None = None
    """A null workload in the same batched loop, for one call."""
    sync_s: Seconds | None = None
    """Synchronising on an output that is already there."""
    unsynced_call_s: Seconds | None = None
    """A warm call timed without synchronising, which would be a wrong figure: it is how
    long the call took to be handed over, shown to be held against the warm median."""


class HarnessCost(HarnessFigures, frozen=True, kw_only=True):
    """Cost of the harness itself in this process, in seconds."""

    load_s: Seconds
    """Reading the worker's own source files and its request, before the import."""
    null_reasons: dict[str, Reason] = {}


class ProcessTotals(Record, frozen=True, kw_only=True):
    """Totals of what a process has used."""

    involuntary_switches: Count | None = None
    cpu_user_s: Seconds | None = None
    cpu_system_s: Seconds | None = None
    child_cpu_s: Seconds | None = None
    """Processor time of finished child processes, such as a C++ compiler."""


class Telemetry(ProcessTotals, frozen=True, kw_only=True):
    """State of the machine while the process ran."""

    load_1m_before: float | None = None
    load_1m_after: float | None = None
    cpu_pressure_share: float | None = None
    """Share of wall clock in which some task waited for a processor (PSI ``some``)."""
    foreign_cpu: float | None = None
    """Processors' worth of time that other processes used during the start."""
    warm_foreign_cpu: float | None = None
    """The same during the warm blocks."""
    steal_share: float | None = None
    throttled_s: Seconds | None = None
    """Time for which CPU quotas held up this process's control groups during the start, added up
    over processors and over the groups that can be seen."""
    warm_throttled_s: Seconds | None = None
    """The same during the warm blocks."""
    thermal_throttles: Count | None = None
    flags: list[Reason] = []
    """Causes of noise in this observation; it is flagged and never dropped."""
    null_reasons: dict[str, Reason] = {}


class OtherCallSeconds(Record, frozen=True, kw_only=True):
    """Seconds of calls after the last block, in circumstances that the timed loop has not."""

    usual_s: Seconds
    """A call as in the loop: the median of a few."""
    other_arguments_s: Seconds | None = None
    """With other numbers of the same types and shapes: the quickest of a few."""
    paused_s: Seconds | None = None
    """After a pause: the quickest of a few."""
    collecting_s: Seconds | None = None
    """Average cost of a call in Python's collector, which is off in the loop."""


class OtherCalls(OtherCallSeconds, frozen=True, kw_only=True):
    """Calls of a user's own function as the timed loop does not make them; part of no figure."""

    varied: list[str] | None = None
    """The arguments that had other data in calls; ``None``: it was not recorded."""
    not_varied: dict[str, Reason] = {}
    """By argument, why it had none."""
    answer_changed: bool | None = None
    """Whether the answer to other data was another one; ``None``: no such answer was compared."""
    answers_checked: bool | None = None
    """Whether answers to other data were held against the reference's and passed; ``False``: they
    differ, and ``unlike`` says how."""
    unlike: Reason | None = None
    folded: list[str] = []
    """Programs of JAX that XLA has computed from their constants while it compiled them."""
    null_reasons: dict[str, Reason] = {}


class SharedCalls(Record, frozen=True, kw_only=True):
    """Warm calls of this process's candidate and of another, in turns; part of no figure.

    A process has one such entry for each time that it, or a fork, made inputs and functions of
    both.
    """

    other: Name
    """The case whose function was called in turns with this one's."""
    own_s: list[Seconds] = []
    """Seconds of a call, in the order of the turns."""
    other_s: list[Seconds] = []
    """Those of the other candidate in the same turns."""
    own_batch: Count = 1
    """Calls of a turn."""
    other_batch: Count = 1
    compiles: Count | None = None
    """Programs compiled during the turns."""
    started_from_template: bool = False
    """Whether a fork made them, of a template that had imported what this process has."""
    reason: Reason | None = None
    """Why there are no turns."""
    null_reasons: dict[str, Reason] = {}


class Counts(Record, frozen=True, kw_only=True):
    """Counts of what was compiled by the end of the second call, and of calls in new shapes."""

    numbers: dict[str, Count] = {}
    null_reasons: dict[str, Reason] = {}
    """By name, why there is no number."""


class Device(Record, frozen=True, kw_only=True):
    """The device the candidate ran on, as its framework names it."""

    platform: str
    kind: str
    count: Count
    memory_peak_bytes: Count | None = None
    null_reasons: dict[str, Reason] = {}


class Observation(Record, frozen=True, kw_only=True):
    """One process, as seen from outside and inside."""

    schema_version: Literal["coldwarm.observation.v2"] = "coldwarm.observation.v2"
    case: Name
    cache_mode: CacheMode
    also_modes: list[CacheMode] = []
    """Modes that the same process observed besides, such as the warm blocks after a
    start with filled caches."""
    round: Count
    attempt: Count
    order: Count
    """Position among all processes of the suite, in time."""
    allocator: Allocator | None = "keeps_memory"
    """How its C allocator began; ``None``: it is not glibc's, so there is nothing to choose.
    The default is how every process was measured before this field."""
    cache_settings: CacheSettings = "keep_all"
    """Whether its caches were set to keep everything, or as the framework has them by itself."""
    turns: Count = 0
    """Turns that its start took with those of other candidates, held in between; its times are
    without what it was held. 0: it started alone."""
    status: Literal["ok", "rejected", "failed"]
    reason: Reason | None = None
    """Why it failed; for a rejected one, the evidence that contradicts its mode."""
    stderr_tail: str | None = None
    started_at: str
    wall_s: Seconds
    """From the spawn to the exit of the process."""
    phases: list[Phase] = []
    ttfr_s: Seconds | None = None
    ttfr_process_s: Seconds | None = None
    first_call_parts: FirstCallParts | None = None
    loop: LoopAccount | None = None
    """Account of a scenario's loop: there a call is a whole loop, the first call only its first
    step, and the second call the loop once more."""
    blocks: list[Block] = []
    evidence: list[CacheEvidence] = []
    judgements: dict[str, Judgement] = {}
    """By cache mode."""
    other_calls: OtherCalls | None = None
    """Other calls, for a process whose function is a user's own."""
    shared_calls: list[SharedCalls] = []
    """Turns with other candidates, whose functions it has loaded after its last block."""
    gate: Gate | None = None
    input_sha256: Sha256 | None = None
    bytecode: dict[str, Count] = {}
    """Modules loaded by the second call ``with_bytecode`` on disk, and ``without_bytecode``:
    those had to be parsed."""
    device: Device | None = None
    compiled: dict[str, int | float | None] = {}
    """Memory and cost analysis of the compiled program (``_bytes``, ``_flops``)."""
    counts: Counts = Counts()
    versions: dict[str, str] = {}
    settings: dict[str, str] = {}
    """By name, what was set and may change what was measured: variables of the user's, and what
    a file or a module has configured."""
    harness: HarnessCost | None = None
    telemetry: Telemetry | None = None
    null_reasons: dict[str, Reason] = {}

    @property
    def peak_rss_bytes(self) -> int | None:
        """Highest resident memory up to the second call; calls of new shapes come after it."""
        counting = [p for p in self.phases if not p.name.startswith("new_shape_")]
        return counting[-1].peak_rss_bytes if counting else None

    def phase_s(self, name: str) -> float | None:
        """Duration of a phase in seconds, or ``None`` where it was not reached."""
        return next((p.duration_s for p in self.phases if p.name == name), None)

    @property
    def new_shape_s(self) -> float | None:
        """Mean of the calls with shapes that this process had not seen, in seconds."""
        calls = [p.duration_s for p in self.phases if p.name.startswith("new_shape_")]
        return math.fsum(calls) / len(calls) if calls else None


def published(observations: Iterable[Observation]) -> list[Observation]:
    """Return the observations that figures are from.

    Those are of programs as they come, started alone, and of caches that were set to keep
    everything. Where all processes kept memory, as they did before there were others, they are all
    there is.
    """
    own = [seen for seen in observations if seen.cache_settings == "keep_all" and not seen.turns]
    plain = [seen for seen in own if seen.allocator != "keeps_memory"]
    return plain or own
