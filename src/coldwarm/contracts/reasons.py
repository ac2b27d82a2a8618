"""Reasons as data: every caution, rejection, limitation and refusal.

A reason is a code with parameters. Each feature declares its codes in its module ``reasons``. No
module chooses by the words. The name of a parameter states its unit and with it its type; without a
unit it is a text.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from string import Formatter
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import Record
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Value = str | int | float | list[str]

_UNITS: dict[str, tuple[type, ...]] = {
    "_s": (float, int),
    "_share": (float, int),
    "_ratio": (float, int),
    "_processors": (float, int),
    "_per_s": (float, int),
    "_bytes": (int,),
    "_names": (list,),
}
"""By the end of a parameter's name: seconds, a share (0.05 is 5 %), a ratio, processors, a rate,
bytes, several texts. A name that begins with ``n_`` is a count."""


class Codes(NamedTuple):
    """Declarations of a feature, by code."""

    reasons: Mapping[str, str]
    """The words."""
    advice: Mapping[str, str] = {}
    """Advice to a person."""
    parameters: Mapping[str, str] = {}
    """The names, where the words do not have all of them in this order."""


@dataclass(frozen=True)
class _Said:
    """The declaration of a code."""

    sentence: str
    """Without a full stop. ``{parts}`` are the reasons that it rests on. After a colon: how a value
    is written, a format of Python's own, or ``# process`` for a counted noun."""
    advice: str
    """Advice to a person."""
    ordered: str
    """The parameters, where the words do not have all of them in this order."""

    @cached_property
    def types(self) -> dict[str, tuple[type, ...]]:
        """The types of each parameter, in the order in which a brief text has them."""
        parsed = Formatter().parse(f"{self.sentence} {self.advice}")
        names = self.ordered.split() or [name for _, name, _, _ in parsed if name]
        return {name: _types(name) for name in names if name != "parts"}


_DECLARED: dict[str, _Said] = {}
_READING = RLock()


def declare(codes: Codes) -> None:
    """Take the codes of a feature.

    Raises:
        ValueError: another feature has one of them.
    """
    for code, sentence in codes.reasons.items():
        if code in _DECLARED:
            message = f"the code {code!r} is declared twice"
            raise ValueError(message)
        advice, ordered = codes.advice.get(code, ""), codes.parameters.get(code, "")
        _DECLARED[code] = _Said(sentence, advice, ordered)


# What a plug-in, a framework or the system said in words of its own; several at once.
declare(Codes({"stated": "{text}", "several": "{parts}"}))


@cache
def _left() -> list[str]:
    """Return the modules with a table that was not read yet; what seldom occurs stands first."""
    root = Path(__file__).parents[1]
    files = [*sorted(root.glob("*/*/reasons.py"), reverse=True), *sorted(root.glob("*/reasons.py"))]
    return [".".join([root.name, *one.relative_to(root).with_suffix("").parts]) for one in files]


def declared(code: str) -> _Said:
    """Return what is declared of a code, by the feature that has it.

    Raises:
        KeyError: none has it.
    """
    with _READING:
        while code not in _DECLARED and _left():
            import_module(_left().pop())
    return _DECLARED[code]


def every_code() -> list[str]:
    """Return the codes of all features."""
    with suppress(KeyError):
        declared("")  # reads every table, to find that none has it
    return sorted(_DECLARED)


class Reason(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One reason: ``values`` are the parameters that its code has, by name."""

    code: str
    values: dict[str, Value] = {}
    parts: list[Reason] = []
    """Parts of ``several``, or the reasons that this one rests on."""

    def __post_init__(self) -> None:
        """Refuse a code that is not declared, or other parameters than it has."""
        try:
            types = declared(self.code).types
        except KeyError:
            message = f"no reason has the code {self.code!r}; was it written by a later coldwarm?"
            raise ValueError(message) from None
        if self.values.keys() != types.keys():
            message = (
                f"the reason {self.code!r} has the parameters {[*types]}, not {[*self.values]}"
            )
            raise ValueError(message)
        for name, value in self.values.items():
            if isinstance(value, bool) or not isinstance(value, types[name]):
                message = f"{name} of the reason {self.code!r} cannot be {value!r:.60}"
                raise ValueError(message)  # noqa: TRY004 - msgspec turns a ValueError into its own

    def __str__(self) -> str:
        """Return the code and its values: a short text that no rewording changes."""
        return brief(self)


def is_wrong(reason: Reason | None) -> bool:
    """Say whether it is of a wrong answer, or of one that nobody can check: no time is told."""
    return reason is not None and reason.code in _WRONG


_WRONG = {"correctness_gate", "not_reproducible", "reference_not_reproducible"}


def because(code: str, /, *parts: Reason, **values: Value) -> Reason:
    """Return a reason.

    Raises:
        ValueError: the code is not declared, or has other parameters.
    """
    return Reason(code=code, values=values, parts=list(parts))


def missing(values: Mapping[str, object], reason: Reason) -> dict[str, Reason]:
    """Return the reason under the name of every value that is ``None``."""
    return {name: reason for name, value in values.items() if value is None}


def brief(reason: Reason) -> str:
    """Return ``code``, or ``code: value, value``, as published contracts have it."""
    texts = [_text(reason.values[name]) for name in declared(reason.code).types]
    if reason.parts:
        texts.append("; ".join(map(brief, reason.parts)))
    return f"{reason.code}: {', '.join(texts)}" if texts else reason.code


def distinct(reasons: Iterable[Reason]) -> list[Reason]:
    """Return each reason once, in the order of first appearance."""
    return list({brief(reason): reason for reason in reasons}.values())


def together(reasons: Iterable[Reason]) -> Reason:
    """Return several reasons as one; one alone as it is."""
    parts = distinct(reasons)
    return parts[0] if len(parts) == 1 else because("several", *parts)


def _types(name: str) -> tuple[type, ...]:
    if name.startswith("n_"):
        return (int,)
    return next((types for unit, types in _UNITS.items() if name.endswith(unit)), (str,))


def _text(value: Value) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


class RefusedError(UsageError):
    """Something asked for is refused; its words are written where it is shown."""

    def __init__(self, reason: Reason) -> None:
        """Keep the reason."""
        super().__init__(brief(reason))
        self.reason = reason
