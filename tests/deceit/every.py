"""All deceits, found by scanning the folder of kinds."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.deceit.base import Deceit

KINDS = sorted(file.stem for file in (Path(__file__).parent / "kinds").glob("*.py"))


def deceits() -> list[Deceit]:
    """Return every deceit, by kind and in the order of their files."""
    return [one for kind in KINDS for one in import_module(f"tests.deceit.kinds.{kind}").DECEITS]
