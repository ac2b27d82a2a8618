"""Several functions at once: one interleaved bench, one table, one answer."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import coldwarm
from coldwarm.errors import UsageError
from coldwarm.inprocess.bench import bench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROGRAM = """
import json, sys
import numpy as np
import coldwarm

def quick(x):
    return float(np.dot(x, x))

def slow(x):
    return float(sum(float(v) * float(v) for v in x))

class Model:
    def __init__(self, power):
        self.power = power

    def cost(self, x):
        return float((np.abs(x) ** self.power).sum())

if __name__ == "__main__":
    bench = coldwarm.Benchmark(processes=3, cold=False, time_budget_s=40)
    found = bench({"quick": quick, "slow": slow, "model": Model(2.0).cost}, np.ones(4000))
    rounds = {
        name: sorted({one.round for one in case.observations})
        for name, case in found.cases.items()
    }
    order = sorted(
        (one.order, name) for name, case in found.cases.items() for one in case.observations
    )
    print(json.dumps({
        "answer": found.answer,
        "fastest": found.leads[0].fastest,
        "slower": [one.candidate for one in found.leads[0].slower],
        "checked": {one.candidate: one.checked for one in found.report.candidates},
        "rounds": rounds,
        "order": [name for _, name in order],
        "text": repr(found),
        "html": found._repr_html_(),
        "markdown": found._repr_markdown_(),
    }))
"""


@pytest.mark.slow
def test_three_functions_are_one_interleaved_bench_with_one_answer(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert "slow" in told["slower"]  # hundreds of times
    assert told["fastest"] in {"quick", None}  # the third is near it
    assert any("slow " in line and "× slower" in line for line in told["answer"].splitlines())
    assert set(told["checked"]) == {"quick", "slow", "model"}
    assert all(text.startswith("against quick") for text in told["checked"].values())
    assert all({0, 1, 2} <= set(rounds) for rounds in told["rounds"].values())
    # One round after the other, not one candidate after the other.
    assert {"quick", "slow", "model"} == set(told["order"][:3])
    text = told["text"]
    assert text.index("The answer") < text.index("candidate")
    assert text.count("Caveats") <= 1
    assert "× slower</b>" in told["html"]
    assert "<details>" not in told["html"], "what is to be known is seen without a click"
    assert "| `slow` | warm call | slower |" in told["markdown"]


CARRIED = """
import threading
import numpy as np
import coldwarm

def times(n):
    def total(x):
        return {"total": float(n * x.sum()), "lock": threading.Lock()}

    return total

if __name__ == "__main__":
    bench = coldwarm.Benchmark(processes=1, cold=False, time_budget_s=10, out_dir="kept")
    bench({"one": times(2), "other": times(2)}, np.ones(100))
"""


@pytest.mark.slow
def test_what_was_carried_by_value_is_believed_when_it_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(CARRIED, encoding="utf-8")
    for command in (["program.py"], ["-m", "coldwarm", "validate", "kept"]):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((tmp_path / "kept" / "cases" / "one.json").read_text("utf-8"))
    assert {"carried", "not_compared"} <= {one["code"] for one in told["limitations"]}


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ([np.sum], "two functions or more"),
        ([np.sum, 3.0], "a float among the functions cannot be called"),
        ([np.sum, np.sum], "two functions are called 'sum'; name them"),
    ],
)
def test_what_is_no_list_of_functions_is_refused(functions: list[Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        bench(functions, np.ones(3))


def _total(x: np.ndarray) -> float:
    return float(x.sum())


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (
            lambda: bench(_total, np.sum, np.ones(3)),
            r"several functions go in a list: .*\[f, g\], x",
        ),
        (
            lambda: bench(_total, np.ones(3), time_budget_s=3),
            "time_budget_s is an option: coldwarm.Benchmark",
        ),
        (lambda: bench(_total), "_total: missing a required argument: 'x'"),
    ],
)
def test_a_call_that_was_meant_otherwise_says_how(call: Callable[[], object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        call()


def test_the_doctor_is_no_function_of_functions() -> None:
    with pytest.raises(TypeError, match=r"with coldwarm.doctor\(\) as d"):
        cast("Any", coldwarm.doctor)(_total)
