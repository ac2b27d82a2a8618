"""``coldwarm run``: measure a suite, or cases of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Measuring, is_quiet, origins
from coldwarm.cli._options import say
from coldwarm.errors import ExitCode, ResumeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.runner.case_list import Options
    from coldwarm.runner.suite import Outcome

NOT_MEASURED, NOT_PROVED = "not_measured", "not_proved"
"""Codes of reasons for which a case has no valid figure."""


@click.command("run", cls=Measuring, example="coldwarm run --suite quick --backend numpy,numba")
@click.option(
    "--suite",
    default="quick",
    show_default=True,
    metavar="NAME",
    help="Cases to measure: quick, ml, scenarios or full.",
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="NAME",
    help="Only this case, or group of cases; see `coldwarm cases`. Repeatable.",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="Only this backend; see `coldwarm backends`. Repeatable.",
)
@click.option(
    "--cache-mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="Only this mode. cold_process_cold_cache: new process, empty compilation caches; "
    "cold_process_warm_cache: new process, filled ones; warm_process: later calls; first_ever: "
    "like the first, without bytecode or files in memory. Default: the first three. Repeatable.",
)
@click.option(
    "--deterministic",
    is_flag=True,
    help="Measure exactly as many rounds as --rounds says. --time-budget is none by default.",
)
@_options.seed
@_options.threads
@click.option(
    "--precision",
    type=_options.Share(0.001, 1.0),
    metavar="SHARE",
    default="5%",
    show_default=True,
    help="Stop when the error of each median is below this share of it: 5% or 0.05.",
)
@_options.rounds("the suite's", "the suite's")
@_options.time_budget("180s for quick, else none")
@_options.timeout
@_options.leave_out_private
@_options.out("out/SUITE-TIME")
@click.option("--resume", is_flag=True, help="Continue the run in --out, with the options it has.")
@click.option("--page", is_flag=True, help="Write also a page, report.html, into --out.")
@_options.verbose
@_options.output(*_output.EVERY_FORM)
@click.pass_context
def _command(ctx: click.Context, /, **given: Any) -> int:  # noqa: ANN401 - options come by name
    """Measure the cases of a suite: first results and later calls.

    A case is a small program (workload) with one framework (backend), size and number type.
    Progress is shown on standard error, the answer and its table on standard output. Cases that the
    time budget did not reach are named; --resume continues with them.
    """
    from coldwarm.report.progress import open_progress
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner import suite

    options = (_recorded(ctx, given) if given["resume"] else None) or _asked(given, origins(ctx))
    resume = given["resume"]
    _options.require_out(given["out"], resume=resume)
    out_dir = given["out"] or _options.new_directory(options.suite)
    with open_progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
        more_s = given["time_budget"] if resume else None
        outcome = suite.run(options, out_dir, resume=resume, more_s=more_s, listener=progress)
    _show(outcome, given["form"], verbose=given["verbose"])
    if given["page"] and outcome.suite.n_ok:
        from coldwarm.cli._output import write_page

        place = write_page(outcome.path)
        if not is_quiet():
            say(f"Page: {place}", err=True)
    if _is_idle(outcome):
        _tell_why(outcome)
    return _code(outcome)


def _recorded(ctx: click.Context, given: dict[str, Any]) -> Options | None:
    """Return the options of the run to go on with, unless others were asked for.

    Raises:
        ResumeError: there is a run, and nothing says what it was to measure.
    """
    from msgspec import ValidationError

    from coldwarm.runner.case_list import Options
    from coldwarm.runner.directory import JOURNAL, recorded_options, require_header

    sources = {name: ctx.get_parameter_source(name) for name in ctx.params}
    asked = {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}
    # How long to go on is no part of what the run was begun with.
    if given["out"] is None or asked - {
        "out",
        "resume",
        "form",
        "as_json",
        "time_budget",
        "verbose",
        "page",
    }:
        return None
    recorded = recorded_options(given["out"])
    if recorded is None and (given["out"] / JOURNAL).exists():
        require_header(given["out"])
        text = "holds a run that ended before it had begun; give its options again with --resume"
        raise ResumeError(f"{given['out']} {text}")
    try:
        return None if recorded is None else Options.recorded(recorded)
    except ValidationError:  # another version's; comparing the two says what changed
        return None


def _asked(given: dict[str, Any], option_origins: dict[str, str]) -> Options:
    from coldwarm.registry import unknown
    from coldwarm.runner import case_list as cases

    suite = cases.SUITES.get(given["suite"])
    if suite is None:
        raise unknown("suite", given["suite"], cases.SUITES)
    min_runs = given["rounds"] or min(suite.min_runs, given["max_rounds"] or suite.min_runs)
    max_runs = given["max_rounds"] or max(suite.max_runs, min_runs)
    _options.require_order(min_runs, max_runs)
    # A fixed plan is bounded by its plan; the clock must not change it.
    default_s = None if given["deterministic"] else suite.time_budget_s
    modes: Any = tuple(_options.parts(given["modes"], "--cache-mode")) or cases.DEFAULT_MODES
    return cases.Options(
        suite=suite.name,
        cases=tuple(_options.parts(given["cases"], "--case")),
        backends=tuple(_options.parts(given["backends"], "--backend")),
        cache_modes=modes,
        deterministic=given["deterministic"],
        seed=given["seed"],
        threads=given["threads"],
        precision=given["precision"],
        min_runs=min_runs,
        max_runs=max_runs,
        time_budget_s=given["time_budget"] or default_s,
        timeout_s=given["timeout"],
        leave_out_private=given["leave_out_private"],
        option_origins=option_origins,
    )


def print_run(
    suite: SuiteResult, cases: Sequence[CaseResult], form: str, *, verbose: bool = False
) -> None:
    """Print a run: its index with the answers as JSON, or its tables."""
    from msgspec.structs import replace

    from coldwarm.report import view
    from coldwarm.stats.answers import answers

    said = answers(cases)
    _output.emit(
        form,
        replace(suite, answers=said),
        lambda: view.document(suite, cases, answers=said, verbose=verbose),
    )


def _show(outcome: Outcome, form: str, *, verbose: bool) -> None:
    print_run(outcome.suite, outcome.cases, form, verbose=verbose)
    if form != "text":
        return
    _output.print_place(outcome.path, verbose=verbose)
    missed = sum(
        case.reason is not None and case.reason.code == NOT_MEASURED for case in outcome.cases
    )
    if outcome.interrupted or missed:
        text = f"The time budget ended before {missed} cases were measured."
        text = "Interrupted." if outcome.interrupted else text
        say(f"{text} Go on with: coldwarm run --out {outcome.path} --resume")


def _is_idle(outcome: Outcome) -> bool:
    """Say whether not one case could be measured, for what was there before it was begun."""
    codes = {case.reason.code for case in outcome.suite.cases if case.reason is not None}
    done = outcome.interrupted or outcome.suite.n_ok or outcome.suite.n_failed
    return not done and not codes & {NOT_MEASURED, NOT_PROVED}


def _tell_why(outcome: Outcome) -> None:
    from coldwarm.report.sentences import with_advice

    reasons = [with_advice(one.reason) for one in outcome.suite.cases if one.reason is not None]
    say(f"coldwarm: nothing was measured: {' · '.join(dict.fromkeys(reasons))}", err=True)


def _code(outcome: Outcome) -> int:
    if outcome.interrupted:
        return ExitCode.INTERRUPTED
    if outcome.suite.n_failed:
        return ExitCode.FAILED
    return ExitCode.FINE if outcome.suite.n_ok else ExitCode.NOTHING_VALID
