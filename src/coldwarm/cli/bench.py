"""``coldwarm bench``: measure functions of your own, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli.run import Duration, relative
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.plan import Plan
    from coldwarm.runner.functions.request import Request
    from coldwarm.runner.suite import Outcome


@click.command("bench")
@click.argument("targets", nargs=-1, required=True, metavar="[LABEL=]TARGET...")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=WHAT",
    help="x=f32[512,512], several shapes x=f32[512];[600] for new-shape calls, n=3; :uniform, "
    ":zeros, :ones, :range after an array for other contents than normal ones. Repeatable.",
)
@click.option(
    "--inputs-as",
    "placement",
    type=click.Choice(["numpy", "jax", "torch"]),
    help="Whose arrays the inputs are. Default: of what a function's own module imports.",
)
@click.option("--reference", metavar="LABEL", help="Compare and check against it; else the first.")
@click.option("--no-check", is_flag=True, help="Do not check answers; written in the protocol.")
@click.option("--tolerance", type=click.FloatRange(0.0), help="Largest error of an answer.")
@click.option(
    "--env", "variables", multiple=True, metavar="[LABEL:]KEY=VALUE", help="Set a variable."
)
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="[LABEL:]PATH",
    help="Interpreter or virtual environment; several make a candidate of each.",
)
@click.option("--before", metavar="REV", help="A commit: each target as it was there …")
@click.option("--after", metavar="REV", help="… and as it is here. Default: the files as they are.")
@click.option("--cold-only", is_flag=True, help="Only fresh processes.")
@click.option("--warm-only", is_flag=True, help="Only warm calls.")
@click.option("--time-budget", type=Duration(), help="For the whole bench: 15s, 4m.")
@click.option("--min-runs", type=click.IntRange(1), help="Processes of each mode, at least.")
@click.option("--max-runs", type=click.IntRange(1), help="Processes of each mode, at most.")
@click.option(
    "--threshold", default="2%", show_default=True, metavar="SHARE", help="Difference that matters."
)
@click.option(
    "--fail-on",
    "failures",
    multiple=True,
    metavar="VERDICT[:SHARE]",
    help="Exit with 1 on such a verdict beyond this difference: slower:2%,faster:2%.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--threads", type=click.IntRange(1), help="Threads and processors to use.")
@click.option("--timeout", type=Duration(), default=300.0, help="For one process.")
@click.option("--out-dir", type=click.Path(path_type=Path), help="Default: out/bench-TIME.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(**given: Any) -> int:  # noqa: ANN401 - options come by name
    """Measure your own functions cold and warm, interleaved, and judge them by one of them.

    A TARGET is FILE.py:NAME or PACKAGE.MODULE:NAME, or FILE.py with functions marked by
    @coldwarm.workload. It names a function, with its inputs as --input, or a factory: a
    function without arguments that returns (function, (argument, ...)).

    Exit status: 0 fine, 1 a verdict beyond --fail-on, 2 wrong usage, 3 a candidate failed, 4
    nothing valid was measured, 130 interrupted.
    """
    from rich.console import Console

    from coldwarm.report.progress import open_progress
    from coldwarm.runner.functions import bench

    limits = _limits(given["failures"])
    request = _request(given)
    out_dir = given["out_dir"] or _new_directory()
    with open_progress(Console(stderr=True)) as progress:
        outcome = bench.run(request, out_dir, listener=progress)
    report, plan = _report(outcome, limits)
    _show(report, plan, outcome, as_json=given["as_json"])
    return _code(report, outcome)


def _request(given: dict[str, Any]) -> Request:
    from coldwarm.runner.functions import request

    if given["cold_only"] and given["warm_only"]:
        text = "--cold-only and --warm-only leave nothing to measure; give one of them"
        raise click.UsageError(text)
    most, fewest = given["max_runs"], given["min_runs"]
    if most and fewest and most < fewest:
        raise click.UsageError(f"--max-runs {most} is below --min-runs {fewest}")
    return request.Request(
        targets=given["targets"],
        inputs=given["inputs"],
        placement=given["placement"],
        reference=given["reference"],
        check=not given["no_check"],
        tolerance=given["tolerance"],
        pythons=given["pythons"],
        variables=given["variables"],
        before=given["before"],
        after=given["after"],
        options=request.options(
            cold=not given["warm_only"],
            warm=not given["cold_only"],
            time_budget_s=given["time_budget"],
            min_runs=fewest,
            max_runs=most,
            threshold=relative("--threshold", given["threshold"]),
            seed=given["seed"],
            threads=given["threads"],
            timeout_s=given["timeout"],
        ),
    )


def _limits(failures: Sequence[str]) -> dict[str, float]:
    """Return the verdicts that fail, with the differences that they must exceed."""
    limits: dict[str, float] = {}
    for part in (part.strip() for value in failures for part in value.split(",") if part):
        verdict, colon, share = part.partition(":")
        if verdict not in {"slower", "faster"}:
            text = f"{verdict!r} is no verdict that can fail: slower, faster"
            raise click.BadParameter(text, param_hint="--fail-on")
        limits[verdict] = relative("--fail-on", share) if colon else 0.0
    return limits


def _new_directory() -> Path:
    from datetime import UTC, datetime

    return Path("out", f"bench-{datetime.now(UTC):%Y%m%d-%H%M%S}")


def _report(outcome: Outcome, limits: dict[str, float]) -> tuple[BenchReport, Plan | None]:
    from coldwarm.stats.plan import benching

    return benching.report(outcome.suite, outcome.cases, str(outcome.path), limits)


def _show(report: BenchReport, plan: Plan | None, outcome: Outcome, *, as_json: bool) -> None:
    from rich.console import Console

    from coldwarm.contracts.files import codec
    from coldwarm.report import bench as view

    if as_json:
        sys.stdout.write(codec.encode(report).decode())
        return
    view.render(report, outcome.suite, outcome.cases, plan, Console())
    click.echo(f"\nArtifacts: {outcome.path}")


def _code(report: BenchReport, outcome: Outcome) -> int:
    if outcome.interrupted:
        return ExitCode.INTERRUPTED
    if outcome.suite.n_failed:
        return ExitCode.FAILED
    if not any(one.ttfr or one.call for one in report.candidates):
        return ExitCode.NOTHING_VALID
    return ExitCode.REGRESSION if report.n_failing else ExitCode.FINE
