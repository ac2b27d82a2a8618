"""``coldwarm compare``: two stored results, judged against each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.errors import ExitCode, NothingComparableError, UsageError

if TYPE_CHECKING:
    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.policy import Policy


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path), metavar="A")
@click.argument("b", type=click.Path(path_type=Path), metavar="B")
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="[KIND:]SHARE",
    help="Difference that matters: 3%, or for a kind of figure: cold:5%,warm:2%,memory:5%. "
    "Default: cold:10%,warm:5%,memory:10%.",
)
@click.option(
    "--fail-on",
    "failures",
    multiple=True,
    metavar="VERDICT[:SHARE]",
    help="Exit with 1 on such a verdict beyond this difference: slower:5%,more:10%. Verdicts: "
    "slower, faster (times), more, less (memory).",
)
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="TOML file with thresholds and limits by metric and case.",
)
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="FIELD",
    help="Compare although FIELD differs, with a warning: workload, backend, machine, threads, …; "
    "failed leaves out cases that failed.",
)
@click.option("--all", "everything", is_flag=True, help="Show also what is the same.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown", "github"]),
    default="table",
    show_default=True,
    help="github: annotations of a workflow.",
)
def command(
    *,
    a: Path,
    b: Path,
    thresholds: tuple[str, ...],
    failures: tuple[str, ...],
    policy: Path | None,
    allowed: tuple[str, ...],
    everything: bool,
    form: str,
) -> int:
    """Judge result B against result A: faster, slower, same or undecided.

    A and B are directories of runs, or files of single cases. Cases are matched by name. What
    must agree (workload, protocol, machine) and does not is refused; libraries may differ.

    Exit status: 0 fine, 1 a verdict beyond --fail-on or the policy, 2 refused or wrong usage,
    3 a broken artifact, 4 nothing valid to compare.
    """
    from coldwarm.contracts.files import reader
    from coldwarm.report import refusals
    from coldwarm.stats.compare import results

    limits = _policy(thresholds, failures, policy)
    fields = _parts(allowed, "--allow")
    second = reader.read(b)
    try:
        comparison = results.compare_results(reader.read(a), second, limits, fields)
    except results.RefusedError as error:
        raise UsageError(refusals.refused(error)) from None
    except results.NothingValidError as error:
        raise NothingComparableError(refusals.nothing_valid(error)) from None
    _show(comparison, second, form, everything=everything)
    return ExitCode.REGRESSION if comparison.n_failing else ExitCode.FINE


def _parts(values: tuple[str, ...], option: str) -> list[str]:
    """Let an option be given several times or with commas; one that says nothing is refused."""
    parts = [part.strip() for value in values for part in value.split(",")]
    if not all(parts):
        raise _wrong(option, "is empty: is a variable not set?")
    return parts


def _policy(thresholds: tuple[str, ...], failures: tuple[str, ...], path: Path | None) -> Policy:
    from coldwarm.contracts.files.policy_file import read_policy
    from coldwarm.contracts.policy import DIRECTIONS, KINDS, THRESHOLDS, Policy

    matters = dict(THRESHOLDS)
    given: set[str] = set()
    for part in _parts(thresholds, "--threshold"):
        kind, colon, text = part.rpartition(":")
        if colon and kind not in KINDS:
            raise _wrong("--threshold", f"{kind!r} is no kind of figure: {', '.join(KINDS)}")
        if kind in given:
            raise _wrong("--threshold", f"{kind or 'the one for all'} is given twice; give one")
        given.add(kind)
        named = [known for known in KINDS if kind in ("", known)]
        matters |= dict.fromkeys(named, _share("--threshold", text, zero=False))
    fails = {}
    for part in _parts(failures, "--fail-on"):
        name, colon, text = part.partition(":")
        direction = next((known for known in DIRECTIONS if known == name), None)
        if direction is None:
            raise _wrong("--fail-on", f"{name!r} is no verdict that can fail: {_words(DIRECTIONS)}")
        if direction in fails:
            raise _wrong("--fail-on", f"{name} is given twice; give one limit")
        fails[direction] = _share("--fail-on", text, zero=True) if colon else 0.0
    base = Policy(thresholds=matters, fail_on=fails)
    return base if path is None else read_policy(path, base)


def _words(names: tuple[str, ...]) -> str:
    return ", ".join(names)


def _share(option: str, text: str, *, zero: bool) -> float:
    from coldwarm.contracts.files.policy_file import share

    try:
        return share(text, zero=zero)
    except ValueError as error:
        raise _wrong(option, str(error)) from None


def _wrong(option: str, text: str) -> click.BadParameter:
    return click.BadParameter(text, param_hint=option)


def _show(comparison: RunComparison, second: Measured, form: str, *, everything: bool) -> None:
    from rich.console import Console

    from coldwarm.contracts.files import codec
    from coldwarm.report import compare, compare_text

    if form == "json":
        click.echo(codec.encode(comparison), nl=False)
    elif form == "markdown":
        click.echo(compare_text.markdown(comparison, everything=everything), nl=False)
    elif form == "github":
        click.echo(compare_text.github(comparison, second.files), nl=False)
    else:
        compare.render(comparison, Console(), everything=everything)
