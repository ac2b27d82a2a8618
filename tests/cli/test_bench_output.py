"""What ``coldwarm bench`` prints: the answer first, in each format, and what fails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.started import coldwarm

from coldwarm.contracts import codec
from coldwarm.contracts.bench import BenchReport

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
import time

def quick(n):
    sum(range(5000))
    return n

def slow(n):
    time.sleep(0.002)
    return n
"""
BENCH = ["bench", "sums.py:quick", "sums.py:slow", "--input", "n=3", "--warm-only"]


@pytest.mark.slow
def test_a_bench_leads_with_its_answer_and_fails_by_kind_of_figure(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "limits.toml").write_text(
        '[fail_on]\nslower = "5%"\n[[rule]]\ncases = "*"\nmetrics = "warm.*"\nfail_on = {}\n',
        encoding="utf-8",
    )
    limits = ["--fail-on", "cold:slower:5%,warm:slower:20%", "--out", "out"]
    done = coldwarm(*BENCH, "--rounds", "3", "--max-rounds", "3", *limits, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    first, *lines = done.stdout.splitlines()
    assert re.match(r"FAIL +slow, warm call: .*× slower than quick; the limit is 20 %", first)
    assert any(re.match(r"warm call +vs quick: slow \S+× slower", one) for one in lines)
    assert "Verdicts against" not in done.stdout
    assert lines[-1] == "More: coldwarm show out --verbose"
    # A line for each round, not for each process.
    rounds = [one for one in done.stderr.splitlines() if one.startswith("[")]
    assert len(rounds) == 3
    assert all("2 processes" in one for one in rounds)

    more = coldwarm("show", "out", "--verbose", cwd=tmp_path).stdout
    assert "Verdicts against quick" in more
    assert "vs quick: slow " in more
    told = coldwarm("show", "out", "--format", "markdown", cwd=tmp_path).stdout
    assert re.search(r"\| `slow` \| warm call \| slower \| \S+ \| \S+ … \S+", told)
    picture = coldwarm("show", "out", "--format", "svg", cwd=tmp_path).stdout
    assert "coldwarm&#160;bench</text>" in picture
    assert "slow&#160;" in picture

    files = [f"--report={form}=told.{form}" for form in ("json", "markdown", "github")]
    given = ["--policy", "limits.toml", "--format", "github", *files]
    done = coldwarm(*BENCH, "--rounds", "3", "--max-rounds", "3", *given, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(
        r"^::warning file=sums.py,title=slow%3A warm call slower::", done.stdout, re.MULTILINE
    )
    assert "::notice title=coldwarm%3A warm call::vs quick: slow " in done.stdout
    assert (tmp_path / "told.github").read_text(encoding="utf-8") == done.stdout
    assert codec.load_as(BenchReport, tmp_path / "told.json").complete
    assert "| `slow` | warm call | slower |" in (tmp_path / "told.markdown").read_text("utf-8")


@pytest.mark.slow
def test_what_a_guard_could_not_show_comes_first_and_is_an_annotation(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(SOURCE, encoding="utf-8")
    twice = ["--rounds", "2", "--max-rounds", "2", "--fail-on", "slower:5%", "--format", "github"]
    done = coldwarm(*BENCH[:-1], "--cold-only", *twice, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    first = done.stdout.splitlines()[0]
    assert first.startswith("::notice title=coldwarm%3A too coarse::first, empty caches")
    assert "next step" not in done.stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["html=told.html"], "write json=told.html or markdown=told.html or github=told.html"),
        (["json="], "write json=FILE or markdown=FILE or github=FILE"),
        (["json=a", "json=b"], "json is given twice"),
        (["json=nowhere/told.json"], "make its folder"),
        (["json=."], "no file can be made there"),
    ],
)
def test_a_report_that_could_not_be_written_is_refused_before_anything_is_measured(
    tmp_path: Path, given: list[str], said: str
) -> None:
    (tmp_path / "sums.py").write_text(SOURCE, encoding="utf-8")
    done = coldwarm(*BENCH, *(f"--report={one}" for one in given), cwd=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_what_stands_in_the_way_of_an_answer_is_said_before_it_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    source = "import numba\ndef one():\n    return 1.0\ndef two():\n    return 1.0\n"
    (tmp_path / "both.py").write_text(source, encoding="utf-8")
    once = ["--rounds", "1", "--max-rounds", "1", "--verbose"]
    done = coldwarm("bench", "both.py:one", "both.py:two", *once, cwd=tmp_path)
    before = done.stderr.partition("measuring with")[0]
    assert "one, two: they share a file, so each first result has the import of numba" in before
    assert "one, two: no arguments, so coldwarm cannot call it with other data" in before
    assert re.search(
        r"^shared file +each first result has the import of numba, as both.py has it",
        done.stdout,
        re.MULTILINE,
    )
    done = coldwarm("bench", "both.py:one", "both.py:two", *once, "--warm-only", cwd=tmp_path)
    assert "share a file" not in done.stderr
    assert "shared file" not in done.stdout
