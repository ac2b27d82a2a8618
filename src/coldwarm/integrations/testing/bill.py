"""The bill of a test suite: what compiling has cost, by test and by program. Pure.

A bill travels from the workers of pytest-xdist as plain values.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.stats.doctor.seen import Call

OUTSIDE = ""
"""In place of a test: what was compiled while modules were imported and tests collected."""

OTHER = "other"
"""In place of a stage: of a compilation, what no stage is known of."""


@dataclass
class Program:
    """One program, and how often it was compiled."""

    name: str
    seconds: list[float] = field(default_factory=list)
    """That XLA took, each time."""
    tests: list[str] = field(default_factory=list)
    """Those that it was compiled in, each once."""

    @property
    def n_again(self) -> int:
        """How often after the first time."""
        return len(self.seconds) - 1

    @property
    def again_s(self) -> float:
        """Seconds that all times but the slowest took."""
        return sum(self.seconds) - max(self.seconds)


@dataclass
class Bill:
    """What compiling has cost in the tests of one process, or of several."""

    by_test: dict[str, float] = field(default_factory=dict)
    """Seconds of tracing, lowering, compiling and reading from a cache on disk."""
    by_stage: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    programs: dict[str, Program] = field(default_factory=dict)
    """By fingerprint."""
    n_compiled: int = 0
    n_unknown: int = 0
    """Compiled, and not to be told apart: not of JAX, or in a version that hides its programs."""
    n_read: int = 0
    """Programs that were read from a cache on disk."""
    failures: list[str] = field(default_factory=list)
    """Where watching itself has failed."""

    def add(self, test: str, calls: Iterable[Call]) -> None:
        """Add what was compiled in a test."""
        self.by_test.setdefault(test, 0.0)
        for one in calls:
            self.by_test[test] += one.total_s
            self.by_stage[OTHER] += one.total_s - one.total_s
            for stage, seconds in one.own_s.items():
                self.by_stage[stage] += seconds
            if one.compiled:
                self._add_program(test, one)

    def _add_program(self, test: str, call: Call) -> None:
        if call.hit:
            self.n_read += 1
            return
        self.n_compiled += 1
        if call.fingerprint is None:
            self.n_unknown += 1
            return
        program = self.programs.setdefault(call.fingerprint, Program(call.name))
        program.seconds.append(call.own_s.get("compile", 0.0))
        if test not in program.tests:
            program.tests.append(test)

    def merge(self, other: Bill) -> None:
        """Add the bill of another process."""
        for test, seconds in other.by_test.items():
            self.by_test[test] = self.by_test.get(test, 0.0) + seconds
        for stage, seconds in other.by_stage.items():
            self.by_stage[stage] += seconds
        for key, program in other.programs.items():
            mine = self.programs.setdefault(key, Program(program.name))
            mine.seconds += program.seconds
            mine.tests += [test for test in program.tests if test not in mine.tests]
        self.n_compiled += other.n_compiled
        self.n_unknown += other.n_unknown
        self.n_read += other.n_read
        self.failures += [one for one in other.failures if one not in self.failures]

    @property
    def total_s(self) -> float:
        """Seconds of all tests, and of what came before them."""
        return sum(self.by_test.values())

    @property
    def n_tests(self) -> int:
        """Tests that ran."""
        return sum(test != OUTSIDE for test in self.by_test)

    @property
    def repeated(self) -> list[Program]:
        """Programs that were compiled more than once, the dearest first."""
        found = [one for one in self.programs.values() if one.n_again]
        return sorted(found, key=lambda one: -one.again_s)


def plain(bill: Bill) -> dict[str, Any]:
    """Return a bill as plain values."""
    return {
        "by_test": dict(bill.by_test),
        "by_stage": dict(bill.by_stage),
        "programs": {
            key: [one.name, list(one.seconds), list(one.tests)]
            for key, one in bill.programs.items()
        },
        "n": [bill.n_compiled, bill.n_unknown, bill.n_read],
        "failures": list(bill.failures),
    }


def of_plain(values: dict[str, Any]) -> Bill:
    """Return the bill that ``plain`` made values of."""
    made = Bill(by_test=dict(values["by_test"]))
    made.by_stage.update(values["by_stage"])
    made.programs = {key: Program(*parts) for key, parts in values["programs"].items()}
    made.n_compiled, made.n_unknown, made.n_read = values["n"]
    made.failures = list(values["failures"])
    return made
