"""Sweeps of sizes on the command line: what can be swept, and what a real one finds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.started import coldwarm, python

from coldwarm.contracts import codec
from coldwarm.contracts.sweep import SweepReport
from coldwarm.errors import UsageError
from coldwarm.runner.functions import sweep, targets

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "found"), [("n=1e2:1e6", ("n", 100, 1_000_000)), ("rows=8:4096", ("rows", 8, 4096))]
)
def test_a_range_has_a_name_and_two_whole_numbers(text: str, found: tuple[str, int, int]) -> None:
    assert tuple(sweep.parse([text])) == (*found, {})


def test_lists_beside_the_range_make_a_slice_for_each_value() -> None:
    found = sweep.parse(["k=8,64", "n=1:10", "threads=1,all"])
    assert found.slices == sweep.parse(["threads=1,all", "n=1:10", "k=8,64"]).slices
    assert found.slices == [
        {"k": 8, "threads": 1},
        {"k": 8, "threads": "all"},
        {"k": 64, "threads": 1},
        {"k": 64, "threads": "all"},
    ]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["k=8,64"], "needs one range, and 0 are given"),
        (["n=1:9", "m=1:9"], "needs one range, and 2 are given"),
        (["n=1:9", "k=8,8"], "has a value twice"),
        (["n=1:9", "n=4,5"], "--sweep n is given twice"),
        (["n=1:9", "k=4,all"], "'all' is no whole number"),
        (["n=1:9", "k="], "'' is no whole number"),
    ],
)
def test_one_range_is_swept(texts: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sweep.parse(texts)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n", "has no name; write n=1e2:1e6"),
        ("n=1e2", "needs one range"),
        ("n=5:5", "5 is not below 5"),
        ("n=0:9", "'0' is no whole number"),
        ("n=1.5:9", "'1.5' is no whole number"),
        ("n=1:1e99", "'1e99' is no whole number"),
        ("n=1:nan", "'nan' is no whole number"),
    ],
)
def test_what_is_no_range_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        sweep.parse([text])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("x=f64[n,20]", "x=f64[5,20]"),
        ("x=f32[2*n+1];[n//2]:ones", "x=f32[11];[2]:ones"),
        ("k=n", "k=5"),
        ("n=f32[n]", "n=f32[5]"),
        ("nn=f32[n]:normal", "nn=f32[5]:normal"),
        ("x=f64[n,k]", "x=f64[5,8]"),
        ("x=f64[n*k]", "x=f64[40]"),
    ],
)
def test_inputs_have_numbers_in_the_place_of_names(given: str, found: str) -> None:
    rest = ["y=i32[3]", "z=f64[n,k]", "mode='n'"]
    shown = ["y=i32[3]", "z=f64[5,8]", "mode='n'"]
    assert sweep.inputs_at([given, *rest], {"n": 5, "k": 8}) == [found, *shown]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x=f64[m]", "no --input has n"),
        ("x=f64[n+m]", "n\\+m is no length; it may have whole numbers"),
        ("x=f64[n**2]", "is no length"),
        (f"x=f64[{'(' * 300}n{')' * 300}]", "is no length"),
        ("x=f64[__import__('os').system('n')]", "is no length"),
        ("x=f64[n-9]", "n-9 is -4 at n=5"),
        ("x=f64[n//0]", "is no length"),
    ],
)
def test_lengths_that_are_none_are_refused(given: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sweep.inputs_at([given], {"n": 5})


@pytest.mark.parametrize(
    ("asked", "found"),
    [((None, None), (3, 6)), ((8, 8), (8, 8)), ((8, None), (8, 8)), ((None, 4), (3, 6))],
)
def test_each_size_has_as_many_rounds_as_are_asked_for(
    asked: tuple[int | None, int | None], found: tuple[int, int]
) -> None:
    options = targets.options(cold=True, warm=True, min_runs=asked[0], max_runs=asked[1])
    one = sweep.of_one_size(options, 10.0)
    assert (one.min_runs, one.max_runs) == found


SOURCE = """
import time

def steep(x, k):
    time.sleep(0.0005 * k)
    return x + 1.0

def flat(x, k):
    time.sleep(0.005)
    return x + 1.0
