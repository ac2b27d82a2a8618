"""The doctor's report on a program that it watched."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.answer import Comparison
from coldwarm.contracts.base import Count, Record, Seconds
from coldwarm.contracts.reasons import Reason

CauseKind = Literal[
    "static",
    "shape",
    "dtype",
    "weak_type",
    "tree",
    "type",
    "commitment",
    "sharding",
    "context",
    "transform",
    "new_function",
    "guard",
    "unknown",
]

MissKind = Literal[
    "nothing_kept",
    "file_changed",
    "types",
    "code",
    "captured",
    "processor",
    "version",
    "unreadable",
    "unknown",
]
"""Why a function was not in Numba's cache on disk, where it is to be kept."""


class Cause(Record, frozen=True, kw_only=True):
    """Why something was compiled again: what differed from the earlier call that is most alike."""

    kind: CauseKind
    """``guard``: what PyTorch checks before it uses what it has compiled, where nothing else that
    is watched differed; ``unknown``: nothing that is watched differed."""
    argument: str = ""
    """Its name and the place in it; of ``context`` the name of the setting, of ``guard`` the check
    as PyTorch tells it."""
    before: str = ""
    now: str = ""
    n_values: Count = 0
    """How many different values, shapes or function objects there were."""


class Finding(Record, frozen=True, kw_only=True):
    """One thing to change, at one line."""

    pattern: str
    """The id of the pattern whose page shows the DO and the DON'T."""
    framework: str
    path: str
    line: Count
    function: str
    """Function that the line is in; empty: the line is where a function begins that no line of the
    program calls, but a thread or a package that was given it."""
    source: str
    """The line as it stands in the file; empty where that cannot be read."""
    n: Count
    """How often it happened, in all processes."""
    n_processes: Count = 1
    """In which it happened; of several, ``says`` and ``cause`` are of one of them."""
    cost_s: Seconds | None
    """Time of this in the watched run; of several processes, their seconds added up."""
    saving_s: Seconds | None
    """About what the change would save in a run like this one; of several processes, what it
    would save in one of them, as they may run side by side."""
    saving_from: Reason | None = None
    """How that was estimated, where it is not what was compiled again."""
    says: Reason
    """The evidence."""
    after: Reason | None = None
    """Consequence in the end, where that is more than the cost."""
    text: str = ""
    """The evidence in words."""
    change: str = ""
    """Change to make, in words."""
    estimate: str = ""
    """How the saving was estimated, or why there is no figure, in words."""
    page: str = ""
    """The address of the pattern that shows what to do instead; empty: none shows it."""
    cause: Cause | None = None
    null_reasons: dict[str, Reason] = {}


class CallSite(Record, frozen=True, kw_only=True):
    """A line of the user's at which something was compiled, or read from a cache on disk."""

    path: str
    line: Count
    caller: str
    """The function that the line is in; empty: it is the first line of what was compiled, which
    no line of the program calls, but a thread or a package that was given it."""
    framework: str
    function: str
    """Compiled function."""
    is_operation: bool = False
    """Whether it is an operation outside of ``jit``, which the framework compiles by itself."""
    n_processes: Count = 1
    """Number of processes that compiled there: of several, times and counts are added up."""
    n_compiles: Count
    n_reads: Count
    """Programs that were read from a cache on disk."""
    n_calls: Count | None
    """Calls of the compiled function from this line."""
    n_slow_calls: Count | None = None
    """Calls among these that went through Python though nothing was compiled: JAX's fast path of
    dispatch does not take them."""
    total_s: Seconds
    """Sum of the parts that are known."""
    trace_s: Seconds | None
    lower_s: Seconds
    compile_s: Seconds
    cache_s: Seconds
    causes: dict[CauseKind, Count]
    """How often each kind of cause made it compile again."""
    misses: dict[MissKind, Count] = {}
    """For Numba's functions with ``cache=True``: why they were not in its cache on disk."""
    temporary_bytes: Count | None
    """Memory that the program takes while it runs, besides its arguments and results; the most of
    all programs of this line."""
    arguments_bytes: Count | None
    """Size of the arguments of that program."""
    null_reasons: dict[str, Reason] = {}


