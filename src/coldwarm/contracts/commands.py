"""Commands side by side: how long each takes until it is ready, with empty and filled caches."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.answer import Comparison, Summary
from coldwarm.contracts.base import CacheMode, Count, Name, Record, Seconds
from coldwarm.contracts.environment import Environment
from coldwarm.contracts.observation import CacheEvidence, CallParts, Judgement
from coldwarm.contracts.reasons import Reason

ReadyKind = Literal["end", "log", "http", "tcp", "file"]
"""By what a command is taken to be ready: its end, a line that it prints, an answer to a request, a
port that is open, or a file that is there."""
CommandMetric = Literal["ready_s", "first_answer_s", "request_s"]
"""From the start until it is ready; until it has answered a first request; a later request."""


class MeasuredCommand(Record, frozen=True, kw_only=True):
    """A command as it was given; what looks secret in it is masked."""

    label: Name
    command: str
    variables: dict[str, str] = {}
    """Variables that were set besides, where the value may be told."""
    withheld_variables: list[str] = []
    """Names of the others that were set."""


class StartParts(CallParts, frozen=True, kw_only=True):
    """Time of the first Python process until it is ready, or has answered a first request.

    With ``rest_s`` it is all of it.
    """

    interpreter_s: Seconds
    """From the start of the command until Python begins with the program; of a command that starts
    Python by itself, all that comes before."""
    import_s: Seconds
    """Importing installed packages."""
    rest_s: Seconds


class CommandStart(Record, frozen=True, kw_only=True):
    """One start of a command."""

    command: Name
    cache_mode: CacheMode
    round: Count
    order: Count
    started_at: str
    status: Literal["ok", "rejected", "failed"]
    reason: Reason | None = None
    """Why it failed; of a rejected one, the evidence that contradicts its mode."""
    output_tail: str | None = None
    """What a failed one printed last."""
    ready_s: Seconds | None = None
    """From its start until it was ready."""
    wall_s: Seconds
    """From its start to its end."""
    exit_status: int | None = None
    """Negative: the signal that ended it."""
    requests_s: list[Seconds] = []
    """Requests to it, one after the other; the first one is told by itself."""
    parts: StartParts | None = None
    n_processes: Count = 0
    """Processes of Python that it had."""
    compiling_beside_s: Seconds = 0.0
    """Compiling in all but the first of them, added up."""
    evidence: list[CacheEvidence] = []
    judgement: Judgement | None = None
    notes: list[Reason] = []
    """What went wrong beside, such as processes that it has left."""
    null_reasons: dict[str, Reason] = {}


class CommandFigure(Record, frozen=True, kw_only=True):
    """A figure of a command, over all its starts in one cache mode, in seconds."""

    command: Name
    cache_mode: CacheMode
    metric: CommandMetric
    summary: Summary


class CommandVerdict(Record, frozen=True, kw_only=True):
    """A command against the first one, with caches in the same state."""

    command: Name
    cache_mode: CacheMode
    comparison: Comparison


class CommandSaving(Record, frozen=True, kw_only=True):
    """How much sooner a command has answered with filled caches than with empty ones, in seconds.

    Where nothing is asked of it: how much sooner it is ready.
    """

    command: Name
    seconds: float
    low: float | None
    high: float | None
    confidence: float


class CommandBench(Record, frozen=True, kw_only=True):
    """Commands that were started in turns, and all their starts."""

    schema_version: Literal["coldwarm.command_bench.v1"] = "coldwarm.command_bench.v1"
    harness_version: str
    started_at: str
    complete: bool
    environment: Environment
    ready: ReadyKind
    ready_when: str
    """The text of the line, the address, the port or the file; empty: its end."""
    request: str = ""
    """What was asked of it when it was ready; empty: nothing."""
    commands: list[MeasuredCommand]
    starts: list[CommandStart]
    threshold: float
    """The relative difference that matters."""
    figures: list[CommandFigure]
    savings: list[CommandSaving]
    verdicts: list[CommandVerdict]
    limitations: list[Reason] = []


AdviceKind = Literal["cache", "bytecode", "import"]
"""Keep what a framework compiles; keep the bytecode of modules; import a module when it is used."""
AS_IT_IS = "as_it_is"
"""The command's name among starts with changes."""


class StartAdvice(Record, frozen=True, kw_only=True):
    """A change of a command's start, and how much sooner it was ready with it, in seconds."""

    kind: AdviceKind
    name: str
    """The owner of the cache, or the module."""
    lines: list[str]
    """What to set or to write; ``DIR`` and ``FOLDER`` stand for folders of one's own."""
    is_made: bool = False
    """Whether the program, or its framework, does so already: then this is what that saves."""
    is_shown: bool
    """Whether it surely saves time that matters."""
    n_rounds: Count
    """Rounds with both."""
    seconds: float
    low: float | None
    high: float | None
    confidence: float


class CommandAdvice(Record, frozen=True, kw_only=True):
    """What shortens the start of a command with empty caches, each change by itself."""

    schema_version: Literal["coldwarm.command_advice.v1"] = "coldwarm.command_advice.v1"
    harness_version: str
    started_at: str
    complete: bool
    environment: Environment
    ready: ReadyKind
    ready_when: str
    request: str = ""
    command: MeasuredCommand
    starts: list[CommandStart]
    """As it is, and with each change, which they are named after."""
    before: Summary | None
    """As it is, until it was ready, or had answered a first request; ``None``: no start counts."""
    advice: list[StartAdvice]
    """By what it saves; also what saves nothing."""
    failed: list[str] = []
    """Changes with which no start counts, as they are named among the starts."""
    limitations: list[Reason] = []
