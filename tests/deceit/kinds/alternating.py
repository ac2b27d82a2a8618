"""Calls that do not all cost the same: the median of them tells of some alone."""

from __future__ import annotations

from tests.deceit.base import UNEVEN, Deceit

_HEAD = """
    import random
    import time

    CALLS = [0]
"""


def _uneven(name: str, hides: str, body: str, calls: int = 40, **more: object) -> Deceit:
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    return Deceit(
        name=name,
        hides=hides,
        figure="warm",
        said=UNEVEN,
        calls=calls,
        mean=True,
        here=True,
        source=f"{_HEAD}\n    def f():\n        CALLS[0] += 1\n{lines}\n        return 1.0\n",
        **more,  # type: ignore[arg-type]
    )


DECEITS = (
    _uneven(
        "one_call_in_ten",
        "nine tenths of the work: one call in ten does all of it",
        "time.sleep(0.05 if CALLS[0] % 10 == 0 else 0.001)",
        quick=True,
    ),
    _uneven(
        "one_call_in_three",
        "two of three calls are quick",
        "time.sleep(0.03 if CALLS[0] % 3 == 0 else 0.001)",
        calls=30,
    ),
    _uneven(
        "one_call_in_five_by_chance",
        "one call in five is slow, by chance",
        "time.sleep(0.03 if random.random() < 0.2 else 0.001)",
        calls=150,
    ),
    _uneven(
        "one_short_call_in_fifty",
        "of many short calls one in fifty is long: a batch of them would even it out",
        "if CALLS[0] % 50 == 0: time.sleep(0.01)",
        calls=200,
    ),
    _uneven(
        "slower_with_each_call",
        "calls that become slower: a longer run has another figure",
        "time.sleep(min(0.0005 * CALLS[0], 0.05))",
        calls=100,
    ),
    _uneven(
        "quick_when_called_again_at_once",
        "calls that are quick within a millisecond of the last one",
        "now = time.monotonic()\n"
        "if now - CALLS[-1] > 0.001: time.sleep(0.03)\n"
        "CALLS[1:] = [time.monotonic()]",
        calls=12,
        ending="",
        truth="""
            import subject, time
            for k in range(12):
                time.sleep(0.003)
                mark()
                subject.f()
                mark()
        """,
    ),
    _uneven(
        "quick_for_the_first_hundred",
        "calls that are slow from the hundredth on",
        "time.sleep(0.03 if CALLS[0] > 100 else 0.0005)",
        calls=300,
    ),
)
