"""The share done moves with each process, and never backwards."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coldwarm.report.progress import _Share


def test_it_counts_until_there_is_an_estimate() -> None:
    share = _Share()
    assert share.value == 0
    share.plan(4)
    share.ended()
    assert share.value == 0.25
    share.estimated(0.4)
    assert share.value == 0.4
    share.ended()
    assert abs(share.value - 0.6) < 1e-9


def test_what_is_beyond_the_plan_is_said() -> None:
    share = _Share()
    share.plan(1)
    share.ended()
    assert (share.value, share.beyond) == (1.0, False)
    share.ended()
    assert (share.value, share.beyond) == (1.0, True)


@given(st.integers(0, 20), st.lists(st.none() | st.floats(0, 1), max_size=40))
def test_it_never_goes_backwards(planned: int, events: list[float | None]) -> None:
    share = _Share()
    share.plan(planned)
    last = 0.0
    for event in events:
        if event is None:
            share.ended()
        else:
            share.estimated(event)
        assert last <= share.value <= 1
        last = share.value
