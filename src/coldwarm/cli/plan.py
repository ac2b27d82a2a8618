"""``coldwarm plan``: what a job will cost with each candidate, and what pays off from when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Command
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.contracts.answer import Plan, Sweepable
    from coldwarm.contracts.result import CaseResult, SuiteResult
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
    "--group",
    metavar="NAME",
    help="Only this group of cases, such as matmul_512_f32, or size of a sweep, such as n=100.",
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
    calls on the others cost no more; of a sweep, the totals at each size.
    """
    from coldwarm.cli._results import run_in
    from coldwarm.contracts.answer import PlanReport
    from coldwarm.contracts.reasons import because
    from coldwarm.report import plan_document as view
    from coldwarm.stats.answers import answer
    from coldwarm.stats.planning import CACHES, Job

    if shapes > calls:
        text = f"{shapes} shapes need as many calls, not {calls}: raise --calls to {shapes}"
        raise click.BadParameter(text, param_hint="--shapes")
    groups = _groups(directory, run_in(directory), group)
    job = Job(calls, shapes, processes, CACHES[caches])
    plans = _plans(groups, job, sweep)
    run_ids = {one.suite.run_id for one in groups}
    run_id = run_ids.pop() if len(run_ids) == 1 else None
    report = PlanReport(
        run_id=run_id,
        suite=groups[0].suite.suite,
        plans=plans,
        answers=[answer(one.cases) for one in groups],
        null_reasons={"run_id": because("run_of_each_size")} if run_id is None else {},
    )
    _output.emit(form, report, lambda: view.document(report))
    return ExitCode.FINE if any(plan.cheapest for plan in plans) else ExitCode.NOTHING_VALID


class _Group(NamedTuple):
    """Cases of one workload and size."""

    heading: str
    suite: SuiteResult
    cases: list[CaseResult]


def _groups(directory: Path, folder: Path, only: str | None) -> list[_Group]:
    """Return the cases by group or, of a sweep, by size, all or the one asked for."""
    from coldwarm.errors import UsageError
    from coldwarm.registry import unknown
    from coldwarm.report.headline import group_name
    from coldwarm.runner import recompute, sweep_results

    groups: dict[str, _Group] = {}
    if sweep_results.is_sweep(folder):
        for size, (suite, measured) in sweep_results.by_size(folder).items():
            _output.tell(directory, measured.otherwise)
            groups[size] = _Group(size, suite, [*measured.cases.values()])
    else:
        suite, cases, otherwise = recompute.read_run(folder)
        _output.tell(directory, otherwise)
        for case in cases:
            groups.setdefault(case.group, _Group(group_name(case), suite, [])).cases.append(case)
    if not groups:
        text = f"{directory} holds no case; name the directory of a run that measured some"
        raise UsageError(text)
    if only is not None and only not in groups:
        raise unknown("group of this run", only, groups)
    return [*groups.values()] if only is None else [groups[only]]


def _plans(groups: Sequence[_Group], job: Job, over: Sweepable | None) -> list[Plan]:
    from coldwarm.stats.costs import gather
    from coldwarm.stats.planning import largest, plan

    cases = [case for one in groups for case in one.cases]
    for wanted in [job] if over is None else [job, largest(job, over)]:
        _require_modes(cases, wanted)
    return [plan(gather(one.heading, one.cases), job, over) for one in groups]


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
        own = any(case.protocol.own is not None for case in cases)
        again = (
            "bench it again without --warm-only and --cold-only"
            if own
            else f"run it with --cache-mode {','.join([*sorted(asked), *lacking])}"
        )
        text = f"the plan needs {' and '.join(lacking)}, which was not measured: {again}"
        raise UsageError(f"{text}, or plan other --caches")
