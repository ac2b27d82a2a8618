"""Footnotes: each text once, numbered in the order of first mention."""

from __future__ import annotations

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Notes:
    """Collects footnotes over all tables of one report."""

    def __init__(self) -> None:
        """Start with none."""
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text, a new one where it was not yet mentioned."""
        return self._numbers.setdefault(text, len(self._numbers) + 1)

    def texts(self) -> list[tuple[int, str]]:
        """Return all numbers with their texts, in order."""
        return [(number, text) for text, number in self._numbers.items()]


def superscript(numbers: tuple[int, ...]) -> str:
    """Write footnote marks as raised digits: ``¹,³``."""
    return ",".join(str(number) for number in sorted(numbers)).translate(_SUPERSCRIPTS)
