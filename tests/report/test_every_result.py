"""Thirty stored results: each answer has a number and a next step, the same in every view."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
import tarfile
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.stats import results

from coldwarm.contracts.reasons import because
from coldwarm.report import html, markdown, terminal
from coldwarm.report.answer_text import left_out, lines
from coldwarm.report.charts import strips
from coldwarm.report.charts.break_even import break_even
from coldwarm.report.charts.every import named
from coldwarm.report.charts.workload import workloads
from coldwarm.report.formats import load
from coldwarm.report.view import document
from coldwarm.runner import recompute
from coldwarm.stats import planning
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.answer import Answer, CallRange
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.report.document import Document

ARCHIVES = Path(__file__).parents[2] / "docs" / "results"
OPEN = ("not decided", "undecided", "a verdict needs", "no answer yet")


def _three(n: int, others: tuple[float, float], scatter: float) -> list[CaseResult]:
    """Make a reference and two candidates, of so many rounds each."""
    speeds = {"numpy": 1.0, "jax_jit_cpu": others[0], "numba": others[1]}
    return [
        results.case(
            place, speed, n, scatter, case=f"{name}{results.GROUP}", baseline=name == "numpy"
        )
        for place, (name, speed) in enumerate(speeds.items())
    ]


def _failing(n: int) -> list[CaseResult]:
    name = f"numba{results.GROUP}"
    why = because("stated", text="it ended with an error")
    failed = results.case(3, 1.0, n, case=name, status="failed", reason=why)
    return [*_three(n, (0.5, 1.0), 0.002)[:2], failed]


MADE = {
    **{f"decided, {n} rounds": _three(n, (0.4, 3.0), 0.002) for n in range(1, 10)},
    **{f"open, {n} rounds": _three(n, (1.01, 0.98), 0.2) for n in range(1, 10)},
    **{f"one fails, {n} rounds": _failing(n) for n in (1, 3, 5)},
}


_PROGRAM = """import numba

@numba.njit(cache=True)
def wave(x):
    return ({square}).sum()
