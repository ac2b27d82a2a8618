"""``coldwarm doctor --then bench``: the same program before a change and after it, measured."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rich_click as click
from msgspec.structs import replace

from coldwarm.errors import ColdwarmError, ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.doctor import CachesAs, DoctorReport, Fix
    from coldwarm.runner.doctor.alternating import Run
    from coldwarm.runner.doctor.earlier import Side

ROUNDS = 5


class ProgramFailedError(ColdwarmError):
    """A program that was to be measured ended with an error."""

    exit_code = ExitCode.FAILED


@dataclass(frozen=True)
class Asked:
    """What is asked of ``--then bench``."""

    before: str | None
    caches: CachesAs
    rounds: int


@dataclass(frozen=True)
class Bench:
    """What is to be measured."""

    asked: Asked
    named: str
    """What the program was before."""
    sides: Mapping[str, Side]
    python: str
    work: Path

    def measured(self, report: DoctorReport) -> DoctorReport:
        """Return the report of the program as it is, with what the change has brought.

        Raises:
            ProgramFailedError: one of both ended with an error.
        """
        from coldwarm.runner.doctor import reading
        from coldwarm.runner.doctor.alternating import SIDES, Turns

        if report.exit_status:
            _tell(f"the program ended with {report.exit_status}, so nothing is measured")
            return report
        turns = Turns(self.python, self.sides, self.asked.caches, self.work)
        _tell("running the program as it was and as it is, to count what it compiles …")
        watched, seen = {}, {}
        for name in SIDES:
            journal = self.work / f"{name}-journal"
            watched[name] = turns.watched(name, journal)
            _refuse_failed(name, watched[name])
            seen[name] = reading.report(reading.read(journal), None, report.started_at)
        _tell(f"measuring both in turns, {self.asked.rounds} times, without input …")
        rounds = turns.rounds(self.asked.rounds)
        for one in rounds:
            for name, run in one.items():
                _refuse_failed(name, run)
        return replace(report, fix=self._judged(watched, rounds, seen))

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
    command_line: Sequence[str], asked: Asked | None, python: str, date: str
) -> Iterator[Bench | None]:
    """Give what is to be measured; ``None``: nothing is, as there is no earlier state yet.

    Where none is named and none was kept, the program is kept as it is.

    Raises:
        UsageError: there is no such earlier state.
    """
    from coldwarm.runner.doctor import earlier, keeping
    from coldwarm.runner.process import temporary

    if asked is None:
        yield None
        return
    with temporary.made() as work:
        now = earlier.now(command_line)
        if asked.before is not None:
            with earlier.before(asked.before, command_line, python, work) as side:
                yield Bench(asked, asked.before, {"before": side, "after": now}, python, work)
            return
        kept = keeping.state(command_line)
        if kept is None:
            place = keeping.keep(command_line, date)
            yield None
            _tell(f"the program is kept as it was in {place}; change it, and ask the same again")
        elif not kept.changed():
            yield None
            _tell(f"nothing has changed since {kept.since}; change the program, and ask again")
        else:
            side = earlier.of_tree(kept.tree, kept.root, command_line, python)
            named = f"as it was at {kept.since}"
            yield Bench(asked, named, {"before": side, "after": now}, python, work)


def asked(
    then: str | None, before: str | None, caches: CachesAs, rounds: int, command: Sequence[str]
) -> Asked | None:
    """Return what is asked; ``None``: nothing is.

    Raises:
        UsageError: an earlier state is named, and nothing is to be done with it; or it is not known
            which file the program is.
    """
    if then is None and before is not None:
        raise UsageError(f"--before {before} is for --then bench; give both, or neither")
    if then and command[0].startswith("-") and command[0] != "-m":
        text = (
            "--then bench needs a script, or -m and a module, without options of Python before it"
        )
        raise UsageError(
            f"{text}, not {command[0]}; set them by variables, such as PYTHONUNBUFFERED"
        )
    return Asked(before, caches, rounds) if then else None


def _lines(runs: Sequence[Run]) -> list[list[str]]:
    return [run.stdout.decode("utf-8", "replace").splitlines() for run in runs]


def _refuse_failed(name: str, run: Run) -> None:
    if run.status:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        ended = f"run without input, ended with {run.status}"
        text = f"the program {name} the change, {ended}: {said[-1]:.200}"
        raise ProgramFailedError(text)


def _tell(text: str) -> None:
    click.echo(f"coldwarm: {text}", err=True)