class LineTime(Record, frozen=True, kw_only=True):
    """A line of the user's at which the first thread was seen, apart from compiling."""

    path: str
    line: Count
    caller: str
    """The function that the line is in."""
    source: str
    """The line as it stands in the file; empty where that cannot be read."""
    runs: str
    """What it calls that is written in Python, as ``jax.grad``, or what it imports; empty: the line
    itself, or what it calls that is not written in Python."""
    seconds: Seconds
    """About: from looks at the program, some hundred in a second and fewer in a long one."""


class Account(Record, frozen=True, kw_only=True):
    """Where the time of the first process went: parts that do not overlap, in seconds."""

    total_s: Seconds
    import_s: Seconds | None
    """Imports of installed packages that the user's code asks for."""
    devices_s: Seconds | None
    trace_s: Seconds
    lower_s: Seconds
    compile_s: Seconds
    cache_s: Seconds
    """Reading programs from a cache on disk."""
    run_s: Seconds | None
    """In compiled functions and operations, and waiting for their results."""
    other_s: Seconds
    """Everything else: Python, and what is not watched."""
    doctor_s: Seconds | None
    """Part of ``other_s`` that the doctor itself took where something was compiled."""
    null_reasons: dict[str, Reason] = {}


class Others(Record, frozen=True, kw_only=True):
    """What the processes besides the first one compiled and imported, added up."""

    compiling_s: Seconds
    """Tracing, lowering, compiling, and reading from a cache on disk."""
    n_compiles: Count
    """Programs, at lines of the user's."""
    n_reads: Count = 0
    """Programs that were read from a cache on disk, at lines of the user's."""
    import_s: Seconds = 0.0
    """Imports of installed packages."""


CachesAs = Literal["empty", "filled"]


class Fix(Record, frozen=True, kw_only=True):
    """A change, measured: the program before and after it in turns, each in fresh processes."""

    before: str
    """Version before the change: a revision, a folder, a file, or what was kept."""
    caches: CachesAs
    """Compilation caches on disk, for each process: ``empty``, or ``filled`` by a run before."""
    limitations: list[Reason] = []
    before_s: list[Seconds]
    """Time of each round, from the start of the process to its end."""
    after_s: list[Seconds]
    saved_s: float | None
    """The centre of what a round saved; below zero where it takes longer now."""
    saved_low_s: float | None
    saved_high_s: float | None
    comparison: Comparison
    """Comparison of the whole times: its ratio is that of after over before."""
    programs_before: Count
    """Compiled, or read from a cache on disk, in one run."""
    programs_after: Count
    output: Literal["same", "differs", "varies"]
    """Comparison of standard output; ``varies``: it was not the same twice before either."""
    differing: list[str] = []
    """Where it differs: the first line that does, before and after."""
    null_reasons: dict[str, Reason] = {}


class DoctorReport(Record, frozen=True, kw_only=True):
    """Report of the doctor on one run of a program."""

    schema_version: Literal["coldwarm.doctor_report.v1"] = "coldwarm.doctor_report.v1"
    harness_version: str
    started_at: str
    command: list[str]
    exit_status: int | None
    """``None``: it is not known; negative: the signal that ended it."""
    python: str
    versions: dict[str, str]
    n_processes: Count
    account: Account
    others: Others | None = None
    """``None``: there was one process."""
    findings: list[Finding]
    """Findings: what ended the program, then those that cost most; what costs next to nothing is
    last."""
    sites: list[CallSite]
    """Lines that took longest first, and not more than a thousand."""
    n_sites: Count
    """Number of all lines at which something was compiled."""
    lines: list[LineTime] = []
    """Lines at which the first thread of the first process was for most of the rest of the time, at
    most a thousand."""
    unseen: list[Reason] = []
    """Parts that could not be watched, and why."""
    fix: Fix | None = None
    """Effect of a change, where that was asked for."""
