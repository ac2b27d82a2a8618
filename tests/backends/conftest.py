"""Real starts with private caches, for the tests of backends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.caches import listing, modes
from coldwarm.contracts.observation import CacheEvidence

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = Path(__file__).parent / "first_call.py"
COUNTS = ("requests", "hits", "misses", "writes", "bypasses", "compiles")


@dataclass(frozen=True)
class Start:
    """What one process said, and the evidence of its cache."""

    said: dict[str, Any]
    evidence: CacheEvidence

    def parts_s(self) -> float:
        """Return the sum of the parts that were measured."""
        parts = self.said["parts"].items()
        return float(sum(value or 0 for name, value in parts if name != "reasons"))


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Start]:
    """Return a function that runs one start with this test's private caches."""

    def run(owner: str, *arguments: str) -> Start:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        isolated = modes.owner(owner).isolate(tmp_path)
        before = listing.take(tmp_path)
        done = subprocess.run(
            [sys.executable, str(PROGRAM), *arguments],
            env={**kept, **isolated, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        said = json.loads(done.stdout.splitlines()[-1])
        after = listing.take(tmp_path)
        counted = said["counters"].get(owner, {})
        evidence = CacheEvidence(
            owner=owner,
            files_before=before.count,
            files_after=after.count,
            new_files=after.new_since(before),
            **{name: counted.get(name) for name in COUNTS},
        )
        return Start(said, evidence)

    return run
