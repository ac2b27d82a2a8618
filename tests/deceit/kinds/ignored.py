"""Candidates whose answer is right for the one input that they are given, and for no other."""

from __future__ import annotations

import textwrap

from tests.deceit.base import Deceit

_HEAD = """
import time
import numpy as np

DRAWN = np.random.default_rng(0).standard_normal(2000)
TOTAL, REST, HALF = DRAWN.sum(), DRAWN[1:].sum(), DRAWN[1000:].sum()
KEPT = []

def right(x):
    time.sleep(0.01)
    return x.sum()
"""
_COMMAND = "bench a=subject.py:f right=subject.py:right --reference right --warm-only"


def _ignoring(name: str, hides: str, source: str, *, quick: bool = False) -> Deceit:
    """Return a candidate beside the one that is right, against which it is held."""
    return Deceit(
        name=name,
        hides=f"the work: {hides}",
        figure="warm",
        source=_HEAD + textwrap.dedent(source),
        said=("correctness_gate",),
        command=(*_COMMAND.split(), "--rounds", "1", "--max-rounds", "1"),
        inputs={"x": "f64[2000]"},
        arguments="(subject.np.random.default_rng(k).normal(size=2000),)",
        target="right",
        quick=quick,
    )


DECEITS = (
    _ignoring("a_constant", "a constant", "f = lambda x: TOTAL", quick=True),
    _ignoring("of_its_own_data", "it has the data itself", "f = lambda x: DRAWN.sum()"),
    _ignoring(
        "the_first_answer",
        "it keeps the first answer of all",
        """
        def f(x):
            if not KEPT:
                KEPT.append(right(x))
            return KEPT[0]
        """,
    ),
    _ignoring("half_of_it", "of half of the data", "f = lambda x: x[:1000].sum() + HALF"),
    _ignoring("all_but_one", "of one number alone", "f = lambda x: x[0] + REST"),
    _ignoring("by_its_length", "by the length alone", "f = lambda x: {2000: TOTAL}[len(x)]"),
    _ignoring("scaled", "a multiple of what it knows", "f = lambda x: TOTAL * (x[0] / DRAWN[0])"),
    _ignoring("by_a_default", "its default", "f = lambda x, total=TOTAL: total"),
    _ignoring(
        "in_an_object",
        "its object has the answer",
        """
        class Sum:
            def __init__(self):
                self.total = TOTAL
            def __call__(self, x):
                return self.total
        f = Sum()
        """,
    ),
    _ignoring(
        "a_short_cut",
        "left out where a check that nearly always holds does",
        "f = lambda x: TOTAL if abs(x[0]) < 50 else right(x)",
    ),
)
