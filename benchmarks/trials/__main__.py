"""A/A and A/B trials: how often does a tool call a difference that is none, or miss one?

``python -m benchmarks.trials --for 60m`` runs them for so long, ``--table`` prints what is known,
``--check`` measures the true ratios without coldwarm. A trial measures A and B with one tool, as a
user would with its commands, and keeps what the tool says of B.

**Kinds.** Functions ``units_N`` that do N times the same work (``benchmarks/trial``): NumPy on one
thread, BLAS on all, JAX, eager PyTorch, Numba; and starts, with each framework, that have about
10 % more to do before their first result. Equal sides are the same function twice; otherwise one
side, drawn anew each time, does 2.5, 3 or 5 % more.

**Tools.** *coldwarm bench* on all of them; *coldwarm run* on those of NumPy, as a plug-in of two
backends; others as ``peers.py`` says.

**Order.** Trials go in rounds: one of everything asked for, in an order drawn anew, so that drift
of the machine falls on all alike, and a stop at any moment leaves counts that differ by one round.
Each is written down as it ends, and what is there counts: the same command goes on.

**Thrown away.** A trial begins when others leave the processors alone. One during which they used
more than a quarter of a processor is thrown away, whatever was said in it: it is written down with
the reason, listed under the table, and made again. ``--throw-away SINCE UNTIL REASON`` does so
afterwards, for what began between two dates. A trial whose tool comes to no answer has failed; it
counts, and three in a row end the run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import rich_click as click
from benchmarks.trials import collecting, identity, journal, table
from benchmarks.trials.settings import KINDS, TOOLS, possible

from coldwarm.cli import _options

OUT = Path(__file__).resolve().parent.parent / "results" / "trials.jsonl"
EFFECTS = sorted({effect for tool in TOOLS.values() for effect in tool.effects})
COUNT = 20


def main() -> int:
    """Do what the options say."""
    given = _parser().parse_args()
    try:
        if given.table:
            print(table.markdown(journal.read(given.out)), end="")
            return 0
        if given.throw_away:
            since, until, reason = given.throw_away
            line = {"record": "removal", "since": since, "until": until, "reason": reason}
            journal.append(given.out, line)
            return 0
        settings = possible(given.tools, given.kinds, given.effects, given.neighbours)
        if not settings:
            sys.exit("none of these tools can be tried so")
        if "hyperfine" in (given.tools or TOOLS) and not shutil.which("hyperfine"):
            print("hyperfine is not installed: its trials are left out", file=sys.stderr)
        who = identity.identify()
        if given.check:
            return collecting.check(given.out, settings, who)
        asked = collecting.Asked(settings, given.count, given.limit_s)
        return collecting.collect(given.out, asked, who)
    except journal.MixedError as error:
        sys.exit(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trials")
    add = parser.add_argument
    add("--for", dest="limit_s", type=seconds, metavar="60m", help="default: until all are there")
    add("--count", type=int, default=COUNT, help="rounds, those in FILE included; default: 20")
    add("--tools", nargs="+", choices=tuple(TOOLS), help="default: all")
    add("--kinds", nargs="+", choices=tuple(KINDS), help="default: all")
    add("--effects", nargs="+", type=float, choices=EFFECTS, help="default: all")
    add("--neighbours", nargs="+", choices=("none", "bursty"), default=["none"])
    add("--out", type=Path, default=OUT, metavar="FILE", help="one JSON line for each trial")
    add("--check", action="store_true", help="measure the true ratios without coldwarm")
    add("--table", action="store_true", help="print what FILE holds, and run nothing")
    add("--throw-away", nargs=3, metavar=("SINCE", "UNTIL", "REASON"), help="dates as in FILE")
    return parser


def seconds(text: str) -> float:
    """Return a duration such as ``90s``, ``60m`` or ``2h`` in seconds."""
    try:
        return _options._seconds(text)
    except click.BadParameter as error:
        raise argparse.ArgumentTypeError(error.message) from None


if __name__ == "__main__":
    sys.exit(main())
