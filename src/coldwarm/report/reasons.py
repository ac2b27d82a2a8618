"""The words of every reason: the one place where codes become sentences."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any

from coldwarm.report import units

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.reasons import Reason

WORDS: dict[str, str] = {
    "stated": "{text}",
    "several": "{parts}",
    # Processes, caches and the machine.
    # Statistics.
    # Frameworks and a user's own functions.
}
"""By code, the sentence. ``{parts}`` are the reasons that it rests on. After a colon: how a value
is written, one of ``WRITTEN``, a format of Python's own, or ``# process`` for a counted noun."""

ADVICE: dict[str, str] = {
    # Processes, caches and the machine.
    # Statistics.
    # Frameworks and a user's own functions.
}
"""By code, what a person can do about it."""

WRITTEN: dict[str, Callable[[float], str]] = {
    "duration": units.duration,
    "size": units.size,
    "spread": units.spread,
    "times": units.times,
}


def words(reason: Reason) -> str:
    """Return a reason as a sentence without a full stop."""
    parts = "; ".join(map(words, reason.parts))
    return _WORDS.format(WORDS[reason.code], **reason.values, parts=parts)


def advice(reason: Reason) -> str:
    """Return what a person can do about it; empty where nothing is known."""
    return _WORDS.format(ADVICE.get(reason.code, ""), **reason.values)


def with_advice(reason: Reason) -> str:
    """Return the sentence, and after a semicolon what to do."""
    return "; ".join(filter(None, (words(reason), advice(reason))))


class _Words(Formatter):
    """Writes values with their units."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - as the base has it
        if isinstance(value, list):
            return ", ".join(value)
        if format_spec.startswith("# "):
            return counted(value, format_spec[2:])
        write = WRITTEN.get(format_spec)
        return str(super().format_field(value, format_spec)) if write is None else write(value)


_WORDS = _Words()


def counted(number: int, noun: str) -> str:
    """Return ``1 process``, ``2 processes``."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('s') else 's'}"
