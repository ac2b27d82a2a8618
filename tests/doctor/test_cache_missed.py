"""A cache that is there and not found: named with what differs, and nobody else accused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.cache.test_check import JITTED, NO_XLA_CACHES, filled
from tests.doctor.test_watching import doctor

if TYPE_CHECKING:
    from pathlib import Path

SLOWLY = "    for _ in range(900):\n        x = jnp.sin(x) @ x.T\n    return x"
PROGRAM = JITTED.read_text(encoding="utf-8").replace("    return jnp.sin(x) @ x.T", SLOWLY)
"""It compiles for about a second."""


def found(tmp_path: Path, source: str = PROGRAM) -> list[dict[str, Any]]:
    report, _ = doctor(source, tmp_path)
    account = report["account"]
    assert account["compile_s"] + account["cache_s"] > 0
    return [one for one in report["findings"] if one["pattern"] == "cache-missed"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that a program has filled, as a person sets it."""
    program = tmp_path / "fills.py"
    program.write_text(PROGRAM, encoding="utf-8")
    folder = filled(tmp_path / "kept", program, **NO_XLA_CACHES)
    for path in folder.iterdir():
        os.utime(path, (1.7e9, 1.7e9))
    settings = {"JAX_COMPILATION_CACHE_DIR": str(folder), **NO_XLA_CACHES}
    settings["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return folder


def test_the_option_that_differs_is_named(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_max_isa=AVX2")
    (one,) = found(tmp_path)
    assert one["line"] == PROGRAM.splitlines().index("RESULT = float(total(step(x)))") + 1
    assert "xla_cpu_max_isa was not set, and is now AVX2" in one["text"]
    assert "set XLA_FLAGS as it was" in one["change"]
    assert one["cost_s"] > 0


def test_a_cache_that_is_read_is_no_finding(kept: Path, tmp_path: Path) -> None:
    assert found(tmp_path) == []


def test_who_changes_a_program_is_not_accused(kept: Path, tmp_path: Path) -> None:
    assert found(tmp_path, PROGRAM.replace("sin", "cos").replace("x * 2", "x * 3")) == []


def test_an_empty_cache_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "new"))
    assert found(tmp_path) == []
