"""``coldwarm compare``: two stored results, judged against each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Command
from coldwarm.errors import ExitCode, ListedError, NothingComparableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.policy import Policy
    from coldwarm.contracts.result import Benchmarks, Measured


@click.command("compare", cls=Command, example="coldwarm compare out/before out/after")
@click.argument("a", metavar="RESULT_A[,...]")
@click.argument("b", metavar="RESULT_B[,...]")
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="SHARE",
    help="Smallest difference that matters: 3% or 0.03 for all, or by kind of figure. Default: "
    "cold:10%,warm:5%,memory:10%.",
)
@_options.fail_on("slower:5%,more:10%,programs:+0")
@_options.policy
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="FIELD",
    help="Compare although this field differs, such as machine or threads. failed: leave out cases "
    "that failed.",
)
@click.option(
    "--noise",
    "noises",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Report of `coldwarm noise`. Default: those in out/ and in the folder around RESULT_A "
    "that are of this machine.",
)
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="NAME=NAME",
    help="Compare these two benchmarks of other tools' files.",
)
@_options.verbose
@_options.output(*_output.EVERY_FORM)
def _command(
    *,
    a: str,
    b: str,
    thresholds: tuple[str, ...],
    failures: tuple[str, ...],
    policy: Path | None,
    allowed: tuple[str, ...],
    noises: tuple[Path, ...],
    pairs: tuple[str, ...],
    verbose: bool,
    form: str,
) -> int:
    """Compare result B with result A: faster, slower, same or undecided.

    A result is a folder of `coldwarm run` or `bench`, a snapshot of one, the file of a case, or a
    JSON file of pyperf, hyperfine or pytest-benchmark. Cases of one name are compared, of two
    sweeps those of the same size. Workload, options and machine must be the same; libraries may
    differ.

    With several runs of each side, A1,A2,A3 B1,B2,B3, smaller differences can be shown.
    """
    from coldwarm.contracts.result import Measured
    from coldwarm.report import comparison_text as words

    verdicts, guarded = _options.split_counts(failures)
    limits = replace(_policy(thresholds, verdicts, policy), counts=guarded)
    fields = _options.parts(allowed, "--allow")
    first, second = ([_read(path) for path in _paths(side)] for side in (a, b))
    runs = [one for one in (*first, *second) if isinstance(one, Measured)]
    if len(runs) == len(first) + len(second):
        _refuse(pairs, "--pair", "belongs to files of other tools; cases are matched by name")
    else:
        _refuse(noises, "--noise", "is of runs of coldwarm; give several files a side: A1,A2 B1,B2")
    comparison = judged(first, second, limits, fields, noises or None, pairs)
    for one in runs:
        _output.tell(one.path, one.otherwise)
    files = next((one.files for one in second if isinstance(one, Measured)), {})
    _output.emit(form, comparison, lambda: words.document(comparison, files, everything=verbose))
    _options.refuse_unheard(guarded, comparison.counts)
    return ExitCode.REGRESSION if comparison.n_failing else ExitCode.FINE


def _read(path: Path) -> Measured | Benchmarks:
    """Read a result, or all sizes of a sweep as one."""
    from coldwarm.cli._results import run_in
    from coldwarm.integrations import formats
    from coldwarm.runner import sweep_results

    found = run_in(path)
    return sweep_results.as_one(found) if sweep_results.is_sweep(found) else formats.read(found)


def _refuse(given: Sequence[object], option: str, why: str) -> None:
    if given:
        raise _options.wrong(option, why)


def judged(
    first: Sequence[Measured | Benchmarks],
    second: Sequence[Measured | Benchmarks],
    limits: Policy,
    allowed: Sequence[str],
    noises: Sequence[Path] | None = None,
    pairs: Sequence[str] = (),
) -> RunComparison:
    """Judge B against A; nothing in what is returned is secret.

    Where one of them at least is of another tool, all are compared as benchmarks.

    Raises:
        ListedError: they cannot be compared as they are.
        UsageError: a pair or a field names nothing.
        NothingComparableError: they have no valid figure, or no benchmark, in common.
    """
    from coldwarm.contracts import codec
    from coldwarm.contracts.result import Measured
    from coldwarm.integrations import formats
    from coldwarm.report import comparison_text
    from coldwarm.runner import recompute
    from coldwarm.stats import compared_results

    a, b = ([one for one in side if isinstance(one, Measured)] for side in (first, second))
    try:
        if (len(a), len(b)) == (len(first), len(second)):
            reports = recompute.read_noise(noises, [Path(run.path).parent for run in a])
            comparison = compared_results.compare_results(a, b, limits, allowed, reports=reports)
        else:
            before, now = (
                [formats.benchmarks_of(one) if isinstance(one, Measured) else one for one in side]
                for side in (first, second)
            )
            comparison = compared_results.compare_results(before, now, limits, allowed, pairs=pairs)
    except compared_results.IncomparableError as error:
        raise ListedError(comparison_text.refused(error)) from None
    except compared_results.NothingValidError as error:
        raise NothingComparableError(comparison_text.nothing_valid(error)) from None
    return codec.without_secrets(comparison)


def _paths(text: str) -> list[Path]:
    """Return the runs of a side; a name may hold a comma."""
    if Path(text).exists():
        return [Path(text)]
    return [_options.input_path(part) for part in _options.parts([text], "RESULT_A and RESULT_B")]


def _policy(thresholds: tuple[str, ...], failures: Sequence[str], path: Path | None) -> Policy:
    from coldwarm.contracts.policy import FAILING, KINDS, THRESHOLDS, Policy, read_policy

    matters = dict(THRESHOLDS)
    given: set[str] = set()
    for part in _options.parts(thresholds, "--threshold"):
        kind, colon, text = part.rpartition(":")
        if colon and kind not in KINDS:
            text = f"{kind!r} is no kind of figure: {', '.join(KINDS)}"
            raise _options.wrong("--threshold", text)
        if kind in given:
            text = f"{kind or 'the one for all'} is given twice; give one"
            raise _options.wrong("--threshold", text)
        given.add(kind)
        named = [known for known in KINDS if kind in ("", known)]
        matters |= dict.fromkeys(named, _options.relative("--threshold", text))
    base = Policy(thresholds=matters, fail_on=_options.failures(failures, FAILING))
    return base if path is None else read_policy(path, base)
