"""The subject under pyperf: ``python with_pyperf.py --subject base -o base.json``."""

import argparse

import numpy as np
import pyperf
import subject  # type: ignore[import-not-found]  # it lies beside this file


def pass_on(command: list[str], given: argparse.Namespace) -> None:
    """Tell a worker process which function it is about."""
    command.extend(("--subject", given.subject))


if __name__ == "__main__":
    runner = pyperf.Runner(add_cmdline_args=pass_on)
    runner.argparser.add_argument("--subject", choices=("base", "more"), required=True)
    function = getattr(subject, runner.parse_args().subject)
    runner.bench_func("work", function, np.linspace(0.0, 1.0, subject.LENGTH))
