"""What was measured and where: the build that a trial is of, and the machine that it ran on.

Trials of different builds are different experiments. The build is a hash of all code that takes
part: coldwarm's, the subjects' and that which asks the tools, with the versions of the interpreter,
the frameworks and the tools. It does not change with documentation or with the table.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from coldwarm.runner import environment

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("src/coldwarm", "benchmarks/trial")
ASKING = ("settings.py", "tools.py", "peers.py")
VERSIONS = ("numpy", "jax", "torch", "numba", "pyperf", "pytest-benchmark")


def identify() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the records of the build and of the machine, each with its identity ``id``."""
    here = environment.collect()
    build = {
        "sources": sources(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in VERSIONS} | {"hyperfine": _hyperfine()},
    }
    machine = {
        "cpu": here.cpu.model,
        "cores": here.cpu.usable_cores,
        "virtualization": here.system.virtualization,
        "platform": here.platform,
    }
    commit = {"commit": here.harness.git_commit, "changed": here.harness.git_dirty}
    return {**_record("build", build), **commit}, _record("machine", machine)


def _record(name: str, facts: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(facts, sort_keys=True)
    return {"record": name, "id": hashlib.sha256(text.encode()).hexdigest()[:12], **facts}


def sources() -> str:
    """Return the hash of all code that a trial's result depends on."""
    files = [file for folder in SOURCES for file in (ROOT / folder).rglob("*")]
    files += [Path(__file__).parent / name for name in ASKING]
    total = hashlib.sha256()
    for file in sorted(files):
        if file.is_file() and "__pycache__" not in file.parts:
            total.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _hyperfine() -> str | None:
    program = shutil.which("hyperfine")
    if program is None:
        return None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"[\d.]+", said)
    return found[0] if found else None
