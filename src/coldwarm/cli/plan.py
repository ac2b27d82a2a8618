"""``coldwarm plan``: what a job will cost with each candidate, and what pays off from when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Command
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.contracts.answer import Plan, Sweepable
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.planning import Job


@click.command("plan", cls=Command, example="coldwarm plan out/mine --calls 10000")
@click.argument("directory", type=_options.Input(), metavar="RESULT")
@click.option(
    "--calls",
    type=_options.Whole(1, 10**12, example=10000),
    metavar="N",
    required=True,
    help="Calls in each process.",
)
@click.option(
    "--shapes",
    type=_options.Whole(1, 10**12, example=4),
    metavar="N",
    default=1,
    show_default=True,
    help="Different input shapes among them.",
)
@click.option(
    "--processes",
    type=_options.Whole(1, 10**12, example=5),
    metavar="N",
    default=1,
    show_default=True,
    help="How many times the program is started.",
)
@click.option(
    "--caches",
    type=click.Choice(["empty", "filled", "kept"]),
    metavar="STATE",
    default="kept",
    show_default=True,
    help="Compilation caches: empty, filled, or empty at the first start and kept.",
)
@click.option(
    "--sweep",
    type=click.Choice(["calls", "shapes", "processes"]),
    metavar="calls|shapes|processes",
    help="Show the totals for many numbers of these.",
)
@click.option(
    "--group", metavar="NAME", help="Only this group of cases of RESULT, such as matmul_512_f32."
)
@_options.output(*_output.EVERY_FORM)
def _command(
    directory: Path,
    calls: int,
    shapes: int,
    processes: int,
    caches: Literal["empty", "filled", "kept"],
    sweep: Sweepable | None,
    group: str | None,
    form: str,
) -> int:
    """Compute what a job will cost with each candidate.

    A job is a program that you will run: so many calls in so many processes. RESULT is a folder of
    `coldwarm run` or `bench`, or a snapshot of one. Nothing is measured: the times in RESULT are
    added up. Printed are the total of each candidate, which is the cheapest, and from how many
    calls on the others cost no more.
    """
    from coldwarm.cli._results import run_in
    from coldwarm.contracts.answer import PlanReport
    from coldwarm.report import plan_document as view
    from coldwarm.runner import recompute
    from coldwarm.stats.answers import answer
    from coldwarm.stats.planning import CACHES, Job

    if shapes > calls:
        text = f"{shapes} shapes need as many calls, not {calls}: raise --calls to {shapes}"
        raise click.BadParameter(text, param_hint="--shapes")
    suite, cases, otherwise = recompute.read_run(run_in(directory))
    _output.tell(directory, otherwise)
    job = Job(calls, shapes, processes, CACHES[caches])
    groups = _groups(directory, cases, group)
    plans = _plans(groups, job, sweep)
    said = [answer(members) for members in groups.values()]
    report = PlanReport(run_id=suite.run_id, suite=suite.suite, plans=plans, answers=said)
    _output.emit(form, report, lambda: view.document(report))
    return ExitCode.FINE if any(plan.cheapest for plan in plans) else ExitCode.NOTHING_VALID


def _groups(
    directory: Path, cases: Sequence[CaseResult], only: str | None
) -> dict[str, list[CaseResult]]:
    """Return the cases by group, such as ``matmul_512_f32``, all or the one asked for."""
    from coldwarm.errors import UsageError
    from coldwarm.registry import unknown

    groups: dict[str, list[CaseResult]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    if not groups:
        text = f"{directory} holds no case; name the directory of a run that measured some"
        raise UsageError(text)
    if only is None:
        return groups
    if only not in groups:
        raise unknown("group of this run", only, groups)
    return {only: groups[only]}


def _plans(groups: dict[str, list[CaseResult]], job: Job, over: Sweepable | None) -> list[Plan]:
    from coldwarm.report.headline import group_name
    from coldwarm.stats.costs import gather
    from coldwarm.stats.planning import largest, plan

    cases = [case for members in groups.values() for case in members]
    for wanted in [job] if over is None else [job, largest(job, over)]:
        _require_modes(cases, wanted)
    gathered = [gather(group_name(members[0]), members) for members in groups.values()]
    return [plan(group, job, over) for group in gathered]


def _require_modes(cases: Sequence[CaseResult], job: Job) -> None:
    """Refuse a plan for which the run was not asked to measure a cache mode."""
    from coldwarm.contracts.base import WARM
    from coldwarm.errors import UsageError
    from coldwarm.stats.costs import STATES, WARM_CALL

    needed = [STATES[state] for state in job.starts]
    needed += [WARM] if WARM_CALL in job.terms else []
    asked = {mode for case in cases for mode in case.protocol.cache_modes}
    lacking = [mode for mode in needed if mode not in asked]
    if lacking:
        text = (
            f"the plan needs {' and '.join(lacking)}, which this run did not measure: run it "
            f"with --cache-mode {','.join([*sorted(asked), *lacking])}, or plan other --caches"
        )
        raise UsageError(text)
