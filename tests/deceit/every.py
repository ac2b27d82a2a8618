"""All deceits, found by scanning the folder of kinds."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.deceit.base import Deceit

KINDS = sorted(file.stem for file in (Path(__file__).parent / "kinds").glob("*.py"))


def by_kind() -> dict[str, list[Deceit]]:
    """Return every deceit by kind, in the order of their files."""
    return {kind: import_module(f"tests.deceit.kinds.{kind}").DECEITS for kind in KINDS}


def deceits() -> list[Deceit]:
    """Return every deceit, by kind and in the order of their files."""
    return [one for of in by_kind().values() for one in of]
