"""What is particular to ``torch.compile`` in what is compiled again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping
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
