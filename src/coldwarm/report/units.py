"""Numbers as people read them: two or three significant digits and a fitting unit.

Nothing here computes a result: a value only changes its unit. A positive value never reads as
zero, and what was not measured is ``MISSING``, never a number.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

MISSING = "–"
_DIGITS = 3

_SECONDS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"), (60.0, "min"), (3600.0, "h"))
_BYTES = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
_MINUTES_FROM = 1000.0
_HOURS_FROM = 6000.0
_PLAIN_FROM, _PLAIN_TO = -3, 5
_SMALLEST_PERCENT = 0.1
_LARGEST_PERCENT = 999
_LARGEST_FACTOR = 9999
_GROUPED_UP_TO = 10**7
_CLOSE_FACTOR, _FAR_FACTOR = 1.1, 2.0
_WIDE = 1.1
_FEW_DIGITS = 2
_HUNDRED = 100
_SECONDS_FROM = 100.0

Round = Literal["near", "down", "up"]
"""How what does not fit is rounded: the ends of an interval outward, so that the text of it holds
whatever the interval does."""
_ROUNDING = {"near": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}


def significant(value: float, digits: int = _DIGITS, *, to: Round = "near") -> str:
    """Write a number that is not negative with three significant digits, or as many as given.

    Below a thousandth and from a million up in powers of ten, as ``1.23e-05``.

    Raises:
        ValueError: the value is negative, infinite or not a number.
    """
    if not math.isfinite(value) or value < 0:
        message = f"only finite numbers from 0 up can be shown, not {value}"
        raise ValueError(message)
    if value == 0:
        return "0"
    number = _rounded(value, digits, to)
    exponent = number.adjusted()
    if not _PLAIN_FROM <= exponent <= _PLAIN_TO:
        return f"{number.scaleb(-exponent):.{digits - 1}f}e{exponent:+03}"
    return f"{number:.{max(digits - 1 - exponent, 0)}f}"


def interval(low: float, high: float, dash: str = "–", digits: int = _DIGITS) -> str:
    """Write the bounds of an interval, ``1.15–1.27``: rounded outward, so that none is left out.

    One value alone, as of a single round, is rounded as any other.

    Raises:
        ValueError: as ``significant``.
    """
    if low == high:
        return significant(low, digits)
    ends = significant(low, digits, to="down"), significant(high, digits, to="up")
    return dash.join(dict.fromkeys(ends))


def _digits(low: float, high: float) -> int:
    """Return how many digits tell an interval without widening it much."""
    return _FEW_DIGITS if high >= _WIDE * low else _DIGITS


def duration(seconds: float, *, to: Round = "near") -> str:
    """Write seconds as ``12.4 µs``, ``812 ms``, ``17.3 s``, ``20.5 min``.

    Raises:
        ValueError: as ``significant``.
    """
    if seconds == 0:
        return "0 s"
    shown = float(_rounded(seconds, _DIGITS, to))
    if shown >= _HOURS_FROM:
        unit = _SECONDS[5]
    elif shown >= _MINUTES_FROM:
        unit = _SECONDS[4]
    else:
        unit = _fitting(shown, _SECONDS[:4])
    return f"{significant(seconds / unit[0], to=to)} {unit[1]}"


def size(n_bytes: float) -> str:
    """Write bytes in decimal units, two digits below a hundred: ``312 MB``, ``1.2 GB``.

    Raises:
        ValueError: as ``significant``.
    """
    scale, name = (
        _fitting(float(_rounded(n_bytes, _DIGITS, "near")), _BYTES) if n_bytes else _BYTES[0]
    )
    digits = _DIGITS if n_bytes >= _HUNDRED * scale else _FEW_DIGITS
    return f"{significant(n_bytes / scale, digits)} {name}"


def table_unit(seconds: float) -> str:
    """Return the one unit for a table of parts whose largest figure is this: ms, or s."""
    return "s" if seconds >= _SECONDS_FROM else "ms"


def part(seconds: float, unit: str) -> str:
    """Write a part in a table's unit: ``0``, ``<1`` and ``512`` in ms, ``<0.1`` and ``7.3`` in s.

    Raises:
        ValueError: as ``significant``.
    """
    significant(seconds)
    text, least = (f"{1e3 * seconds:.0f}", "<1") if unit == "ms" else (f"{seconds:.1f}", "<0.1")
    if seconds == 0:
        return "0"
    return text if float(text) else least


def between(low: float, high: float) -> str:
    """Write a range of seconds in one unit, as ``16–20 s``, rounded outward.

    Raises:
        ValueError: as ``significant``.
    """
    unit = duration(high).split()[1]
    scale = next(size for size, name in _SECONDS if name == unit)
    return f"{interval(low / scale, high / scale, digits=_digits(low, high))} {unit}"


def spread(share: float) -> str:
    """Write a relative half-width in at most five characters: ``±2.1%``, ``±12%``, ``>999%``.

    Raises:
        ValueError: as ``significant``.
    """
    significant(share)
    percent = 100 * share
    if 0 < percent < _SMALLEST_PERCENT / 2:
        return f"<{_SMALLEST_PERCENT}%"
    if percent >= _LARGEST_PERCENT + 0.5:
        return f">{_LARGEST_PERCENT}%"
    one_decimal = f"{percent:.1f}"
    return f"±{one_decimal}%" if len(one_decimal) <= len("9.9") else f"±{percent:.0f}%"


_Direction = Literal["faster", "slower"]


def factor(low: float, high: float, direction: _Direction) -> str:
    """Write the bounds of a ratio of times as ``2.1–2.6× faster``: below 1 turned round.

    Raises:
        ValueError: a bound is not positive and finite.
    """
    if not all(math.isfinite(bound) and bound > 0 for bound in (low, high)):
        message = f"the bounds of a ratio of times are positive and finite, not {low} and {high}"
        raise ValueError(message)
    ends = (1 / high, 1 / low) if direction == "faster" else (low, high)
    digits = _digits(*ends) if ends[0] >= _FAR_FACTOR else _DIGITS
    if ends[1] <= _LARGEST_FACTOR:
        return f"{interval(*ends, digits=digits)}× {direction}"
    least = significant(ends[0], digits, to="down")
    return f"{f'{least}–' if ends[0] <= _LARGEST_FACTOR else ''}>{_LARGEST_FACTOR}× {direction}"


def times(number: float) -> str:
    """Write a factor as ``2.3×``; one near 1 as ``1.04×``.

    Raises:
        ValueError: as ``significant``.
    """
    if number > _LARGEST_FACTOR:
        return f">{_LARGEST_FACTOR}×"
    return f"{significant(number, _DIGITS if number < _CLOSE_FACTOR else _FEW_DIGITS)}×"


def count(number: int) -> str:
    """Write a number of calls: ``1,250``, from ten million up ``1.25e+07``."""
    return f"{number:,}" if number < _GROUPED_UP_TO else significant(float(number))


def from_calls(number: int) -> str:
    """Write from which call on something holds: ``from 1,250 calls on``."""
    return "from the first call on" if number == 1 else f"from {count(number)} calls on"


def clock(seconds: float) -> str:
    """Write seconds as a clock does: ``0:07``, ``12:03``, ``1:02:03``."""
    minutes, second = divmod(max(0, round(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _rounded(value: float, digits: int, to: Round) -> Decimal:
    """Round to the digits that are shown, so that 999.6 becomes 1000 before a unit is chosen."""
    return Context(prec=digits, rounding=_ROUNDING[to]).create_decimal(f"{value:.12g}")


def _fitting(value: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """Return the largest unit of which the value is at least one, else the smallest unit."""
    return max((unit for unit in units if unit[0] <= value), default=units[0])
