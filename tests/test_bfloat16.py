"""A run in bfloat16, which NumPy lacks: the same numbers everywhere, and a baseline that has it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.contracts import nextstat

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "attention_block_64_bf16"
COMMAND = (sys.executable, "-m", "coldwarm")


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


@pytest.mark.slow
def test_every_backend_that_has_it_is_right_on_the_same_numbers(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("jax", reason="jax is not installed")
    plan = ("--deterministic", "--rounds", "1", "--cache-mode", "cold_process_cold_cache")
    backends = ("--backend", "torch_eager_cpu,jax_jit_cpu")
    out = tmp_path / "out"
    run = [*COMMAND, "run", "--case", GROUP, *backends, *plan, "--out", str(out)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "attention_block · 64 · bf16" in done.stdout
    assert "vs torch_eager_cpu: " in done.stdout
    cases = {path.stem: read(path) for path in (out / "cases").glob("*.json")}
    assert cases.keys() == {f"torch_eager_cpu_{GROUP}", f"jax_jit_cpu_{GROUP}"}
    assert {case["baseline"] for case in cases.values()} == {True, False}
    assert len({case["dataset_sha256"] for case in cases.values()}) == 1
    for case in cases.values():
        assert (case["status"], case["dtype"]) == ("ok", "bf16")
        gate = case["observations"][0]["gate"]
        assert gate["passed"]
        assert gate["max_relative_error"] > 1e-4, "it was computed in something longer"
    assert read(out / "nextstat" / nextstat.INDEX)["cases"] == [], "the contract has no word for it"
    check = [*COMMAND, "validate", str(out)]
    assert subprocess.run(check, capture_output=True, check=False).returncode == 0
