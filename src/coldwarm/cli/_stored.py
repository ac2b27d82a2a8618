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
    from coldwarm.report.provenance import sentence

    text = f"coldwarm: {path}: {sentence(len(otherwise))}; the first is {otherwise[0]}"
    say(text, err=True)
