"""The final tables show what the records say, in a terminal and as Markdown."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from rich.console import Console

from coldwarm.report import markdown, terminal

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult, SuiteResult


def shown(suite: SuiteResult, cases: list[CaseResult], width: int = 80) -> str:
    """Render the tables as a plain terminal of this width shows them."""
    console = Console(width=width, file=io.StringIO(), record=True, color_system=None)
    terminal.render(suite, cases, console)
    return console.export_text()


def line_of(text: str, start: str) -> str:
    """Return the first line that starts with this, with single spaces."""
    line = next(line for line in text.splitlines() if line.startswith(start))
    return " ".join(line.split())


@pytest.mark.parametrize("width", [80, 100, 160])
def test_every_line_fits(suite: SuiteResult, cases: list[CaseResult], width: int) -> None:
    lines = shown(suite, cases, width).splitlines()
    assert max(len(line) for line in lines) <= width
    # No candidate's name is broken over two lines.
    assert sum("torch_compile_cpu" in line for line in lines) == 2 + 5


def test_the_two_regimes_stand_side_by_side(suite: SuiteResult, cases: list[CaseResult]) -> None:
    lines = shown(suite, cases).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("jax_jit_cpu"))
    assert lines[place].split() == [
        *("jax_jit_cpu", "811", "ms", "±2.1%", "534", "ms", "±2.1%"),
        *("583", "µs", "±12%", "312", "MB"),
    ]
    assert lines[place + 1].split() == ["8.27×", "slower", "6.55×", "slower", "2.30×", "faster"]


def test_the_parts_of_the_first_call(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, cases)
    assert line_of(text, " jax_jit_cpu").endswith("480 ms 31.0 ms 12.0 ms 285 ms – 3.20 ms 961 ms")
    assert "first call" in shown(suite, cases, 120)


def test_a_missing_figure_has_a_reason(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, cases)
    assert "–¹" in line_of(text, "numpy")
    assert "¹ filled caches: numpy keeps no cache" in text
    assert not re.search(r"(?<![\d.])0(\.0+)? (s|ms|µs|ns|MB)\b", text)


def test_a_warm_figure_that_is_missing(suite: SuiteResult, cases: list[CaseResult]) -> None:
    assert cases[0].warm
    empty = msgspec.structs.replace(
        cases[0].warm, call_s=None, null_reasons={"call_s": "programs were compiled"}
    )
    text = shown(suite, [msgspec.structs.replace(cases[0], warm=empty)])
    assert "warm: programs were compiled" in text


def test_notes_are_told_once(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, cases)
    for note in ("the load of the machine was above", "not steady: rises", "numpy keeps no cache"):
        assert text.count(note) == 1


def test_an_undecided_verdict_says_why(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, cases)
    assert "undecided: the interval holds 1" in text


def test_a_single_process_has_no_interval(suite: SuiteResult, cases: list[CaseResult]) -> None:
    cold = cases[0].cold[0]
    ttfr = msgspec.structs.replace(
        cold.seconds["ttfr"], n_processes=1, low=None, high=None, null_reasons={"low": "one only"}
    )
    alone = msgspec.structs.replace(cold, seconds={"ttfr": ttfr}, precision_reached=None)
    text = shown(suite, [msgspec.structs.replace(cases[0], cold=[alone])])
    assert "98.2 ms ¹" in line_of(text, "numpy")
    assert "¹ no interval: one only" in text


def test_what_was_not_measured_is_one_line(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, cases)
    wanted = "not measured, gpu_unavailable: 4 cases of jax_jit_gpu, torch_compile_gpu"
    assert text.count("gpu_unavailable") == 1
    assert wanted in text


def test_a_failed_case_says_so_in_words(suite: SuiteResult, cases: list[CaseResult]) -> None:
    assert shown(suite, cases).count("failed: numba: correctness_gate") == 2


def test_nothing_measured_at_all(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, [case for case in cases if case.status == "warn"])
    assert "matmul ·" not in text
    assert "not measured" in text
    assert shown(suite, [])


def test_text_is_shown_as_it_is(suite: SuiteResult, cases: list[CaseResult]) -> None:
    odd = "[bold]<b>|*odd*|</b>"
    one = msgspec.structs.replace(cases[0], warnings=[odd])
    assert odd in shown(suite, [one])
    assert r"\[bold\]\<b\>\|\*odd\*\|\</b\>" in markdown.render(suite, [one])


def test_an_interrupted_run_says_how_to_go_on(suite: SuiteResult, cases: list[CaseResult]) -> None:
    cut = msgspec.structs.replace(suite, complete=False)
    assert "--resume" in shown(cut, cases)
    assert "--resume" in markdown.render(cut, cases)
    assert "--resume" not in shown(suite, cases)


def test_no_meaning_is_in_colour_alone(suite: SuiteResult, cases: list[CaseResult]) -> None:
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    terminal.render(suite, cases, console)
    file = console.file
    assert isinstance(file, io.StringIO)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert bare == shown(suite, cases)


def test_markdown_tables_are_well_formed(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = markdown.render(suite, cases)
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1
    assert "| `jax_jit_cpu` | 811 ms ±2.1%<br>8.27× slower |" in text
    assert "1. filled caches: numpy keeps no cache" in text
