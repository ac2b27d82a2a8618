"""The harness's own sources, and what the interpreter that it measures with has installed.

That is found out once for a run, in one cheap process.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.errors import SystemRefusedError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.reasons import Reason
    from coldwarm.registry import BackendSpec, WorkloadSpec


PACKAGE = Path(__file__).resolve().parents[1]
_MEASURED = ("worker", "backends", "frameworks", "functions", "workloads")
"""The folders that measured processes load from."""
_HASHED = (*_MEASURED[:-1], "runner", "caches", "catalogue", "stats", "contracts")
"""The folders that count into the hash; a workload's file has a hash of its own."""


def _source_paths(folders: tuple[str, ...] = _HASHED) -> list[Path]:
    """Return the source files of folders, and of the messages that both sides exchange."""
    files = [path for folder in folders for path in (PACKAGE / folder).rglob("*.py")]
    return sorted([*files, PACKAGE / "wire.py"])


@cache
def harness_sha256() -> str:
    """Return the hash of the harness's own sources: each path's name and its bytes."""
    digest = hashlib.sha256()
    for path in _source_paths():
        name = str(path.relative_to(PACKAGE))
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


_PROBE = PACKAGE / "worker" / "probe.py"
_TIMEOUT_S = 60.0
MOST_TRIES = 3
"""How often a process is started that somebody else kills."""


@dataclass(frozen=True)
class _Availability:
    """Findings of the probe in the measuring interpreter."""

    modules: dict[str, bool]
    versions: dict[str, str | None]
    programs: dict[str, bool]
    """Programs that some backend needs, and whether they are on PATH."""
    gpus: int | None
    """NVIDIA GPUs that the driver counts; ``None``: nobody asked."""

    def reason_against(self, backend: BackendSpec, device: str) -> Reason | None:
        """Return why a backend cannot run on a device here; ``None``: it can."""
        for module in backend.modules:
            if not self.modules.get(module, False):
                return because("missing_dependency", name=module)
        for program in backend.programs(device):
            if not self.programs.get(program, False):
                return because("missing_dependency", name=program)
        if device == "gpu" and not self.gpus:
            return because("gpu_unavailable")
        return None

    def version(self, backend: BackendSpec) -> str | None:
        """Return the version of a backend's main distribution."""
        names = backend.distributions
        return self.versions.get(names[0]) if names else None


def _measured_files(
    backends: Iterable[BackendSpec], workloads: Iterable[WorkloadSpec]
) -> list[str]:
    """Return the files that measured processes load, so that they have bytecode."""
    declared = [backend.source.path for backend in backends]
    declared += [workload.source.path for workload in workloads]
    sources = [path for path in declared if path.suffix == ".py"]  # a user's may be a library
    return sorted({str(path) for path in (*_source_paths(_MEASURED), *sources)})


def probe(
    backends: Iterable[BackendSpec],
    workloads: Iterable[WorkloadSpec] = (),
    *,
    gpu: bool,
) -> _Availability:
    """Ask the measuring interpreter what it has; imports no framework there.

    Raises:
        SystemRefusedError: the interpreter cannot be started, or does not answer.
    """
    entries = list(backends)
    question = {
        "modules": sorted({name for entry in entries for name in entry.modules}),
        "distributions": sorted({name for e in entries for name in e.distributions}),
        "programs": sorted({name for e in entries for d in e.devices for name in e.programs(d)}),
        "gpu": gpu,
        "compile": _measured_files(entries, workloads),
    }
    try:
        return _Availability(**json.loads(_answer(json.dumps(question).encode())))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError) as error:
        text = printable(f"cannot ask {sys.executable} what is installed: {error}")
        raise SystemRefusedError(text) from error


def _answer(question: bytes) -> bytes:
    """Return what the probe prints; one that somebody killed is asked again."""
    done = _asked(question)
    for _ in range(MOST_TRIES - 1):
        if done.returncode < 0:
            done = _asked(question)
    done.check_returncode()
    return done.stdout


def _asked(question: bytes) -> subprocess.CompletedProcess[bytes]:
    # Where measured processes look for bytecode, which never have this variable.
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPYCACHEPREFIX"}
    return subprocess.run(
        [sys.executable, str(_PROBE)],
        input=question,
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
        env=variables,
    )
