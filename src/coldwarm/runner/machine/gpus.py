"""Whether a GPU may be used here, found out without asking a driver."""

from __future__ import annotations

import os
from pathlib import Path

_NODES = ("nvidia[0-9]*", "dxg", "kfd")
"""Of NVIDIA's driver, of Windows' for Linux, of AMD's."""


def may_be_used(devices: Path = Path("/dev")) -> bool:
    """Say whether there is a GPU that the environment does not hide."""
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}
    return not hidden and any(True for node in _NODES for _ in devices.glob(node))
