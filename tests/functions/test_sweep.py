"""Sweeps of sizes on the command line: what can be swept, and what a real one finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.started import coldwarm

from coldwarm.contracts import codec
from coldwarm.contracts.sweep import SweepReport
from coldwarm.errors import UsageError
from coldwarm.runner.functions import sweep

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "found"), [("n=1e2:1e6", ("n", 100, 1_000_000)), ("rows=8:4096", ("rows", 8, 4096))]
)
def test_a_range_has_a_name_and_two_whole_numbers(text: str, found: tuple[str, int, int]) -> None:
    assert tuple(sweep.parse([text])) == (*found, {})


def test_lists_beside_the_range_make_a_slice_for_each_value() -> None:
    found = sweep.parse(["k=8,64", "n=1:10", "threads=1,all"])
    assert found.slices == [
        {"k": 8, "threads": 1},
        {"k": 8, "threads": "all"},
        {"k": 64, "threads": 1},
        {"k": 64, "threads": "all"},
    ]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["k=8,64"], "has no range, of one"),
        (["n=1:9", "m=1:9"], "has 2 ranges, of one"),
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
        ("n=1e2", "has no range"),
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
    ],
)
def test_inputs_have_the_size_in_the_place_of_its_name(given: str, found: str) -> None:
    assert sweep.inputs_at([given, "y=i32[3]"], "n", 5) == [found, "y=i32[3]"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x=f64[m]", "no --input has n"),
        ("x=f64[n+m]", "'n\\+m' is no length"),
        ("x=f64[__import__('os').system('n')]", "is no length"),
        ("x=f64[n-9]", "n-9 is -4 at n=5"),
        ("x=f64[n//0]", "is no length"),
    ],
)
def test_lengths_that_are_none_are_refused(given: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sweep.inputs_at([given], "n", 5)


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
    assert short.returncode == 0, short.stderr
    assert "the same command goes on" in " ".join(short.stdout.split())

    whole = coldwarm(*asked, "--format", "json", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    (tmp_path / "found.json").write_text(whole.stdout, encoding="utf-8")
    report = codec.load_as(SweepReport, tmp_path / "found.json")
    assert report.complete
    [border] = report.slices[0].by_size[0].borders
    assert (border.below, border.above) == ("steep", "flat")
    assert border.low <= 10 <= border.high
    assert report.slices[0].points[0].size == 1

    told = coldwarm("show", "out", cwd=tmp_path).stdout
    assert "The cheapest by n, from 1 to 30" in told
    other = coldwarm(*asked[:-4], "--sweep", "n=1:200", "--out", "out", cwd=tmp_path)
    assert other.returncode == 2
    assert "holds another sweep; name another --out" in " ".join(other.stderr.split())
    for form, file in (("html", "report.html"), ("markdown", "report.md"), ("svg", "report-svg")):
        done = coldwarm("report", "out", "--format", form, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out" / file).exists()
    refused = coldwarm("report", "out", "--format", "pdf", cwd=tmp_path)
    assert refused.returncode == 2
    assert "a sweep cannot be written as pdf" in " ".join(refused.stderr.split())


def test_options_of_one_size_are_refused(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(SOURCE, encoding="utf-8")
    asked = [*SWEEP, "--sweep", "n=1:100", "--fail-on", "slower:5%"]
    done = coldwarm(*asked, cwd=tmp_path)
    assert done.returncode == 2
    assert "--fail-on is for one size" in " ".join(done.stderr.split())
