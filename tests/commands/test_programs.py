"""Programs of several kinds, as people start them: a server, a notebook, a script, a pool."""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.commands.test_commands import EMPTY, FILLED, PYTHON, measured, starts
from tests.started import coldwarm

pytestmark = pytest.mark.slow
BIN = Path(sys.executable).parent

APPLICATION = """
import jax, jax.numpy as jnp

@jax.jit
def served(x):
    return jnp.tanh(x @ x.T).sum()

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    body = str(float(served(jnp.ones((64, 64))))).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
"""
POOL = """
import multiprocessing
import numba, numpy as np

@numba.njit(cache=True)
def total(x):
    found = 0.0
    for one in x:
        found += one
    return found

def work(n):
    return total(np.ones(n))

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(sum(pool.map(work, [10, 20, 30, 40])))
"""
GRAPH = """
import torch

@torch.compile
def f(x):
    return torch.sin(x).cos() + x * 2

print(f(torch.ones(100)).sum())
"""
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "a",
            "metadata": {},
            "outputs": [],
            "source": "import jax\njax.jit(lambda x: (x * 2).sum())(jax.numpy.ones(9))",
        }
    ],
    "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    },
    "nbformat": 4,
    "nbformat_minor": 5,
}


def whole(found: dict[str, object]) -> None:
    """Hold that each start is proved, that its parts are all of it, and that nothing stays."""
    for one in found["starts"]:  # type: ignore[attr-defined] # a list of records
        assert (one["status"], one["notes"]) == ("ok", []), one["reason"] or one["notes"]
        until_s = one["ready_s"] + sum(one["requests_s"][:1])
        assert sum(v for v in one["parts"].values() if v) == pytest.approx(until_s, rel=0.02)


def test_a_server_of_uvicorn(tmp_path: Path, port: int) -> None:
    pytest.importorskip("uvicorn")
    (tmp_path / "server.py").write_text(APPLICATION, encoding="utf-8")
    url = f"http://127.0.0.1:{port}/"
    line = f"{PYTHON} -m uvicorn server:app --port {port} --log-level error"
    options = ("--ready-tcp", f"127.0.0.1:{port}", "--request", url, "--stop", "SIGINT")
    found, _ = measured(tmp_path, "--command", line, *options, "--rounds", 2)
    whole(found)
    (filled, *_) = starts(found, FILLED)
    assert all(one["hits"] and not one["misses"] for one in filled["evidence"])


def test_a_notebook(tmp_path: Path) -> None:
    (tmp_path / "one.ipynb").write_text(json.dumps(NOTEBOOK), encoding="utf-8")
    line = f"{BIN / 'jupyter'} execute one.ipynb"
    found, _ = measured(tmp_path, "--command", line, "--rounds", 2)
    whole(found)
    (empty, *_) = starts(found, EMPTY)
    assert (empty["evidence"][0]["owner"], empty["n_processes"] > 1) == ("jax", True)


@pytest.mark.parametrize(
    ("program", "owner"), [(POOL, "numba"), (GRAPH, "inductor")], ids=["pool", "graph"]
)
def test_a_script(tmp_path: Path, program: str, owner: str) -> None:
    if owner == "inductor":
        pytest.importorskip("torch")
    (tmp_path / "script.py").write_text(program, encoding="utf-8")
    found, _ = measured(tmp_path, "--command", f"{PYTHON} script.py", "--rounds", 2)
    whole(found)
    owners = {e["owner"]: e for one in starts(found, FILLED) for e in one["evidence"]}
    assert owners[owner]["hits"]
    assert not owners[owner]["misses"]


def test_nothing_at_all_and_a_pipeline(tmp_path: Path) -> None:
    lines = ("--command", f"{PYTHON} -c pass", "--command", f"{PYTHON} -c 'print(1)' | cat")
    found, _ = measured(tmp_path, *lines, "--rounds", 2)
    whole(found)


def test_a_stopwatch_agrees(tmp_path: Path) -> None:
    """Another process takes the time of the same command, in turns with it."""
    program = "import time; time.sleep(1.0)"
    command = [sys.executable, "-c", program]
    ours, theirs = [], []
    for number in range(3):
        line = shlex.join(command)
        found, _ = measured(tmp_path / str(number), "--command", line, "--rounds", 1)
        ours += [one["ready_s"] for one in found["starts"]]
        for _ in range(2):
            begun_s = time.perf_counter()
            subprocess.run(command, check=True)
            theirs.append(time.perf_counter() - begun_s)
    ratio = statistics.median(ours) / statistics.median(theirs)
    assert ratio == pytest.approx(1, abs=0.03)


def test_a_limit_fails_and_names_the_program(tmp_path: Path) -> None:
    sleeps = [f"{name}={PYTHON} -c 'import time; time.sleep({s})'" for name, s in SLEEPS.items()]
    line = [one for sleep in sleeps for one in ("--command", sleep)]
    options = ("--rounds", 5, "--fail-on", "slower:10%")
    done = coldwarm("bench", *line, *options, cwd=tmp_path, timeout_s=300.0)
    assert done.returncode == 1, done.stderr
    assert "FAIL long, ready with empty caches: slower than short" in " ".join(done.stdout.split())
    done = coldwarm("bench", *line[:2], "--fail-on", "slower", cwd=tmp_path)
    assert (done.returncode, "name a second --command" in done.stderr) == (2, True)


SLEEPS = {"short": 0.1, "long": 0.4}
