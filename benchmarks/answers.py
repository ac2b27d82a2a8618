"""How often answers hold: ten results are simulated, of which the truth is known.

Run with ``python -m benchmarks.answers [--trials N] [--save]``. Each result is a group of
candidates with what a start takes, with empty and with filled caches, and what a warm call does.
Processes are drawn around that, as records of a run; the answer is computed from these by
``coldwarm.stats.answers`` as for every run. It holds where none of its ranges, in any of its
readings, leaves out the candidate that is truly the cheapest there. Rows are results, columns
numbers of rounds. Beside it: at how many of the numbers of calls, evenly on a log scale from 1 to a
million, a candidate is named.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.coverage import NOISE
from msgspec.structs import replace
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from tests.contracts import samples

from coldwarm.contracts.base import EMPTY, FILLED, WARM
from coldwarm.contracts.observation import Block, Judgement, Observation, Phase
from coldwarm.contracts.reasons import because
from coldwarm.stats.answers import answer
from coldwarm.stats.costs import FEWEST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coldwarm.contracts.answer import Answer, ByCalls
    from coldwarm.contracts.base import Reading
    from coldwarm.contracts.result import CaseResult

    Draw = Callable[[int], float]
    Lines = Mapping[str, tuple[float, float]]
    """By candidate, what a start takes, and a warm call, in seconds."""

Floats = NDArray[np.float64]
SAVED = Path(__file__).parent / "results" / "answers.json"
TRIALS = 400
SEED = 12
"""Not that by which the rule for few rounds was chosen, which was 11."""
ROUNDS = (2, 3, 5, 8, 12, 20)
COMMON = 0.2
"""Deviation of what slows down everything in a round."""
WITHIN = 0.002
"""Of a process's samples."""
_WIDTH = 100
_SWEPT = np.unique(np.geomspace(1, 1e6, 60).astype(int)).tolist()
_AROUND = range(-2, 4)
_ALIKE = 1e-9
_PROVED = Judgement(proved=True, reason=because("stated", text="simulated"))


@dataclass(frozen=True)
class Costs:
    """What a candidate truly costs, in seconds."""

    imports: float
    first: float
    """The first call with empty caches."""
    filled: float
    """And with filled ones."""
    call: float

    def line(self, reading: Reading) -> tuple[float, float]:
        """Return what the start of a reading takes, and a warm call."""
        starts: dict[Reading, float] = {
            "process": self.imports + self.first,
            "imported": self.first,
            "cached": self.imports + self.filled,
        }
        return starts[reading], self.call


@dataclass(frozen=True)
class Result:
    """A simulated result: its candidates, and how their processes scatter."""

    candidates: Mapping[str, Costs]
    noise: str = "log-normal"
    lacking: float = 0.0
    """Share of the rounds in which the last candidate has no process."""


_PLAIN, _JIT = Costs(0.1, 0.02, 0.02, 0.02), Costs(0.6, 0.4, 0.1, 0.01)
_PAIR = {"plain": _PLAIN, "jit": _JIT}
_QUICK = {
    "numpy": Costs(0.08, 0.01, 0.01, 0.0013),
    "eager": Costs(0.5, 0.05, 0.04, 0.0021),
    "jit": Costs(0.5, 0.2, 0.06, 0.0008),
    "torch": Costs(1.1, 0.01, 0.01, 0.0014),
    "compile": Costs(1.2, 12.0, 1.5, 0.0009),
    "numba": Costs(0.3, 1.1, 0.2, 0.0013),
}
RESULTS: dict[str, Result] = {
    "two that cross": Result(_PAIR),
    "two that cross, bursts": Result(_PAIR, "bursts"),
    "two that cross, two speeds": Result(_PAIR, "two modes"),
    "two that cross, drift": Result(_PAIR, "drifting"),
    "three that take turns": Result(
        {**_PAIR, "slow start": Costs(0.6, 8.0, 1.0, 0.004)}, "two modes"
    ),
    "three that meet at once": Result(
        {"plain": _PLAIN, "half": Costs(0.4, 0.16, 0.06, 0.0151), "jit": _JIT}, "log-normal"
    ),
    "four that are equal": Result(dict.fromkeys(("a", "b", "c", "d"), _PLAIN)),
    "two, one hardly cheaper": Result({"a": _PLAIN, "b": Costs(0.1002, 0.02004, 0.02004, 0.02004)}),
    "two that cross late": Result(
        {"plain": _PLAIN, "jit": Costs(0.6, 0.4, 0.1, 0.0198)}, "bursts", lacking=0.25
    ),
    "six, as in a suite": Result(_QUICK, "bursts"),
}


def wrong(by: ByCalls, lines: Lines) -> bool:
    """Say whether a range leaves out the candidate that is the cheapest there."""
    return any(
        _cost(lines, one.among, calls) > _cost(lines, lines, calls) * (1 + _ALIKE)
        for one in by.ranges
        for calls in [*_looked_at(lines), one.from_calls, one.to_calls or 10**12]
        if one.from_calls <= calls <= (one.to_calls or calls)
    )


def _cost(lines: Lines, among: list[str] | Lines, calls: int) -> float:
    """Return what the cheapest of these truly costs."""
    later = max(calls - 1, 0)
    return min(lines[name][0] + later * lines[name][1] for name in among)


