"""Eighteen changes after which a program is missed, and the cause that is told for each of them."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.cache.test_check import KEEP_ALL, NO_XLA_CACHES, checked, filled
from tests.started import coldwarm

from coldwarm.contracts.reasons import Reason, brief

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

JAX = """
import jax, jax.numpy as jnp, numpy as np
SCALE, SIZE = 2.0, 20

@jax.jit
def step(x):
    return jnp.sin(x) * SCALE

print(step(np.ones(SIZE, np.float64)).sum())
"""
NUMBA = """
import numba, numpy as np
SCALE, KIND = 2.0, np.float64

@numba.njit(cache=True)
def step(x):
    found = 0.0
    for one in x:
        found += one * SCALE
    return found

print(step(np.ones(20, KIND)))
"""
TORCH = """
import torch
SCALE, SIZE = 2.0, 100

@torch.compile
def step(x):
    return torch.sin(x).cos() * SCALE

print(step(torch.ones(SIZE)).sum())
"""
PROGRAMS = {"jax": JAX, "numba": NUMBA, "torch": TORCH}
SETTINGS = {"jax": NO_XLA_CACHES | KEEP_ALL, "numba": {}, "torch": {}}


class Provoked(NamedTuple):
    """A change, and the codes of the reasons that are told."""

    framework: str
    codes: set[str]
    before: str = ""
    after: str = ""
    variables: Mapping[str, str] = {}
    cache: Callable[[Path], None] | None = None


def another_version(folder: Path) -> None:
    """Write another version of Numba into each index."""
    for path in folder.rglob("*.nbi"):
        with path.open("rb") as file:
            pickle.load(file)  # noqa: S301 - made by this test
            rest = file.read()
        path.write_bytes(pickle.dumps("0.1.0") + rest)


GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
CASES = {
    "jax code": Provoked("jax", {"key_program"}, "jnp.sin", "jnp.cos"),
    "jax shape": Provoked("jax", {"key_program"}, "SIZE = 2.0, 20", "SIZE = 2.0, 30"),
    "jax captured": Provoked("jax", {"key_program"}, "SIZE = 2.0", "SIZE = 3.0"),
    "jax x64": Provoked("jax", {"key_program"}, variables={"JAX_ENABLE_X64": "1"}),
    "jax processor": Provoked(
        "jax", {"key_option"}, variables={"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}
    ),
    "jax level": Provoked(
        "jax", {"key_option"}, variables={"XLA_FLAGS": "--xla_backend_optimization_level=1"}
    ),
    "jax folder": Provoked(
        "jax", {"key_xla_caches"}, variables={"JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "all"}
    ),
    "numba code": Provoked("numba", {"numba_file_changed"}, "one * SCALE", "one + SCALE"),
    "numba captured": Provoked("numba", {"numba_file_changed"}, "KIND = 2.0", "KIND = 3.0"),
    "numba types": Provoked("numba", {"numba_file_changed"}, "np.float64", "np.float32"),
    "numba processor": Provoked("numba", {"numba_processor"}, variables=GENERIC),
    "numba features": Provoked(
        "numba", {"numba_processor"}, variables={"NUMBA_CPU_FEATURES": "-avx512f"}
    ),
    "numba version": Provoked("numba", {"numba_version"}, cache=another_version),
    "torch code": Provoked("torch", {"key_program"}, "torch.sin", "torch.tan"),
    "torch shape": Provoked("torch", {"key_program"}, "SIZE = 2.0, 100", "SIZE = 2.0, 200"),
    "torch threads": Provoked("torch", {"key_setting"}, variables={"OMP_NUM_THREADS": "1"}),
    "torch autotune": Provoked(
        "torch", {"key_setting"}, variables={"TORCHINDUCTOR_MAX_AUTOTUNE": "1"}
    ),
    "torch compiler": Provoked(
        "torch", {"key_setting"}, variables={"CXX": shutil.which("g++") or "g++"}
    ),
    "torch deterministic": Provoked(
        "torch",
        {"key_setting"},
        "SCALE, SIZE",
        "torch.use_deterministic_algorithms(True)\nSCALE, SIZE",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_what_was_provoked_is_named(tmp_path: Path, name: str) -> None:
    one = CASES[name]
    pytest.importorskip(one.framework)
    program, folder = tmp_path / "program.py", tmp_path / "kept"
    program.write_text(PROGRAMS[one.framework], encoding="utf-8")
    variables = SETTINGS[one.framework] | {"TORCHINDUCTOR_CACHE_DIR": str(folder)}
    filled(folder, program, **variables)
    status, found = checked(folder, program, **SETTINGS[one.framework])
    assert (status, {line["outcome"] for line in found["lines"]}) == (0, {"found"})

    assert one.before in program.read_text("utf-8")
    program.write_text(program.read_text("utf-8").replace(one.before, one.after, bool(one.before)))
    if one.cache is not None:
        one.cache(folder)
    status, found = checked(folder, program, **{**SETTINGS[one.framework], **one.variables})
    assert status == 1
    codes = {why["code"] for line in found["lines"] for why in line["why"]}
    assert codes == one.codes, [brief(Reason(**why)) for why in found["lines"][0]["why"]]


@pytest.mark.slow
def test_two_reports_are_held_against_each_other(tmp_path: Path) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "kept"
    program.write_text(JAX, encoding="utf-8")
    filled(folder, program, **SETTINGS["jax"])
    reports = []
    for number, flags in enumerate(("", "--xla_cpu_max_isa=AVX2")):
        env = {**os.environ, **SETTINGS["jax"], "XLA_FLAGS": flags}
        done = coldwarm("cache", "check", folder, "--json", "--", program, env=env)
        reports.append(tmp_path / f"{number}.json")
        reports[-1].write_text(done.stdout, encoding="utf-8")
    told = json.loads(coldwarm("cache", "why", *reports, "--json").stdout)
    (step,) = (one for one in told["programs"] if one["n_new"] and one["program"] == "step")
    assert [why["code"] for why in step["why"]] == ["key_option"]
    same = coldwarm("cache", "why", reports[0], folder)
    assert "and no other" in same.stdout
