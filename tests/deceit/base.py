"""What a function that hides its cost is, as data: the program, the truth, and what may be said."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Figure = Literal["first", "filled", "process", "warm", "compiles"]
"""What is at stake: the time to a first result with empty caches, the same with filled caches,
the time from the start of the process, a warm call, or the programs compiled in warm calls."""

KEPT = ("faster_than_inspected", "files_of_earlier")
"""What may be said of an answer that a process finds where an earlier one left it."""
UNFINISHED = (
    "unfinished",
    "lazy_result",
    "opaque_result",
    "arrays_unfinished",
    "may_compute",
    "not_opened",
    "computes_when_asked",
    "threads_at_work",
    "processes_at_work",
    "tasks_unfinished",
    "busy_afterwards",
)
"""What may be said of a call that returns before its work is done."""
UNEVEN = (
    "two_levels",
    "drifts",
    "drifts_across",
    "level_moves",
    "steady_slower",
    "slow_after_pause",
)
"""What may be said of calls that do not all cost the same."""
REPEATED = ("arguments_changed", "answers_kept")
"""What may be said of a call that is cheap because its arguments were seen before."""
UNCOUNTED = (
    "compiled_in_window",
    "blocks_uncounted",
    "came_unwatched",
    "listeners_removed",
    "every_call_compiled",
    "second_call_compiled",
    "in_process_compiled",
)
"""What may be said of programs that are compiled in warm calls."""


@dataclass(frozen=True, kw_only=True)
class Deceit:
    """A function that hides its cost, or part of it.

    The program is written as ``subject.py`` into an empty folder and measured by the command.
    The truth is measured by a script of its own, in fresh processes, on the clock of the
    process that starts them. All texts of code may hold ``{folder}``.
    """

    name: str
    hides: str
    """In a few words: what is hidden, and where."""
    figure: Figure
    source: str
    """The user's file."""
    said: tuple[str, ...] = ()
    """Codes that name this deceit; with one of them a wrong figure is not a silent one."""
    target: str = "f"
    factory: bool = False
    """Whether the target returns a function and its arguments."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """As ``--input`` has them."""
    arguments: str = "()"
    """The truth's arguments: an expression, in which ``k`` counts the calls."""
    finish: str = ""
    """What really waits for ``out``, as the user of the function must."""
    ending: str = ""
    """What must still be done after all calls, before the user has everything."""
    before: str = ""
    """What the truth's process does before anything is timed."""
    forget: str = ""
    """What removes that which an earlier process has left, so that the truth is a first time."""
    counted: str = ""
    """For ``compiles``: what a line of standard error holds for each compiled program."""
    calls: int = 12
    """Warm calls of the truth."""
    group: int = 1
    """Of these, how many are timed together: more than one where they are short."""
    mean: bool = False
    """Whether the truth is the mean of all calls, as where they differ; else it is the median."""
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    """Another command than ``bench``."""
    truth: str = ""
    """Another script; it marks the beginning and the end of what it times by ``mark()``."""
    quick: bool = False
    """Whether it is also tried where slow tests are not."""
    here: bool = False
    """Whether it is also measured by ``coldwarm.bench`` in the process that has it."""


def plain(text: str) -> str:
    """Return a text of code without the indentation that all its lines have."""
    return textwrap.dedent(text).strip() + "\n" if text else ""