def _looked_at(lines: Lines) -> set[int]:
    """Return numbers of calls over the whole range, and those around which two lines cross."""
    known = [*lines.values()]
    crossings = [
        1 + (ours[0] - theirs[0]) / (theirs[1] - ours[1])
        for place, ours in enumerate(known)
        for theirs in known[:place]
        if ours[1] != theirs[1]
    ]
    return {*_SWEPT, *(max(1, round(n) + d) for n in crossings if n < 1e12 for d in _AROUND)}


def held(result: Result, *, n_rounds: int, trials: int, seed: int) -> float:
    """Return the share of trials in which no range of the answer leaves out the cheapest."""
    return simulate(result, n_rounds, trials, seed)[0]


def simulate(result: Result, n_rounds: int, trials: int, seed: int) -> tuple[float, float]:
    """Return that, and the share of numbers of calls at which a candidate is named."""
    rng = np.random.default_rng([n_rounds, trials, seed])
    right, named = 0, 0.0
    for _ in range(trials):
        found = answer(_drawn(result, n_rounds, rng))
        right += not any(wrong(by, _lines(result, by)) for by in found.by_calls)
        named += _named(found)
    return right / trials, named / trials


def _lines(result: Result, by: ByCalls) -> Lines:
    return {name: costs.line(by.reading) for name, costs in result.candidates.items()}


def _named(found: Answer) -> float:
    by = found.reading("process")
    return 0.0 if by is None else sum(by.cheapest_at(n) is not None for n in _SWEPT) / len(_SWEPT)


def _drawn(result: Result, n_rounds: int, rng: np.random.Generator) -> list[CaseResult]:
    """Return the cases of a run with so many rounds."""
    common = np.exp(COMMON * rng.standard_normal(n_rounds))
    draw = partial(NOISE[result.noise], rng, n_rounds)
    last = [*result.candidates][-1]
    lacks = rng.random(n_rounds) < result.lacking
    cases: list[CaseResult] = []
    for name, costs in result.candidates.items():
        seen = _observed(costs, common, draw, rng)
        kept = [one for one in seen if not (name == last and lacks[one.round])]
        made = samples.case(kept, (EMPTY, FILLED, WARM), case=name, candidate=name)
        cases.append(replace(made, baseline=not cases))
    return cases


def _observed(
    costs: Costs, common: Floats, draw: Callable[[], Floats], rng: np.random.Generator
) -> list[Observation]:
    """Return a process with empty caches and its warm calls, and one with filled, of each round."""
    starts = {EMPTY: costs.first, FILLED: costs.filled}
    found = []
    warm = common * draw()
    for mode, first_s in starts.items():
        slowness = common * draw()
        for place, slow in enumerate(slowness.tolist()):
            call_s = float(costs.call * warm[place])
            found.append(
                samples.observation(
                    mode,
                    round=place,
                    order=2 * place,
                    phases=[
                        Phase(name="wrap", start_s=0.0, duration_s=0.0),
                        Phase(name="first_call", start_s=0.1, duration_s=first_s * slow),
                        Phase(name="second_call", start_s=9.0, duration_s=call_s),
                    ],
                    ttfr_s=(costs.imports + first_s) * slow,
                    ttfr_process_s=(costs.imports + first_s) * slow,
                    also_modes=[WARM] if mode == EMPTY else [],
                    judgements={mode: _PROVED, WARM: _PROVED},
                    blocks=_blocks(call_s, rng) if mode == EMPTY else [],
                )
            )
    return found


def _blocks(call_s: float, rng: np.random.Generator) -> list[Block]:
    noise = 1 + WITHIN * rng.exponential(size=(FEWEST, 2))
    return [
        Block(order=place, start_s=10.0 + place, batch=1, samples_s=part.tolist(), compiles=0)
        for place, part in enumerate(call_s * noise)
    ]


def main() -> int:
    """Simulate, print the table and return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each figure")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--result", action="append", choices=RESULTS, help="only this; repeat")
    parser.add_argument("--save", action="store_true", help=f"write {SAVED.name} as well")
    asked = parser.parse_args()
    shown = Table(title="answers that hold, and calls told, in %", title_justify="left", box=None)
    shown.add_column("result")
    for n in ROUNDS:
        shown.add_column(str(n), justify="right")
    rows = []
    for name in asked.result or RESULTS:
        found = {n: simulate(RESULTS[name], n, asked.trials, asked.seed) for n in ROUNDS}
        shown.add_row(name, *(f"{100 * a:.1f} {100 * b:.0f}" for a, b in found.values()))
        print(name, [f"{100 * a:.1f}" for a, _ in found.values()], file=sys.stderr)
        rows.append(
            {
                "result": name,
                "noise": RESULTS[name].noise,
                "trials": asked.trials,
                "seed": asked.seed,
                "held": {str(n): share for n, (share, _) in found.items()},
                "told": {str(n): share for n, (_, share) in found.items()},
            }
        )
    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH)
    console.print(shown)
    if asked.save:
        known = json.loads(SAVED.read_text(encoding="utf-8")) if SAVED.exists() else []
        by_name = {row["result"]: row for row in (*known, *rows)}
        whole = [by_name[name] for name in RESULTS if name in by_name]
        SAVED.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
