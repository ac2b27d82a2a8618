"""Why something is so: every reason, caution, rejection, limitation and refusal, as data.

A reason is a code with parameters. Its words stand in ``coldwarm.report.reasons`` and nowhere
else, and no module chooses by them. ``CODES`` declares the parameters of each code. A parameter's
name states its unit and with it its type: see ``UNITS``; whatever has no unit is a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = str | int | float | list[str]

UNITS: dict[str, tuple[type, ...]] = {
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

CODES: dict[str, str] = {
    # What a plug-in, a framework or the operating system said in words of its own.
    "stated": "text",
    # Several reasons at once: its parts.
    "several": "",
    # Processes, caches and the machine.
    # Statistics.
    # Frameworks and a user's own functions.
}
"""By code, the names of its parameters."""


class Reason(Record, frozen=True, kw_only=True):
    """One reason: ``values`` are the parameters that ``CODES`` declares for the code."""

    code: str
    values: dict[str, Value] = {}
    parts: list[Reason] = []
    """Of ``several``, or the reasons that this one rests on."""

    def __post_init__(self) -> None:
        """Refuse a code that is not declared, or other parameters than it has."""
        declared = CODES.get(self.code)
        if declared is None:
            message = f"no reason has the code {self.code!r}; was it written by a later coldwarm?"
            raise ValueError(message)
        names = declared.split()
        if self.values.keys() != set(names):
            message = f"the reason {self.code!r} has the parameters {names}, not {[*self.values]}"
            raise ValueError(message)
        for name, value in self.values.items():
            if isinstance(value, bool) or not isinstance(value, _types(name)):
                message = f"{name} of the reason {self.code!r} cannot be {value!r:.60}"
                raise ValueError(message)  # noqa: TRY004 - msgspec turns a ValueError into its own

    def __str__(self) -> str:
        """Return the code and its values: a short text that no rewording changes."""
        return brief(self)


def because(code: str, /, *parts: Reason, **values: Value) -> Reason:
    """Return a reason.

    Raises:
        ValueError: the code is not declared, or has other parameters.
    """
    return Reason(code=code, values=values, parts=list(parts))


def brief(reason: Reason) -> str:
    """Return ``code``, or ``code: value, value``, as published contracts have it."""
    told = [_text(reason.values[name]) for name in CODES[reason.code].split()]
    if reason.parts:
        told.append("; ".join(map(brief, reason.parts)))
    return f"{reason.code}: {', '.join(told)}" if told else reason.code


def distinct(reasons: Iterable[Reason]) -> list[Reason]:
    """Return each reason once, in the order of first appearance."""
    return list({brief(reason): reason for reason in reasons}.values())


def _types(name: str) -> tuple[type, ...]:
    if name.startswith("n_"):
        return (int,)
    return next((types for unit, types in UNITS.items() if name.endswith(unit)), (str,))


def _text(value: Value) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