"""
_AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b.c")
_COMMIT = (("init", "-q"), ("add", "wave.py"), (*_AUTHOR, "commit", "-qm", "first"))
_BENCH = "bench wave.py:wave --input x=f64[20000]"


@pytest.fixture(scope="module", params=["stored", pytest.param("now", marks=pytest.mark.slow)])
def stored(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Measured]:
    """Results by what they are: made ones, those that are committed, those measured just now."""
    folder = tmp_path_factory.mktemp("stored")
    return _measured(folder) if request.param == "now" else _stored(folder)


def _stored(folder: Path) -> dict[str, Measured]:
    found = {
        name: recompute.read(results.write(folder / str(place), cases))
        for place, (name, cases) in enumerate(MADE.items())
    }
    (archive,) = ARCHIVES.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "committed", filter="data")
    committed = {one.name: one for one in folder.glob("committed/*/results/*")}
    return {**found, **{name: recompute.read(one) for name, one in committed.items()}}


def _measured(folder: Path) -> dict[str, Measured]:
    """Measure filled caches alone, and two commits: decided, the same, and of few rounds."""
    program = folder / "wave.py"
    git = shutil.which("git") or "git"
    program.write_text(_PROGRAM.format(square="x ** 2"))
    for call in _COMMIT:
        subprocess.run([git, *call], cwd=folder, check=True, capture_output=True)
    program.write_text(_PROGRAM.format(square="x * x"))
    filled = "run --suite quick --backend numpy,numba,jax_jit_cpu --case matmul_512_f32"
    found = {}
    for name, command in {
        "filled": f"{filled} --cache-mode cold_process_warm_cache --rounds 5",
        "filled, 1 round": f"{filled} --cache-mode cold_process_warm_cache --max-rounds 1",
        "two commits": f"{_BENCH} --before HEAD --rounds 5",
        "two commits, cold": f"{_BENCH} --before HEAD --cold-only --rounds 2 --max-rounds 2",
        "two commits, the same": f"{_BENCH} --before HEAD --after HEAD --warm-only --rounds 5",
    }.items():
        out = folder / name
        words = [sys.executable, "-m", "coldwarm", *command.split(), "--out", name]
        done = subprocess.run(
            [*words, "--time-budget", "40s"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found[name] = recompute.read(out)
    return found


def _answers(measured: Measured) -> Iterator[Answer]:
    yield from answers(list(measured.cases.values()))


def test_there_are_thirty(request: pytest.FixtureRequest, stored: dict[str, Measured]) -> None:
    least = 5 if "now" in request.node.name else 30
    assert sum(len([*_answers(one)]) for one in stored.values()) >= least


def test_each_answer_has_a_number_and_a_next_step(stored: dict[str, Measured]) -> None:
    for name, measured in stored.items():
        for answer in _answers(measured):
            said = {line.label: line.text for line in lines(answer)}
            where = f"{name}, {answer.group}: {said}"
            seen = " ".join(text for label, text in said.items() if label != "next step")
            assert re.search(r"\d", seen) or "not judged" in said, where
            if any(word in text for word in OPEN for text in said.values()):
                assert said.get("next step"), where


def test_rows_cover_every_number_of_calls_once(stored: dict[str, Measured]) -> None:
    for name, measured in stored.items():
        for answer in _answers(measured):
            for by in answer.by_calls:
                if by.ranges:
                    assert by.ranges[0].from_calls == 1, name
                    assert by.ranges[-1].to_calls is None, name
                for one, other in pairwise(by.ranges):
                    assert one.to_calls is not None
                    assert other.from_calls == one.to_calls + 1, name


def _flat(text: str) -> str:
    """Return what is read, without marks and blanks of one view."""
    return re.sub(r"[\s\\*`:|-]+", "", unescape(re.sub(r"<[^>]+>", " ", text)))


@pytest.mark.parametrize("view", ["terminal", "markdown", "notebook", "page"])
def test_every_view_says_the_same(stored: dict[str, Measured], view: str) -> None:
    for name, measured in stored.items():
        cases, suite = list(measured.cases.values()), measured.suite
        assert suite is not None
        told = answers(cases)
        shown = _shown(view, measured, document(suite, cases, answers=told))
        flat = _flat(shown)
        for answer in told:
            for line in lines(answer):
                assert _flat(line.text) in flat, f"{name}: {line}"


def _shown(view: str, measured: Measured, said: Document) -> str:
    if view == "terminal":
        return terminal.text(said, 80)
    if view == "markdown":
        return markdown.text(said)
    if view == "notebook":
        return html.fragment(said)
    (page,) = load("html").files([measured], "page.html").values()
    return page.decode().partition("<script")[0]


def test_the_figures_say_what_the_rows_say(stored: dict[str, Measured]) -> None:
    """Ranges, who may be the cheapest in each, and, over every figure, who is not judged."""
    for name, measured in stored.items():
        cases = list(measured.cases.values())
        for workload in workloads(cases, answers(cases)):
            answer = workload.answer
            assert answer is not None, name
            found = strips.ranges(workload, 10**9, 500)
            told = [
                (
                    begin,
                    end,
                    "same" if one.same_within else one.cheapest or "not decided",
                    one.among,
                )
                for caches, (reading, _) in strips.READINGS.items()
                if (by := answer.reading(reading))
                for one in by.ranges
                if (begin := one.from_calls) < 10**9 and (end := min(one.to_calls or 10**9, 10**9))
            ]
            drawn = [
                (
                    row["from_calls"],
                    row["to_calls"],
                    re.sub("^the (same).*", r"\1", str(row["cheapest"])),
                    str(row["among"]).split(", "),
                )
                for row in found
            ]
            assert drawn == told, name
        for _, chart in named([measured]):
            totals = list(chart.data.get("totals", ()))
            assert all(row["low_s"] is None or row["low_s"] > 0 for row in totals), name
            over = str(chart.spec["title"])
            for answer in answers(cases):
                missing = left_out(answer)
                assert missing in over or answer.workload not in over, name


def test_a_ring_of_a_figure_is_a_best_guess_of_the_rows(
    request: pytest.FixtureRequest, stored: dict[str, Measured]
) -> None:
    n_compared = n_rings = 0
    for name, measured in stored.items():
        cases = list(measured.cases.values())
        for workload in workloads(cases, answers(cases)):
            chart = break_even(workload)
            for caches, (reading, _) in strips.READINGS.items():
                by = workload.answer.reading(reading) if workload.answer else None
                if chart is None or by is None or not by.estimates:
                    continue
                drawn = [one for one in chart.data["crossings"] if one["caches"] == caches]
                rings = [(one["calls"], one["candidate"]) for one in drawn]
                guesses = [(one.value, one.cheapest) for one in by.estimates[1:]]
                calls = [one["calls"] for one in chart.data["totals"] if one["caches"] == caches]
                if calls:
                    assert rings == guesses[: len(rings)], name
                    assert len(rings) >= sum(at <= max(calls) for at, _ in guesses), name
                    n_compared += 1
                    n_rings += len(rings)
    assert n_compared > 1
    # What is measured just now may have one that is the cheapest at all numbers of calls.
    assert n_rings > 1 or "now" in request.node.name


def test_lines_cross_where_the_rows_say_it(
    request: pytest.FixtureRequest, stored: dict[str, Measured]
) -> None:
    """Where two candidates may be the cheapest, and are not the same: then they cross anywhere."""
    if "now" in request.node.name:
        pytest.skip("it measures two programs that are the same")
    n_held = 0
    for name, measured in stored.items():
        cases = list(measured.cases.values())
        for workload in workloads(cases, answers(cases)):
            rings = planning.crossings(planning.settings(workload.cases))
            for before, ring in pairwise(rings):
                reading = strips.READINGS[ring.caches][0]
                by = workload.answer.reading(reading) if workload.answer else None
                if by is None or not by.ranges or before.caches != ring.caches:
                    continue
                (there,) = (one for one in by.ranges if _holds(one, ring.calls))
                if {before.candidate, ring.candidate} <= {*there.among}:
                    guesses = [o.value for o in by.estimates if o.cheapest == ring.candidate]
                    assert any(math.isclose(o, ring.calls, rel_tol=0.02) for o in guesses), name
                    n_held += 1
    assert n_held > 1


def _holds(one: CallRange, calls: int) -> bool:
    return one.from_calls <= calls and (one.to_calls is None or calls <= one.to_calls)