"""
SWEEP = ["bench", "work.py:steep", "work.py:flat", "--input", "x=f64[8]", "--input", "k=n"]


@pytest.mark.slow
def test_a_sweep_finds_the_border_goes_on_and_is_shown(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(SOURCE, encoding="utf-8")
    asked = [*SWEEP, "--warm-only", "--sweep", "n=1:30", "--out", "out"]
    short = coldwarm(*asked, "--time-budget", "1s", cwd=tmp_path)
    assert short.returncode == 4, short.stderr  # nothing was measured in so little time
    assert "with more time, more sizes would be measured" in " ".join(short.stdout.split())

    whole = coldwarm(*asked, "--format", "json", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    (tmp_path / "found.json").write_text(whole.stdout, encoding="utf-8")
    report = codec.load_as(SweepReport, tmp_path / "found.json")
    assert report.slices[0].complete
    [border] = report.slices[0].by_size[0].borders
    assert (border.below, border.above) == ("steep", "flat")
    assert border.low <= 10 <= border.high
    assert report.slices[0].points[0].size == 1

    told = coldwarm("show", "out", cwd=tmp_path).stdout
    assert "The cheapest by n, from 1 to 30" in told
    other = coldwarm(*asked[:-4], "--sweep", "n=1:200", "--out", "out", cwd=tmp_path)
    assert other.returncode == 2
    assert "holds another sweep, or its functions" in " ".join(other.stderr.split())
    (tmp_path / "work.py").write_text(SOURCE + "\n", encoding="utf-8")
    changed = coldwarm(*asked, cwd=tmp_path)
    assert changed.returncode == 2
    assert "holds another sweep, or its functions" in " ".join(changed.stderr.split())
    for form, file in (("html", "report.html"), ("markdown", "report.md"), ("svg", "report-svg")):
        done = coldwarm("report", "out", "--format", form, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out" / file).exists()
    planned = coldwarm("plan", "out", "--calls", "9", cwd=tmp_path)
    assert planned.returncode == 2
    assert "bench it again without --warm-only" in " ".join(planned.stderr.split())
    refused = coldwarm("report", "out", "--format", "pdf", cwd=tmp_path)
    assert refused.returncode == 2
    assert "a sweep cannot be written as pdf" in " ".join(refused.stderr.split())


def test_options_of_one_size_are_refused(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(SOURCE, encoding="utf-8")
    asked = [*SWEEP, "--sweep", "n=1:100", "--fail-on", "slower:5%"]
    done = coldwarm(*asked, cwd=tmp_path)
    assert done.returncode == 2
    assert "--fail-on does not go with this --sweep" in " ".join(done.stderr.split())


def test_a_size_whose_inputs_are_none_is_refused_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    (tmp_path / "work.py").write_text(SOURCE, encoding="utf-8")
    asked = ["bench", "work.py:steep", "work.py:flat", "--input", "x=f64[n,n]", "--input", "k=1"]
    done = coldwarm(*asked, "--sweep", "n=100:1000000", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "has more than 2^31 elements" in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


PROGRAM = """
import numpy as np
import coldwarm

def whole(x):
    return np.sort(x)[: len(x) // 2]

def part(x):
    return np.sort(np.partition(x, len(x) // 2)[: len(x) // 2])

def make(size):
    return (np.random.default_rng(0).standard_normal(size),)

if __name__ == "__main__":
    found = coldwarm.Benchmark(cold=False, time_budget_s=10).sweep(
        {"whole": whole, "part": part}, make, 10, 1000
    )
    [one] = found.report.slices
    print(one.candidates, [point.size for point in one.points])
    print(found)
    for low, high in ((0, 9), (9, 9), (2.5, 9)):
        try:
            coldwarm.Benchmark().sweep([whole, part], make, low, high)
        except coldwarm.ColdwarmError as error:
            print(error)
"""


@pytest.mark.slow
def test_functions_are_swept_from_python(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = python([sys.executable, "program.py"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    said = done.stdout.decode()
    assert "['whole', 'part'] [10" in said
    assert "The cheapest by size, from 10 to 1,000" in said
    assert said.count("give two whole numbers from 1, the smaller first") == 3
