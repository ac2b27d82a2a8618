"""What is particular to ``torch.compile`` in what is compiled again. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Seen

    Code = tuple[object, ...]


def code_of(function: Mapping[str, Any]) -> Code:
    """Return what tells a function that was compiled from others: its name, file and line."""
    return function.get("name"), function.get("path"), function.get("line")


def limits_of(seen: Seen) -> dict[Code, Reason]:
    """Return the functions that are compiled no more: as often as PyTorch's limit lets them be."""
    return {
        code_of(row["function"]): because(
            "doctor_gave_up", n_programs=row["limit"], setting=row["setting"]
        )
        for row in seen.of_kind("limit")
    }


def code_of_value(written: str) -> str:
    """Return which words fit an argument whose value is a part of what is compiled."""
    try:
        float(written)
    except ValueError:
        return "doctor_no_tensor"
    return "doctor_number"


def in_guard(
    differing: Sequence[Mapping[str, str]], guard: str | None
) -> Sequence[Mapping[str, str]]:
    """Return those of the differences that PyTorch's failed guard names; all, if it names none.

    A number that is an argument may differ and be no reason: PyTorch makes many of them dynamic.
    """
    named = [one for one in differing if guard and _names(guard, one["argument"])]
    return named or differing


def _names(guard: str, argument: str) -> bool:
    return bool(argument) and bool(re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", guard))
