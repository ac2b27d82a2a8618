"""The files of a snapshot that the reports render."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.publish.create import View


def available() -> Mapping[str, View]:
    """Return what renders each such file, by its path as ``coldwarm.publish.layout`` has it."""
    return {}
