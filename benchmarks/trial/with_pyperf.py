"""Warm work under pyperf: ``python with_pyperf.py --units 200 -o a.json``."""

import argparse

import numpy as np
import pyperf
import work_numpy  # type: ignore[import-not-found]  # it lies beside this file


def pass_on(command: list[str], given: argparse.Namespace) -> None:
    """Tell a worker process which function it is about."""
    command.extend(("--units", given.units))


if __name__ == "__main__":
    runner = pyperf.Runner(add_cmdline_args=pass_on)
    runner.argparser.add_argument("--units", required=True)
    function = getattr(work_numpy, f"units_{runner.parse_args().units}")
    runner.bench_func("work", function, np.linspace(0.0, 1.0, 1024))
