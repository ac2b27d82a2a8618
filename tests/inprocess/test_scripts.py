"""``coldwarm.bench`` in programs of a user's: fresh processes read the same file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = """
import json, sys
import numpy as np
import coldwarm
from coldwarm import Benchmark

bench = Benchmark(processes=1)

def told(result):
    cold = result.cold["cold_process_cold_cache"]
    print(json.dumps({
        "name": result.name,
        "cold": bool(cold and cold.seconds["ttfr"].median > 0),
        "filled": bool(result.cold["cold_process_warm_cache"]),
        "fresh": bool(result.warm_fresh),
        "here": bool(result.warm and result.warm.call_s.median > 0),
        "reasons": result.reasons,
        "notes": result.notes,
        "outputs": result.case and result.case.protocol.own.outputs,
        "checked": result.case and result.case.protocol.own.checked,
        "arguments": result.case and result.case.protocol.own.arguments,
    }))
"""


def run(folder: Path, body: str, *command: str, name: str = "program.py") -> list[dict[str, Any]]:
    """Run a program and return what it told of each result."""
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(_HEAD + textwrap.dedent(body), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *(command or (str(file),))],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def whole(told: dict[str, Any]) -> bool:
    return all(told[part] for part in ("cold", "filled", "fresh", "here"))


def test_a_guarded_program_is_measured_cold_and_warm(tmp_path: Path) -> None:
    body = """
        def fit(x, *, n):
            return sum(np.sqrt(x * x + k).sum() for k in range(n))

        if __name__ == "__main__":
            told(bench(fit, np.ones(200, "float32")[::2], n=3))
    """
    (told,) = run(tmp_path, body)
    assert whole(told), told["reasons"]
    assert told["reasons"] == {}
    assert told["arguments"] == ["numpy float32[100]", "3"]
    assert told["checked"].startswith("against the answer in the process that asked")


def test_what_waits_for_lazy_results_is_found_by_fresh_processes(tmp_path: Path) -> None:
    body = """
        import coldwarm

        class Lazy:
            def __init__(self, x):
                self.x = x

            def __array__(self, dtype=None, copy=None):
                return self.x @ self.x

        def work(x):
            return Lazy(x)

        def finish(out):
            return np.asarray(out)

        if __name__ == "__main__":
            told(coldwarm.Benchmark(sync=finish, processes=1)(work, np.ones((20, 20))))
    """
    (told,) = run(tmp_path, body)
    assert told["reasons"] == {}
    assert whole(told)
    assert told["checked"].startswith("against the answer in the process that asked")


def test_a_program_without_a_guard_is_read_to_the_call_that_asked(tmp_path: Path) -> None:
    body = """
        def make(n):
            return lambda x: x[:n]

        results = []
        for n in (1, 2):
            f = make(n)
            results.append(bench(f, np.ones(3)))
            shown = results[-1]
            print(f"{shown.warm.call_s.median:.3g} {shown.first_call_s / 2}", file=sys.stderr)
        for result in results:
            told(result)
        assert __name__ == "__main__", "nobody reads on after the last call"
    """
    first, second = run(tmp_path, body)
    assert whole(first), first["reasons"]
    assert whole(second), second["reasons"]
    assert (first["name"], first["outputs"]) == ("f", ["float64[1]"])
    assert (second["name"], second["outputs"]) == ("f", ["float64[2]"])


@pytest.mark.slow
def test_a_module_run_as_a_program_and_one_that_it_imports(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "other.py").write_text("def twice(x):\n    return 2 * x\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "near.py").write_text("SCALE = 3.0\n")
    body = """
        from .near import SCALE
        sys.path.append("lib")
        import other

        def scaled(x):
            return SCALE * x

        if __name__ == "__main__":
            told(bench(scaled, np.ones(3)))
            told(bench(other.twice, 3))
            told(bench(np.linalg.norm, np.ones(3)))
    """
    for told in run(tmp_path, body, "-m", "package.program", name="package/program.py"):
        assert whole(told), told["reasons"]


def test_what_only_the_program_has_is_told(tmp_path: Path) -> None:
    body = """
        here = 0

        def other():
            return here

        if __name__ == "__main__":
            here = 1

            def late(x):
                return x

            told(bench(late, 1))
            told(bench(other))
    """
    late, other = run(tmp_path, body)
    assert whole(late), late["reasons"]  # defined below the guard, it goes by value
    assert any("by value" in note for note in late["notes"])
    assert other["here"]
    told = other["reasons"]["cold_process_cold_cache"]
    assert "a fresh process gave another answer than this one" in told


def test_the_budget_and_what_does_not_start_are_told(tmp_path: Path) -> None:
    body = """
        import os

        def here_only(x):
            if "COLDWARM_RUN" in os.environ:
                raise RuntimeError("not here")
            return x

        if __name__ == "__main__":
            told(bench(here_only, 1))
            told(Benchmark(time_budget_s=1e-6)(here_only, 1))
    """
    raised, late = run(tmp_path, body)
    assert "RuntimeError: not here (program.py, line" in raised["reasons"]["warm_fresh"]
    assert "time budget was over" in late["reasons"]["warm_fresh"]


def test_an_interruption_ends_the_fresh_processes(tmp_path: Path) -> None:
    body = f"""
        import os, signal, time

        def sleepy():
            if "COLDWARM_RUN" in os.environ:
                with open({str(tmp_path / "pid")!r}, "w") as file:
                    file.write(str(os.getpid()))
                time.sleep(100)

        if __name__ == "__main__":
            # A job in the background of a shell starts with interrupts ignored.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            bench(sleepy)
    """
    file = tmp_path / "program.py"
    file.write_text(_HEAD + textwrap.dedent(body), encoding="utf-8")
    with subprocess.Popen([sys.executable, str(file)], stderr=subprocess.PIPE) as program:
        try:
            pid = _written(tmp_path / "pid")
            program.send_signal(signal.SIGINT)
            _, said = program.communicate(timeout=60)
        finally:
            program.kill()
    assert program.returncode == -signal.SIGINT, said
    assert said.decode().rstrip().endswith("KeyboardInterrupt")
    assert _ended(pid)


def _written(file: Path) -> int:
    ends_s = time.monotonic() + 120
    while not file.exists() or not file.read_text():
        assert time.monotonic() < ends_s
        time.sleep(0.05)
    return int(file.read_text())


def _ended(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
