"""The pytest plug-in fails tests that compile too much, says why, and prints the bill."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jax")
TESTS = """
import jax, jax.numpy as jnp, pytest

@jax.jit
def step(x):
    return x * 2

@pytest.mark.max_compiles(1)
def test_one_program_is_enough():
    for _ in range(3):
        step(jnp.ones(4))

@pytest.mark.max_compiles(1)
def test_every_length_compiles():
    for n in range(3):
        step(jnp.ones(5 + n))

def test_a_known_batch(coldwarm):
    step(jnp.ones(50))
    with coldwarm.assert_no_recompile(step):
        step(jnp.ones(50))

def test_a_new_batch(coldwarm):
    step(jnp.ones(60))
    with coldwarm.assert_no_recompile(step):
        step(jnp.ones(61))

@pytest.mark.max_compiles("one")
def test_a_limit_that_is_none():
    pass
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("plugin")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    # Also where it is installed, and found by its entry point.
    plugin = (
        "-p",
        "no:coldwarm",
        "-p",
        "coldwarm.integrations.pytest_plugin",
        "-p",
        "no:cacheprovider",
    )
    command = [sys.executable, "-m", "pytest", "--coldwarm-bill", "-rA", *plugin, "test_it.py"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=180, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", ["test_one_program_is_enough", "test_a_known_batch"])
def test_what_compiles_no_more_passes(printed: str, name: str) -> None:
    assert f"PASSED test_it.py::{name}" in printed


def test_a_limit_is_held_and_the_argument_is_named(printed: str) -> None:
    assert "FAILED test_it.py::test_every_length_compiles" in printed
    assert "compiled 3 times, at most 1 may be" in printed
    assert "`x` is f32[7]; it was f32[6], and before f32[4], f32[5]" in printed


def test_a_recompile_in_a_block_fails(printed: str) -> None:
    assert "FAILED test_it.py::test_a_new_batch" in printed
    assert "`x` is f32[61]; it was f32[60], and before f32[4], f32[5], f32[6], f32[7]" in printed


def test_a_limit_that_is_no_number_is_told(printed: str) -> None:
    assert "max_compiles takes a whole number" in printed


def test_the_bill_has_every_test_that_compiled(printed: str) -> None:
    bill = printed.partition("seconds of compiling")[2]
    rows = re.findall(r"^ *([\d.]+) s  .*::(\w+)", bill, re.MULTILINE)
    named = {name for _, name in rows}
    assert "test_every_length_compiles" in named
    assert "test_a_limit_that_is_none" not in named
    assert all(float(seconds) > 0 for seconds, _ in rows)
