"""``coldwarm noise``: what difference can be detected on this machine, and in what time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Measuring
from coldwarm.cli._options import say
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.runner.functions.bench import Part
    from coldwarm.runner.functions.noise import NoiseRequest, Regime


@click.command("noise", cls=Measuring)
@click.argument("target", required=False, metavar="[TARGET]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=WHAT", help="As for `bench`.")
@click.option(
    "--time",
    "time_s",
    type=_options.Duration(),
    default=60.0,
    show_default="60s",
    help="How long to measure: 60s, 5m.",
)
@_options.sync
@_options.cold_only
@_options.warm_only
@_options.threshold
@_options.seed
@_options.threads
@_options.output(*_output.EVERY_FORM, note=_output.NOTE)
def command(
    target: str | None,
    inputs: tuple[str, ...],
    time_s: float,
    sync: str | None,
    cold_only: bool,
    warm_only: bool,
    threshold: str,
    seed: int,
    threads: int | None,
    form: str,
) -> int:
    """Measure a program against itself: what difference can be trusted on this machine?

    Says how small a difference `coldwarm bench` can detect here in 10 s, 60 s and 10 min, as busy
    as the machine is now. TARGET is a function as for `bench`; without it, a NumPy function of
    about 0.3 ms. Exits with 4 where nothing valid was measured.
    """
    from coldwarm.report import noise as view
    from coldwarm.report.progress import open_progress
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner import recompute, temporary
    from coldwarm.runner.functions import bench, noise

    cold, warm = _options.regimes(cold_only=cold_only, warm_only=warm_only)
    measured: dict[Regime, bool] = {"warm": warm, "cold": cold}
    if inputs and target is None:
        raise click.UsageError("--input belongs to a TARGET; name one, or leave --input out")
    request = noise.NoiseRequest(
        target=target or noise.SAMPLE,
        inputs=inputs if target else (noise.SAMPLE_INPUT,),
        time_s=time_s,
        sync=sync,
        regimes=tuple(regime for regime, wanted in measured.items() if wanted),
        threshold=_options.relative("--threshold", threshold),
        seed=seed,
        threads=threads,
    )
    with (
        temporary.made() as folder,
        open_progress(PlainConsole(stderr=True)) as progress,
    ):
        parts = bench.run_each(request.benches(), folder, listener=progress)
        report = _report(request, parts)
    kept = recompute.keep_noise(report, _options.new_directory("noise"))
    _output.emit(form, report, lambda: view.document(report))
    if form == "table":
        say(f"Kept for `coldwarm compare`: {kept}", before="\n")
    if not report.complete:
        return ExitCode.INTERRUPTED
    valid = any(figure.pair_s is not None for figure in report.figures)
    return ExitCode.FINE if valid else ExitCode.NOTHING_VALID


def _report(request: NoiseRequest, parts: Sequence[Part]) -> NoiseReport:
    from coldwarm.contracts import codec
    from coldwarm.contracts.environment import Environment
    from coldwarm.runner.functions.noise import MOST_PAIRS
    from coldwarm.stats import noise

    first = parts[0].outcome
    place = codec.load_as(Environment, first.path / first.suite.environment_path)
    benches = [
        noise.EqualSides(part.outcome.suite, part.outcome.cases, part.total_s) for part in parts
    ]
    made = noise.report(request.name, place, benches, threshold=request.threshold, most=MOST_PAIRS)
    return codec.without_secrets(made)
