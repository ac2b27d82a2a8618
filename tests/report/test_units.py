"""Numbers read well: three significant digits, a fitting unit, and never zero for something."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.report import units

SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.812, "812 ms"),
        (0.00163, "1.63 ms"),
        (12.4e-6, "12.4 µs"),
        (17.3, "17.3 s"),
        (0.0009996, "1.00 ms"),
        (0.9996, "1.00 s"),
        (7.3e-9, "7.30 ns"),
        (999.4, "999 s"),
        (999.6, "16.7 min"),
        (7200.0, "2.00 h"),
        (0.0, "0 s"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert units.duration(seconds) == text


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (312_400_000, "312 MB"),
        (999_999, "1.0 MB"),
        (39.9e6, "40 MB"),
        (0, "0 B"),
        (2.5e9, "2.5 GB"),
    ],
)
def test_size(n_bytes: float, text: str) -> None:
    assert units.size(n_bytes) == text


@given(st.floats(min_value=1e-9, max_value=3e6))
def test_duration_keeps_three_digits(seconds: float) -> None:
    check_three_digits(units.duration(seconds), seconds, SECONDS)


@given(st.floats(min_value=1.0, max_value=9e14))
def test_size_takes_little_room(n_bytes: float) -> None:
    number, unit = units.size(n_bytes).split(" ")
    assert float(number) * BYTES[unit] == pytest.approx(n_bytes, rel=0.051)
    assert len(f"{number} {unit}") <= len("312 MB")


def check_three_digits(text: str, value: float, scales: dict[str, float]) -> None:
    """Read a text back: it is the value within half a unit of its third digit."""
    number, unit = text.split(" ")
    assert len(re.sub(r"\D", "", number).lstrip("0")) == 3
    assert float(number) * scales[unit] == pytest.approx(value, rel=0.0051)
    assert len(text) <= len("1.63 min")


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_a_positive_value_never_reads_as_zero(value: float) -> None:
    assert float(units.significant(value)) > 0
    assert float(units.duration(value).split(" ")[0]) > 0
    assert re.search("[1-9]", units.spread(min(value, 1e9)))


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_what_is_no_measurement_is_refused(value: float) -> None:
    for write in (units.significant, units.duration, units.size, units.spread):
        with pytest.raises(ValueError, match="only finite numbers"):
            write(value)
    with pytest.raises(ValueError, match="ratio"):
        units.factor(value, value, "faster")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.021, "±2.1%"),
        (0.12, "±12%"),
        (0.0996, "±10%"),
        (0.0001, "<0.1%"),
        (2.5, "±250%"),
        (13.0, ">999%"),
    ],
)
def test_spread(share: float, text: str) -> None:
    assert units.spread(share) == text
    assert len(text) <= 5


def test_a_factor_is_told_by_its_bounds_turned_round_below_one() -> None:
    assert units.factor(1 / 2.6, 1 / 2.3, "faster") == "2.3–2.6× faster"
    assert units.factor(8.27, 9.91, "slower") == "8.2–10× slower"
    assert units.factor(1.152, 1.268, "slower") == "1.15–1.27× slower"
    assert units.factor(2.281, 2.309, "slower") == "2.28–2.31× slower"
    assert units.factor(1.043, 1.0431, "slower") == "1.04–1.05× slower"
    assert units.factor(1.037, 1.037, "slower") == "1.04× slower", "of one round"
    assert units.factor(1234.0, 1e7, "slower") == "1200–>9999× slower"
    assert units.factor(1e6, 1e7, "slower") == ">9999× slower"


@given(st.floats(min_value=1.001, max_value=9000), st.floats(min_value=1, max_value=1.5))
def test_the_text_of_an_interval_holds_all_of_it(low: float, wide: float) -> None:
    if low * wide == low:  # one value alone
        alone = float(units.factor(low, low, "slower").removesuffix("× slower"))
        assert abs(alone / low - 1) <= 0.005 + 1e-9
        assert float(units.interval(low, low)) == alone
        return
    ends = re.split("[–×]", units.factor(low, low * wide, "slower"))
    told = [float(end) for end in ends[:-1] if not end.startswith(">")]
    assert told[0] <= low * (1 + 1e-9)
    assert ends[1].startswith(">") or told[-1] >= low * wide * (1 - 1e-9)
    between = units.interval(low, low * wide).split("–")
    assert float(between[0]) <= low * (1 + 1e-9)
    assert float(between[-1]) >= low * wide * (1 - 1e-9)


def test_a_range_has_one_unit() -> None:
    assert units.between(16.04, 19.96) == "16–20 s"
    assert units.between(0.0161, 0.0162) == "16.1–16.2 ms"
    assert units.between(0.9, 1.2) == "0.90–1.2 s"
    assert units.between(2.0, 2.0) == "2.00 s"
    assert units.between(0.0, 0.0) == "0 s"


@pytest.mark.parametrize(
    ("seconds", "unit", "text"),
    [
        (0.0, "ms", "0"),
        (0.0004, "ms", "<1"),
        (0.0126, "ms", "13"),
        (20.041, "ms", "20041"),
        (0.0, "s", "0"),
        (0.04, "s", "<0.1"),
        (312.43, "s", "312.4"),
    ],
)
def test_part(seconds: float, unit: str, text: str) -> None:
    assert units.part(seconds, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(7, "0:07"), (723.4, "12:03"), (3723, "1:02:03"), (-0.2, "0:00")]
)
def test_clock(seconds: float, text: str) -> None:
    assert units.clock(seconds) == text
