"""``coldwarm doctor --then bench``: the same program before a change and after it, measured."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.cli._options import say
from coldwarm.errors import ColdwarmError, ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.doctor import CachesAs, DoctorReport, Fix
    from coldwarm.runner.doctor.alternating import Run, Turns
    from coldwarm.runner.doctor.earlier import Side

ROUNDS = 5


class ProgramFailedError(ColdwarmError):
    """A program that was to be measured ended with an error."""

    exit_code = ExitCode.FAILED


class NothingMeasuredError(ColdwarmError):
    """The time was over before anything was measured."""

    exit_code = ExitCode.NOTHING_VALID


@dataclass(frozen=True)
class Asked:
    """What is asked of ``--then bench``."""

    before: str | None
    caches: CachesAs
    rounds: int
    time_budget_s: float | None = None


@dataclass(frozen=True)
class Bench:
    """What is to be measured."""

    asked: Asked
    named: str
    """What the program was before."""
    sides: Mapping[str, Side]
    python: str
    work: Path

    def measured(self, report: DoctorReport, took_s: float) -> DoctorReport:
        """Return the report of the program as it is, with what the change has brought.

        ``took_s`` is what the program has taken under the doctor. Where the time is over, or
        somebody interrupts, the verdict is that of the rounds until then.

        Raises:
            ProgramFailedError: one of both ended with an error.
            NothingMeasuredError: the time was over before one round was measured.
            KeyboardInterrupt: somebody interrupted before that.
        """
        from coldwarm.contracts.reasons import because
        from coldwarm.report import units
        from coldwarm.runner.doctor.alternating import TimeOverError, Turns

        if report.exit_status:
            _tell(f"the program ended with {report.exit_status}, so nothing is measured")
            return report
        self._estimate(took_s)
        end_s = time.perf_counter() + (self.asked.time_budget_s or math.inf)
        turns = Turns(self.python, self.sides, self.asked.caches, self.work, end_s)
        watched, seen, rounds, code = {}, {}, [], ""
        try:
            for name, run, counted in self._counted(turns, report.started_at):
                watched[name], seen[name] = run, counted
            for one in turns.rounds(self.asked.rounds):
                for name, run in one.items():
                    _refuse_failed(name, run)
                rounds.append(one)
                took = ", ".join(f"{name} {units.duration(one[name].seconds)}" for name in one)
                _tell(f"round {len(rounds)} of {self.asked.rounds}: {took}")
        except TimeOverError:
            code = "rounds_out_of_time"
        except KeyboardInterrupt:
            code = "rounds_interrupted"
            if not rounds:
                raise
            _tell("interrupted; what was measured until then is judged")
        if not rounds:
            text = "the time budget was over before both were measured once; give more"
            raise NothingMeasuredError(f"{text}: --time-budget {self._whole_s(took_s):.0f}s")
        fix = self._judged(watched, rounds, seen)
        cut = [because(code, n_rounds=len(rounds), n_asked=self.asked.rounds)] if code else []
        return replace(report, fix=replace(fix, limitations=[*cut, *fix.limitations]))

    def _estimate(self, took_s: float) -> None:
        """Say how long it will take, before it does."""
        from coldwarm.report import units

        n_runs, budget_s = self._n_runs(), self.asked.time_budget_s
        text = (
            f"measuring the program as it was and as it is: {n_runs} runs without input, about"
            f" {units.duration(self._whole_s(took_s))} if each takes as long as this one"
        )
        if budget_s is not None and budget_s < self._whole_s(took_s):
            text += f"; --time-budget ends it after {units.duration(budget_s)}"
        _tell(f"{text}; Ctrl-C ends it with what was measured by then")

    def _n_runs(self) -> int:
        """Return how often the program is run: counted and measured, and to fill caches."""
        return 2 * (1 + self.asked.rounds + (self.asked.caches == "filled"))

    def _whole_s(self, took_s: float) -> float:
        return max(1.0, self._n_runs() * took_s)

    def _counted(self, turns: Turns, date: str) -> Iterator[tuple[str, Run, DoctorReport]]:
        """Run each side under the doctor, to count what it compiles."""
        from coldwarm.runner.doctor import reading
        from coldwarm.runner.doctor.alternating import SIDES

        for name in SIDES:
            journal = self.work / f"{name}-journal"
            run = turns.watched(name, journal)
            _refuse_failed(name, run)
            yield name, run, reading.report(reading.read(journal), None, date)

    def _judged(
        self,
        watched: Mapping[str, Run],
        rounds: Sequence[Mapping[str, Run]],
        seen: Mapping[str, DoctorReport],
    ) -> Fix:
        from coldwarm.runner.doctor.alternating import SIDES
        from coldwarm.stats.doctor.fixed import fix

        before, after = ([one[name] for one in rounds] for name in SIDES)
        return fix(
            self.named,
            self.asked.caches,
            [(one.seconds, other.seconds) for one, other in zip(before, after, strict=True)],
            (seen["before"], seen["after"]),
            (_lines([watched["before"], *before]), _lines([watched["after"], *after])),
        )


@contextmanager
def prepared(
    command_line: Sequence[str], asked: Asked | None, python: str
) -> Iterator[Bench | None]:
    """Give what is to be measured; ``None``: nothing is.

    Raises:
        UsageError: there is no earlier state of the program.
    """
    from coldwarm.runner.doctor import earlier
    from coldwarm.runner.process import temporary

    if asked is None:
        yield None
        return
    with temporary.made() as work:
        now = earlier.now(command_line)
        with earlier.before(asked.before, command_line, python, work) as (named, side):
            yield Bench(asked, named, {"before": side, "after": now}, python, work)


def asked(then: str | None, wanted: Asked, command: Sequence[str]) -> Asked | None:
    """Return what is asked; ``None``: nothing is.

    Raises:
        UsageError: an earlier state is named, and nothing is to be done with it; or it is not known
            which file the program is.
    """
    if then is None and wanted.before is not None:
        raise UsageError(f"--before {wanted.before} is for --then bench; give both, or neither")
    if then and command[0].startswith("-") and command[0] != "-m":
        text = (
            "--then bench needs a script, or -m and a module, without options of Python before it"
        )
        raise UsageError(
            f"{text}, not {command[0]}; set them by variables, such as PYTHONUNBUFFERED"
        )
    return wanted if then else None


def _lines(runs: Sequence[Run]) -> list[list[str]]:
    return [run.stdout.decode("utf-8", "replace").splitlines() for run in runs]


def _refuse_failed(name: str, run: Run) -> None:
    if run.status:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        ended = f"run without input, ended with {run.status}"
        text = f"the program {name} the change, {ended}: {said[-1]:.200}"
        raise ProgramFailedError(text)


def _tell(text: str) -> None:
    say(f"coldwarm: {text}", err=True)
