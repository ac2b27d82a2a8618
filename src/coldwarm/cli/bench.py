"""``coldwarm bench``: measure functions of your own, side by side."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _command_bench, _options, _output
from coldwarm.cli._commands import Measuring, is_quiet, origins
from coldwarm.cli._options import say
from coldwarm.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.policy import Failing, Policy
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.document import Document
    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.ledger import Listener
    from coldwarm.runner.suite import Outcome


@click.command(
    "bench",
    cls=Measuring,
    example="coldwarm bench a.py:f b.py:f --input x=f32[512,512]",
)
@click.argument("targets", nargs=-1, metavar="[LABEL=]TARGET...")
@_command_bench.options
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=WHAT",
    help="x=f32[512,512]: random; with :uniform, :zeros, :ones or :range behind it: those. "
    "x=f32[512];[600]: a second shape too. n=3: a number. Types: f16 f32 f64 i8 i16 i32 i64 u8 "
    "bool c64 c128. Repeatable.",
)
@click.option(
    "--inputs-as",
    "placement",
    type=click.Choice(["numpy", "jax", "torch"]),
    metavar="NAME",
    help="numpy, jax or torch arrays. Default: as used.",
)
@click.option("--reference", metavar="LABEL", help="Function to compare with. Default: the first.")
@click.option("--no-check", is_flag=True, help="Do not check that the answers agree.")
@click.option(
    "--tolerance",
    type=_options.Finite(0.0, example=0.001),
    metavar="ERROR",
    help="Largest relative error. Default: by type.",
)
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a variable; LABEL:NAME=VALUE: for one.",
)
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="PATH",
    help="Python to use; LABEL:PATH: for one candidate.",
)
@click.option(
    "--sweep",
    "swept",
    multiple=True,
    metavar="RANGE",
    help="n=1e2:1e6: who wins at which n of x=f64[n,20].",
)
@click.option("--before", metavar="REV", help="Measure also the code of this git commit.")
@click.option("--after", metavar="REV", help="New commit. Default: the files as they are now.")
@_options.sync
@_options.cold_only
@_options.warm_only
@_options.time_budget("none")
@_options.rounds("3 (1 with a budget)", "12 (200 with a budget)")
@_options.threshold
@_options.fail_on("slower:2%,cold:undecided,programs:+0")
@_options.policy
@click.option(
    "--no-control",
    is_flag=True,
    help="With --before: measure its commit only once.",
)
@_options.seed
@_options.threads
@_options.timeout
@_options.leave_out_private
@_options.out("out/bench-TIME")
@_options.verbose
@_options.output(*_output.EVERY_FORM)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FORM=FILE",
    help="Write a file too: json, markdown or github.",
)
@click.pass_context
def _command(ctx: click.Context, /, **given: Any) -> int:  # noqa: ANN401 - options come by name
    """Compare functions of your own: first results and later calls.

    TARGET is FILE.py:NAME, FILE.py:OBJECT.METHOD or PACKAGE.MODULE:NAME; FILE.py alone stands for
    its functions marked with @coldwarm.workload. LABEL= gives it another name. Its arguments come
    from --input; or name a function without arguments that returns (function, (argument, ...)).
    To fail a CI build when a commit is slower, use --before and --fail-on.
    """
    from coldwarm.contracts import codec
    from coldwarm.report import bench as words
    from coldwarm.report.progress import open_progress
    from coldwarm.report.sentences import with_advice
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.functions import bench
    from coldwarm.stats.bench_report import bench_report

    typed = _given(ctx)
    _command_bench.refuse_others(given, typed)
    if given["command"]:  # defaults of a file are those of functions
        own = given if "failures" in typed else {**given, "failures": ()}
        limits, guarded = _options.split_counts(own["failures"])
        if guarded:
            counts = ", ".join(guarded)
            raise UsageError(f"--fail-on: of programs these are not counted; remove {counts}")
        return _command_bench.run(own, _policy({**own, "policy": None}, limits))
    verdicts, guarded = _options.split_counts(given["failures"])
    policy = replace(_policy(given, verdicts), counts=guarded)
    request = _request(given, origins(ctx), _limits(policy))
    if given["swept"]:
        return _sweep(given, request)
    files = _output.files_by_form(given["reports"])
    out_dir = given["out"] or _options.new_directory("bench")
    with open_progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
        outcome = bench.run(request, out_dir, listener=progress)
    report, plan = bench_report(outcome.suite, outcome.cases, str(outcome.path), policy)
    report = codec.without_secrets(report)

    def document(form: str) -> Document:
        return words.document(
            report,
            outcome.suite,
            outcome.cases,
            plan,
            verbose=given["verbose"],
            ratios=form == "markdown",
        )

    for form, path in files.items():
        _output.write_text(path, _output.text_of(form, report, partial(document, form)))
    _output.emit(given["form"], report, partial(document, given["form"]))
    if given["form"] == "text":
        _output.print_place(outcome.path, verbose=given["verbose"])
    code = _code(report, outcome)
    if code == ExitCode.FINE and given["failures"] and (cases := _unjudged(outcome)):
        for case in cases:
            why = "not measured; give a longer --time-budget"
            why = why if case.reason is None else with_advice(case.reason)
            say(f"coldwarm: --fail-on judges nothing of {case.candidate}: {why}", err=True)
        return ExitCode.NOTHING_VALID
    if code in {ExitCode.FINE, ExitCode.REGRESSION} and len(report.candidates) > 1:
        _options.refuse_unheard(guarded, report.counts)
    return code


def _given(ctx: click.Context) -> dict[str, str]:
    """Return the options that were typed: by name of their value, as they are written."""
    named = {one.name: one.opts for one in ctx.command.params if isinstance(one, click.Option)}
    return {
        str(name): max(opts, key=len)
        for name, opts in named.items()
        if (source := ctx.get_parameter_source(str(name))) and source.name == "COMMANDLINE"
    }


_ONE_SIZE = {
    "before": "before",
    "after": "after",
    "failures": "fail-on",
    "policy": "policy",
    "no_control": "no-control",
    "reports": "report",
    "max_rounds": "max-rounds",
}
"""Options that a sweep does not have, by the name of their value."""


def _sweep(given: dict[str, Any], request: Request) -> int:
    """Measure at several sizes, and print who is the cheapest at which.

    Raises:
        UsageError: an option is for one size alone, or as ``SizeSweep.run`` does.
    """
    from coldwarm.contracts import codec
    from coldwarm.report import sweep as words
    from coldwarm.report.progress import open_progress
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.functions import bench, sweep
    from coldwarm.stats.answers import FEWEST_ROUNDS

    def measure(request: Request, folder: Path, listener: Listener) -> Outcome:
        return bench.run(request, folder, listener=listener)

    dimensions = sweep.parse(given["swept"])
    swept = sweep.SizeSweep(request, dimensions, measure, given["time_budget"])
    alone = next((option for name, option in _ONE_SIZE.items() if given[name]), None)
    if alone is None and given["threads"] and sweep.THREADS in dimensions.fixed:
        alone = "threads"
    if alone is not None:
        raise UsageError(f"--{alone} does not go with this --sweep; remove one of them")
    if 0 < (given["rounds"] or FEWEST_ROUNDS) < FEWEST_ROUNDS:
        raise UsageError(f"--rounds {given['rounds']}: each size of a sweep needs {FEWEST_ROUNDS}")
    out_dir = given["out"] or _options.new_directory("bench")
    with open_progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
        ended = swept.run(out_dir, progress)
    report = codec.without_secrets(ended.report)
    _output.emit(given["form"], report, lambda: words.document(report))
    if given["form"] == "text" and not is_quiet():
        say(f"Artifacts, and the place to go on from with --out: {out_dir}", before="\n")
    if ended.interrupted:
        return ExitCode.INTERRUPTED
    if any(one.n_failed for one in report.points):
        return ExitCode.FAILED
    known = any(one.call or one.start for one in report.points)
    return ExitCode.FINE if known else ExitCode.NOTHING_VALID


def _request(
    given: dict[str, Any], option_origins: dict[str, str], limits: dict[str, float]
) -> Request:
    from coldwarm.runner.functions import targets

    cold, warm = _options.regimes(cold_only=given["cold_only"], warm_only=given["warm_only"])
    _options.require_order(given["rounds"], given["max_rounds"])
    return targets.Request(
        targets=given["targets"],
        inputs=given["inputs"],
        placement=given["placement"],
        reference=given["reference"],
        check=not given["no_check"],
        tolerance=given["tolerance"],
        sync=given["sync"],
        pythons=given["pythons"],
        variables=given["variables"],
        before=given["before"],
        after=given["after"],
        control=bool(given["failures"]) and not given["no_control"],
        judged=bool(given["failures"]) or given["policy"] is not None,
        options=targets.options(
            cold=cold,
            warm=warm,
            time_budget_s=given["time_budget"],
            min_runs=given["rounds"],
            max_runs=given["max_rounds"],
            threshold=given["threshold"],
            limits=limits,
            seed=given["seed"],
            threads=given["threads"],
            timeout_s=given["timeout"],
            leave_out_private=given["leave_out_private"],
            option_origins=option_origins,
        ),
    )


def _policy(given: dict[str, Any], failures: Sequence[str]) -> Policy:
    """Return what fails, by kind of figure and by the rules of a file."""
    from coldwarm.contracts.policy import KINDS, Policy, read_policy

    names: tuple[Failing, ...] = ("slower", "faster", "undecided")
    of_all, of_kind = _options.failures_by_kind(failures, names, KINDS[:2])
    base = Policy(dict.fromkeys(KINDS, given["threshold"]), of_all, of_kind)
    return base if given["policy"] is None else read_policy(given["policy"], base)


def _limits(policy: Policy) -> dict[str, float]:
    """Return by kind of figure the difference that a build is guarded at.

    None where a file has rules for single figures: these are measured as without limits.
    """
    from coldwarm.contracts.policy import KINDS

    if policy.rules:
        return {}
    asked = {kind: policy.limits("", "", kind) for kind in KINDS[:2]}
    return {
        kind: max(one.threshold, min(one.fail_on.values()))
        for kind, one in asked.items()
        if one.fail_on
    }


def _unjudged(outcome: Outcome) -> list[CaseResult]:
    """Return the candidates that have no verdict, not even an open one."""
    others = [case for case in outcome.cases if not case.baseline and case.control_of is None]
    return [case for case in others if not case.comparisons]


def _code(report: BenchReport, outcome: Outcome) -> int:
    if outcome.interrupted:
        return ExitCode.INTERRUPTED
    if outcome.suite.n_failed:
        return ExitCode.FAILED
    if not any(one.ttfr or one.call for one in report.candidates):
        return ExitCode.NOTHING_VALID
    return ExitCode.REGRESSION if report.n_failing else ExitCode.FINE
