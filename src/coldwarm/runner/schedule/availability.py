"""Which cases can run here, found out once for the suite, in one cheap process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.errors import ColdwarmError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.reasons import Reason
    from coldwarm.registry import BackendEntry, WorkloadEntry

_PACKAGE = Path(__file__).resolve().parents[2]
_PROBE = _PACKAGE / "worker" / "probe.py"
_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Availability:
    """What the probe found in the measuring interpreter."""

    python: str
    modules: dict[str, bool]
    versions: dict[str, str | None]
    programs: dict[str, bool]
    """Programs that some backend needs, and whether they are on PATH."""
    gpus: int | None
    """NVIDIA GPUs that the driver counts; ``None``: nobody asked."""

    def reason_against(self, backend: BackendEntry, device: str) -> Reason | None:
        """Return why a backend cannot run on a device here; ``None``: it can."""
        for module in backend.kind.modules:
            if not self.modules.get(module, False):
                return because("missing_dependency", name=module)
        for program in backend.kind.programs(device):
            if not self.programs.get(program, False):
                return because("missing_dependency", name=program)
        if device == "gpu" and not self.gpus:
            return because("gpu_unavailable")
        return None

    def version(self, backend: BackendEntry) -> str | None:
        """Return the version of a backend's main distribution."""
        names = backend.kind.distributions
        return self.versions.get(names[0]) if names else None


def measured_files(
    backends: Iterable[BackendEntry], workloads: Iterable[WorkloadEntry]
) -> list[str]:
    """Return the files that measured processes load, so that they have bytecode."""
    folders = ("worker", "backends", "functions", "workloads")
    own = [path for folder in folders for path in (_PACKAGE / folder).rglob("*.py")]
    declared = [entry.source.path for entry in backends]
    declared += [entry.source.path for entry in workloads]
    own.append(_PACKAGE / "wire.py")
    own += [path for path in declared if path.suffix == ".py"]  # a user's may be a library
    return sorted({str(path) for path in own})


def probe(
    backends: Iterable[BackendEntry],
    workloads: Iterable[WorkloadEntry] = (),
    *,
    gpu: bool,
    python: str = sys.executable,
) -> Availability:
    """Ask the measuring interpreter what it has; imports no framework there.

    Raises:
        ColdwarmError: the interpreter does not answer.
    """
    entries = list(backends)
    question = {
        "modules": sorted({name for entry in entries for name in entry.kind.modules}),
        "distributions": sorted({name for e in entries for name in e.kind.distributions}),
        "programs": sorted(
            {name for e in entries for d in e.kind.devices for name in e.kind.programs(d)}
        ),
        "gpu": gpu,
        "compile": measured_files(entries, workloads),
    }
    # Without the variable, the probe may write the bytecode that later processes read.
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    try:
        done = subprocess.run(
            [python, str(_PROBE)],
            input=json.dumps(question).encode(),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
            env=variables,
        )
        return Availability(**json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError) as error:
        text = f"cannot ask {python} what is installed: {error}"
        raise ColdwarmError(text) from error
