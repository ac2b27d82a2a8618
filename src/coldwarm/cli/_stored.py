"""What commands say of stored results that are not what today's rules make of their samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.cli._options import say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.errors import ContractError


def tell(path: Path | str, otherwise: Sequence[ContractError]) -> None:
    """Say, beside what is shown, how many stored values are not shown and not proved."""
    if not otherwise:
        return
    values = "value" if len(otherwise) == 1 else "values"
    text = (
        f"coldwarm: {path} says that another version of coldwarm measured it: {len(otherwise)} "
        f"stored {values} not proved and not shown, as today's rules make other ones of its "
        f"samples; the first is {otherwise[0]}"
    )
    say(text, err=True)
