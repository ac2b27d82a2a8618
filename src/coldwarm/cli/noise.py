"""``coldwarm noise``: what difference can be detected on this machine, and in what time."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Measuring, is_quiet
from coldwarm.cli._options import say
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.runner.ledger import Listener
    from coldwarm.runner.suite import Outcome


_SAMPLE = f"{Path(__file__).resolve().parents[1] / 'functions' / 'sample.py'}:work"
"""Program measured where no other is named."""
_SAMPLE_NAME, _SAMPLE_INPUT = "coldwarm.functions.sample:work", "x=f64[8192]"


@click.command("noise", cls=Measuring, example="coldwarm noise --time-budget 60s")
@click.argument("target", required=False, metavar="[TARGET]")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=WHAT",
    help="An argument of TARGET, such as x=f32[512] or n=3; as in `bench`.",
)
@click.option(
    "--time-budget",
    type=_options.Duration(),
    metavar="TIME",
    default=60.0,
    help="Time for the whole command, such as 15s, 4m or 1h. Default: 60s.",
)
@_options.sync
@_options.cold_only
@_options.warm_only
@_options.threshold
@_options.seed
@_options.threads
@_options.out("out/noise-TIME")
@_options.output(*_output.EVERY_FORM)
def _command(
    target: str | None,
    inputs: tuple[str, ...],
    time_budget: float,
    sync: str | None,
    cold_only: bool,
    warm_only: bool,
    threshold: float,
    seed: int,
    threads: int | None,
    out: Path | None,
    form: str,
) -> int:
    """Measure how small a difference this machine can show.

    A function is compared with itself, so what differs is noise. The smallest differences that
    `coldwarm bench` could detect in 10 s, 60 s and 10 min are printed, for the machine as busy as
    it is now. TARGET is a function as in `bench`; without it, a NumPy function of about 0.3 ms.
    """
    from coldwarm.report import noise as view
    from coldwarm.report.progress import open_progress
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner import recompute
    from coldwarm.runner.functions import targets

    cold, warm = _options.regimes(cold_only=cold_only, warm_only=warm_only)
    measured: dict[Literal["warm", "cold"], bool] = {"warm": warm, "cold": cold}
    if inputs and target is None:
        raise click.UsageError("--input belongs to a TARGET; name one, or leave --input out")
    if target is not None:
        targets.Request(targets=[target]).parsed()  # so that an error has it as it was typed
    folder = out or _options.new_directory("noise")
    with open_progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
        report = _measure(
            target,
            inputs,
            [regime for regime, wanted in measured.items() if wanted],
            time_s=time_budget,
            threshold=threshold,
            sync=sync,
            seed=seed,
            threads=threads,
            listener=progress,
        )
    kept = recompute.keep_noise(report, folder)
    _output.emit(form, report, lambda: view.document(report))
    if form == "text" and not is_quiet():
        say(f"Kept for `coldwarm compare`: {kept}", before="\n")
    if not report.complete:
        return ExitCode.INTERRUPTED
    valid = any(figure.pair_s is not None for figure in report.figures)
    return ExitCode.FINE if valid else ExitCode.NOTHING_VALID


def _measure(
    target: str | None,
    inputs: Sequence[str],
    regimes: Sequence[Literal["warm", "cold"]],
    *,
    time_s: float,
    threshold: float,
    sync: str | None,
    seed: int,
    threads: int | None,
    listener: Listener,
) -> NoiseReport:
    """Bench a program against itself, one regime after the other; return what that can tell.

    ``time_s``: for all regimes together.

    Raises:
        As ``bench.run`` does.
    """
    from coldwarm.contracts import codec
    from coldwarm.contracts.environment import Environment
    from coldwarm.runner import temporary
    from coldwarm.runner.functions import bench, targets
    from coldwarm.stats import noise

    benches: list[tuple[Outcome, float]] = []
    with temporary.made() as folder:
        for regime in regimes:
            began_s = time.perf_counter()
            options = targets.options(
                cold=regime == "cold",
                warm=regime == "warm",
                time_budget_s=time_s / len(regimes),
                seed=seed,
                threads=threads,
            )
            request = targets.Request(
                targets=[f"{side}={target or _SAMPLE}" for side in ("A", "B")],
                inputs=inputs if target else (_SAMPLE_INPUT,),
                sync=sync,
                name="noise",
                # No verdict and no precision ends it: all of the time is to be used.
                options=replace(options, decide=None, precision=0.0),
            )
            outcome = bench.run(request, folder / regime, listener=listener)
            benches.append((outcome, time.perf_counter() - began_s))
            if outcome.interrupted:
                break
        first = benches[0][0]
        place = codec.load_as(Environment, first.path / first.suite.environment_path)
    report = noise.report(
        target or _SAMPLE_NAME,
        place,
        [noise.EqualSides(one.suite, one.cases, total_s) for one, total_s in benches],
        threshold=threshold,
        most=targets.MOST_RUNS,
    )
    return codec.without_secrets(report)
