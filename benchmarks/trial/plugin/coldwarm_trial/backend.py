"""Two backends that differ in nothing: each runs its side of a trial.

``TRIAL_FILE`` is the file of the subject, ``TRIAL_A`` and ``TRIAL_B`` are the units of each side.
"""

import os

from coldwarm.backends.base import Backend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np


class SideA(Backend):
    """Runs side A, which the other is compared with."""

    name = "trial_a"
    framework = "trial_a"
    modules = ("numpy",)
    distributions = ("coldwarm-trial",)
    device_suffix = False
    sync_policy = "none needed: a call returns a finished array"

    def import_runtime(self) -> None:
        """Import the subject with all that it imports."""
        import importlib.util
        import sys

        spec = importlib.util.spec_from_file_location("trial_subject", os.environ["TRIAL_FILE"])
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["trial_subject"] = module
        spec.loader.exec_module(module)

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Return the arrays: the host's memory is the device's."""
        return tuple(arrays)

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the one output there is."""
        return [out]

    def versions(self) -> "dict[str, str]":
        """Return the version of what is measured."""
        import numpy as np

        return {"numpy": np.__version__}


class SideB(SideA):
    """Runs side B."""

    name = "trial_b"
    framework = "trial_b"
