"""Tables of whole loops: no row is taken for a single call's, and the share spent compiling."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import msgspec
import pytest
from rich.console import Console
from tests.report.conftest import EMPTY, FILLED, Job, case, cold, summary, warm

from coldwarm.report import loop_shares, markdown, terminal, view

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult, ColdSummary, SuiteResult

JOB = Job("small_fits", 100, "f64")


def of_loop(mode: CacheMode, total: float, share: float | None) -> ColdSummary:
    made = cold(mode, {"ttfr": 0.3, "ttfr_process": 0.4, "total": total, "loop.rest": total - 0.2})
    told = None if share is None else summary(share)
    return msgspec.structs.replace(made, compiling_share=told)


@pytest.fixture
def loops() -> list[CaseResult]:
    """Return two candidates of one scenario."""
    seen = [
        case("numpy", JOB, cold=[of_loop(EMPTY, 1.5, None), of_loop(FILLED, 1.4, None)]),
        case("jax_jit_cpu", JOB, cold=[of_loop(EMPTY, 7.2, 0.61), of_loop(FILLED, 4.1, 0.08)]),
    ]
    return [msgspec.structs.replace(one, scenario=True, warm=warm(0.05)) for one in seen]


def shown(suite: SuiteResult, cases: list[CaseResult]) -> str:
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    terminal.show(view.document(suite, cases, verbose=True), console)
    return console.export_text()


def test_a_whole_loop_is_not_called_a_call(suite: SuiteResult, loops: list[CaseResult]) -> None:
    text = shown(suite, loops)
    assert "whole loop" in text
    assert "loop again" in text
    assert "Where the whole loop's time goes" in text
    headings = text.split("Where")[0]
    assert "first result" not in headings
    assert "warm call" not in headings


def test_total_stands_beside_first_result_and_share(
    suite: SuiteResult, loops: list[CaseResult]
) -> None:
    table = shown(suite, loops).partition(loop_shares.LOOPS_TITLE)[2].splitlines()
    jax = next(line for line in table if line.strip().startswith("jax_jit_cpu")).split()
    assert jax[1:] == ["400", "ms", "7.20", "s", "61%", "400", "ms", "4.10", "s", "8%"]
    numpy = next(line for line in table if line.strip().startswith("numpy")).split()
    assert numpy[-1] == "–"


def test_markdown_has_the_same_table(suite: SuiteResult, loops: list[CaseResult]) -> None:
    text = markdown.text(view.document(suite, loops))
    assert "| small_fits 100 f64 | `jax_jit_cpu` | 400 ms | 7.20 s | 61% |" in text
    assert "whole loop<br>empty caches" in text


def test_a_run_without_scenarios_has_no_such_table(
    suite: SuiteResult, cases: list[CaseResult]
) -> None:
    assert loop_shares.LOOPS_TITLE not in shown(suite, cases)
    assert loop_shares.LOOPS_TITLE not in markdown.text(view.document(suite, cases))
