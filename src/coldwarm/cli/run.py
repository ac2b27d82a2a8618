"""``coldwarm run``: measure a suite, or cases of it."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from coldwarm.runner.schedule.options import Options
    from coldwarm.runner.suite import Outcome

NOT_MEASURED, NOT_PROVED = "not_measured", "not_proved"
"""Codes of reasons for which a case has no valid figure."""


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    """Let an option be given several times or with commas."""
    return tuple(part for value in values for part in value.split(",") if part)


def seconds(text: str) -> float:
    """Return a duration such as ``90``, ``90s``, ``2.5m`` or ``1h`` in seconds.

    Raises:
        BadParameter: it is no duration, or not above zero.
    """
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    unit = units.get(text[-1:])
    try:
        value = float(text[:-1] if unit else text) * (unit or 1.0)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        message = f"{text!r} is no duration; write 90, 90s, 2.5m or 1h"
        raise click.BadParameter(message)
    return value


def relative(option: str, text: str) -> float:
    """Return the relative difference that an option gives, such as ``2%``.

    Raises:
        BadParameter: it gives none.
    """
    from coldwarm.contracts import policy

    try:
        return policy.share(text, zero=option == "--fail-on")
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


class Duration(click.ParamType[float]):
    """A length of time."""

    name = "duration"

    def convert(
        self,
        value: str | float,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return seconds."""
        del param, ctx
        return seconds(value) if isinstance(value, str) else float(value)


@click.command("run")
@click.option("--suite", default="quick", show_default=True, help="quick, ml, scenarios or full.")
@click.option("--case", "cases", multiple=True, help="Only this case or group; repeatable.")
@click.option("--backend", "backends", multiple=True, help="Only this backend; repeatable.")
@click.option("--cache-mode", "modes", multiple=True, help="Only this cache mode; repeatable.")
@click.option(
    "--deterministic",
    is_flag=True,
    help="Fixed plan: --min-runs processes of each mode, whatever the clock says.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--threads", type=click.IntRange(1), help="Threads and processors to use.")
@click.option(
    "--precision",
    type=click.FloatRange(0.001, 1.0),
    default=0.05,
    show_default=True,
    help="Relative half-width of a median's interval that is good enough.",
)
@click.option("--min-runs", type=click.IntRange(1), help="Processes of each mode, at least.")
@click.option("--max-runs", type=click.IntRange(1), help="Processes of each mode, at most.")
@click.option(
    "--time-budget",
    type=Duration(),
    help="For the whole run, or for what is left of a resumed one: 90s, 4m, 1h.",
)
@click.option("--timeout", type=Duration(), default=300.0, help="For one process.")
@click.option("--out-dir", type=click.Path(path_type=Path), help="Default: out/SUITE-TIME.")
@click.option("--resume", is_flag=True, help="Go on with the run in --out-dir, as it was begun.")
@click.option("--json", "as_json", is_flag=True, help="Print the suite's index as JSON.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:  # noqa: ANN401 - options come by name
    """Measure cases in both regimes and all cache modes.

    Shows progress on standard error and the table on standard output; leaves artifacts
    that `coldwarm validate` checks. Exits with 3 when a case failed, with 4 when nothing
    valid was measured. What a time budget did not reach is listed, and --resume goes on with it.
    """
    from rich.console import Console

    from coldwarm.report.progress import open_progress
    from coldwarm.runner import suite

    options = (_recorded(ctx, given) if given["resume"] else None) or _options(given)
    out_dir = given["out_dir"] or _new_directory(options.suite, resume=given["resume"])
    with open_progress(Console(stderr=True)) as progress:
        more_s = given["time_budget"] if given["resume"] else None
        resume = given["resume"]
        outcome = suite.run(options, out_dir, resume=resume, more_s=more_s, listener=progress)
    _show(outcome, as_json=given["as_json"])
    return _code(outcome)


def _recorded(ctx: click.Context, given: dict[str, Any]) -> Options | None:
    """Return the options of the run to go on with, unless others were asked for."""
    from msgspec import ValidationError

    from coldwarm.runner.directory import recorded_options
    from coldwarm.runner.schedule.options import Options

    sources = {name: ctx.get_parameter_source(name) for name in given}
    asked = {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}
    # How long to go on is no part of what the run was begun with.
    if given["out_dir"] is None or asked - {"out_dir", "resume", "as_json", "time_budget"}:
        return None
    recorded = recorded_options(given["out_dir"])
    try:
        return None if recorded is None else Options.recorded(recorded)
    except ValidationError:  # another version's; comparing the two says what changed
        return None


def _options(given: dict[str, Any]) -> Options:
    from coldwarm.registry import unknown
    from coldwarm.runner.schedule import options, suites

    suite = suites.SUITES.get(given["suite"])
    if suite is None:
        raise unknown("suite", given["suite"], suites.SUITES)
    min_runs = given["min_runs"] or min(suite.min_runs, given["max_runs"] or suite.min_runs)
    max_runs = given["max_runs"] or max(suite.max_runs, min_runs)
    if max_runs < min_runs:
        text = f"--max-runs {max_runs} is below --min-runs {min_runs}"
        raise click.UsageError(text)
    if math.isnan(given["precision"]):
        text = "nan is no share; write 0.05 for 5 %"
        raise click.BadParameter(text, param_hint="--precision")
    # A fixed plan is bounded by its plan; the clock must not change it.
    default_s = None if given["deterministic"] else suite.time_budget_s
    modes: Any = _split(given["modes"]) or options.DEFAULT_MODES
    return options.Options(
        suite=suite.name,
        cases=_split(given["cases"]),
        backends=_split(given["backends"]),
        cache_modes=modes,
        deterministic=given["deterministic"],
        seed=given["seed"],
        threads=given["threads"],
        precision=given["precision"],
        min_runs=min_runs,
        max_runs=max_runs,
        time_budget_s=given["time_budget"] or default_s,
        timeout_s=given["timeout"],
    )


def _new_directory(suite: str, *, resume: bool) -> Path:
    from datetime import UTC, datetime

    if resume:
        text = "--resume needs --out-dir: the directory of the run to go on with"
        raise click.UsageError(text)
    return Path("out", f"{suite}-{datetime.now(UTC):%Y%m%d-%H%M%S}")


def _show(outcome: Outcome, *, as_json: bool) -> None:
    from rich.console import Console

    from coldwarm.contracts.files import codec
    from coldwarm.report import terminal

    if as_json:
        sys.stdout.write(codec.encode(outcome.suite).decode())
        return
    terminal.render(outcome.suite, outcome.cases, Console())
    click.echo(f"\nArtifacts: {outcome.path}")
    if outcome.interrupted:
        click.echo(f"Interrupted. Go on with: coldwarm run --out-dir {outcome.path} --resume")
        return
    missed = sum(
        case.reason is not None and case.reason.code == NOT_MEASURED for case in outcome.cases
    )
    if missed:
        text = f"The time budget ended before {missed} cases were measured."
        click.echo(f"{text} Go on with: coldwarm run --out-dir {outcome.path} --resume")


def _code(outcome: Outcome) -> int:
    if outcome.interrupted:
        return ExitCode.INTERRUPTED
    if outcome.suite.n_failed:
        return ExitCode.FAILED
    reasons = [case.reason.code for case in outcome.suite.cases if case.reason is not None]
    if not outcome.suite.n_ok and {NOT_MEASURED, NOT_PROVED}.intersection(reasons):
        return ExitCode.NOTHING_VALID
    return ExitCode.FINE
