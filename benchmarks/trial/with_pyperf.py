"""Warm work under pyperf: ``python with_pyperf.py --kind jax --units 200 --shape 96 -o a.json``."""

import argparse

import pyperf
from subject import timed  # type: ignore[import-not-found]  # it lies beside this file

ASKED = ("kind", "units", "shape")


def pass_on(command: list[str], given: argparse.Namespace) -> None:
    """Tell a worker process which function it is about."""
    for name in ASKED:
        command.extend((f"--{name}", getattr(given, name)))


if __name__ == "__main__":
    runner = pyperf.Runner(add_cmdline_args=pass_on)
    for asked in ASKED:
        runner.argparser.add_argument(f"--{asked}", required=True)
    told = runner.parse_args()
    runner.bench_func("work", timed(told.kind, told.units, told.shape))
