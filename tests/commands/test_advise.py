"""What shortens a start: the change that saves most is the one that was to be found."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.started import coldwarm

from coldwarm.contracts.base import EMPTY

if TYPE_CHECKING:
    from pathlib import Path

JAX = """
import jax, jax.numpy as jnp, numpy as np

@jax.jit
def step(w, x, y):
    def loss(w):
        for layer in w:
            x_ = jnp.tanh(x @ layer)
        return ((x_.sum(1) - y) ** 2).mean()
    return jax.value_and_grad(loss)(w)

w = [np.eye(64, dtype=np.float32)] * 24
print(step(w, np.ones((32, 64), np.float32), np.ones(32, np.float32))[0])
"""
NUMBA = """
import numba, numpy as np

@numba.njit
def forces(x):
    found = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(x)):
            d = x[j] - x[i]
            found[i] += d / (np.sum(d * d) + 0.01) ** 1.5
    return found

print(forces(np.ones((10, 3))).sum())
"""
IMPORTS = """
import json
import sqlalchemy_of_ours
import numpy as np

print(np.ones(3).sum())
"""
SLOW = "import time\ntime.sleep(0.4)\nNAME = 'slow'\n"
TORCH = """
import torch

@torch.compile
def block(x):
    return torch.nn.functional.gelu(x @ x.T) + torch.sin(x).sum()

print(block(torch.ones(50, 50)).sum())
"""


MIXED = """
import argparse
import json
import logging
import numpy as np
import scipy.stats

def tested(x):
    return scipy.stats.ttest_1samp(x, 0.0).pvalue

parser = argparse.ArgumentParser()
parser.add_argument("--test", action="store_true")
x = np.random.default_rng(0).normal(size=1000)
found = {"mean": x.mean()} | ({"p": tested(x)} if parser.parse_args().test else {})
logging.warning(json.dumps(found))
"""
BY_HAND = ("import scipy.stats\n", ""), ("    return", "    import scipy.stats\n    return")


def advised(folder: Path, program: str, *options: object) -> dict[str, Any]:
    """Return what is told of a program that lies in a folder."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    done = coldwarm("advise", *options, "--json", "--", sys.executable, path, timeout_s=1200.0)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_cache_that_saves_most_comes_first_with_its_lines(tmp_path: Path) -> None:
    found = advised(tmp_path, NUMBA, "--rounds", "3")
    first = found["advice"][0]
    assert (first["kind"], first["name"]) == ("cache", "numba")
    assert first["lines"][0] == "numba.njit(cache=True)"
    assert first["seconds"] > 0.2 * found["before"]["median"]
    as_it_is = [one for one in found["starts"] if one["command"] in {"as_it_is", "cache_numba"}]
    assert {one["status"] for one in as_it_is} == {"ok"}
    assert not first["is_made"]


def test_a_module_that_is_used_later_is_told(tmp_path: Path) -> None:
    site = tmp_path / "lib" / "site-packages"
    site.mkdir(parents=True)
    (site / "sqlalchemy_of_ours.py").write_text(SLOW, encoding="utf-8")
    program = f"import sys\nsys.path.insert(0, {str(site)!r})\n{IMPORTS}"
    found = advised(tmp_path, program, "--rounds", "2")
    first = found["advice"][0]
    assert (first["kind"], first["name"]) == ("import", "sqlalchemy_of_ours")
    assert 0.3 < first["seconds"] < 0.6


def test_a_program_that_fails_is_told_and_so_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "fails.py"
    path.write_text("raise SystemExit(7)\n", encoding="utf-8")
    done = coldwarm("advise", "--", sys.executable, path)
    assert (done.returncode, "exit status 7" in done.stderr) == (3, True)
    done = coldwarm("advise")
    assert (done.returncode, "name a program" in done.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "kind", "name", "by_hand"),
    [
        (JAX, "cache", "jax", ""),
        (TORCH, "cache", "inductor", ""),
        (NUMBA, "cache", "numba", "numba.njit(cache=True)"),
    ],
    ids=["jax", "torch", "numba"],
)
def test_the_first_advice_saves_what_it_promises(
    tmp_path: Path, program: str, kind: str, name: str, by_hand: str
) -> None:
    """Followed by hand, and measured beside the program as it was."""
    if name == "inductor":
        pytest.importorskip("torch")
    first = advised(tmp_path, program)["advice"][0]
    assert (first["kind"], first["name"]) == (kind, name)
    changed = tmp_path / "changed.py"
    changed.write_text(program.replace("numba.njit", by_hand or "numba.njit"), encoding="utf-8")
    command = f"{PYTHON} {shlex.quote(str(changed))}"
    line = ("bench", "--command", command, "--json", "--out", tmp_path / "out")
    done = coldwarm(*line, timeout_s=900.0)
    assert done.returncode == 0, done.stderr
    (saved,) = json.loads(done.stdout)["savings"]
    assert saved["low"] <= first["high"]
    assert first["low"] <= saved["high"]


@pytest.mark.slow
def test_an_import_moved_by_hand_saves_what_was_promised(tmp_path: Path) -> None:
    first = advised(tmp_path, MIXED)["advice"][0]
    assert (first["kind"], first["is_shown"]) == ("import", True)
    assert first["name"].startswith("scipy")
    changed = MIXED
    for old, new in BY_HAND:
        changed = changed.replace(old, new)
    (tmp_path / "changed.py").write_text(changed, encoding="utf-8")
    paths = [shlex.quote(str(tmp_path / name)) for name in ("program.py", "changed.py")]
    commands = [f"--command={PYTHON} {path}" for path in paths]
    done = coldwarm("bench", *commands, "--json", "--out", tmp_path / "out", timeout_s=900.0)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    taken: dict[str, dict[int, float]] = {one["label"]: {} for one in told["commands"]}
    for one in told["starts"]:
        if one["cache_mode"] == EMPTY:
            taken[one["command"]][one["round"]] = one["ready_s"]
    before, after = taken.values()
    saved = [before[round_] - after[round_] for round_ in before]
    assert min(saved) <= first["high"]
    assert first["low"] <= max(saved)


PYTHON = shlex.quote(sys.executable)
