"""The final tables show what the records say, in a terminal and as Markdown."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from rich.console import Console
from tests.contracts import samples
from tests.report import conftest

from coldwarm.contracts.reasons import because
from coldwarm.report import markdown, terminal, view
from coldwarm.report.sentences import words
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult, SuiteResult


def shown(
    suite: SuiteResult, cases: list[CaseResult], width: int = 80, *, verbose: bool = True
) -> str:
    """Render the tables as a plain terminal of this width shows them."""
    console = Console(width=width, file=io.StringIO(), record=True, color_system=None)
    terminal.show(view.document(suite, cases, answers=answers(cases), verbose=verbose), console)
    return console.export_text()


def flat(text: str) -> str:
    """Return a text without its line breaks and indents."""
    return " ".join(text.split())


def line_of(text: str, start: str) -> str:
    """Return the first line that starts with this, with single spaces."""
    return flat(next(line for line in text.splitlines() if line.startswith(start)))


@pytest.mark.parametrize("width", [80, 100, 160])
def test_every_line_fits(suite: SuiteResult, cases: list[CaseResult], width: int) -> None:
    lines = shown(suite, cases, width).splitlines()
    assert max(len(line) for line in lines) <= width
    # No candidate's name is broken over two lines: it stands in two main tables, and in a
    # table of parts for each of two and three cold modes.
    assert sum(bool(re.match(" ?torch_compile_cpu ", line)) for line in lines) == 2 + 5


def test_the_two_regimes_stand_side_by_side(suite: SuiteResult, cases: list[CaseResult]) -> None:
    lines = shown(suite, cases).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("jax_jit_cpu"))
    assert lines[place].split() == [
        *("jax_jit_cpu", "811", "ms", "±2.1%", "534", "ms", "±2.1%"),
        *("583", "µs", "±12%", "312", "MB"),
    ]
    assert lines[place + 1].split() == [
        *("7.93–8.69×", "slower", "6.28–6.88×", "slower", "2.19–2.40×", "faster"),
    ]


def test_a_comparison_counts_under_its_exact_name_only(
    suite: SuiteResult, cases: list[CaseResult]
) -> None:
    other = [msgspec.structs.replace(c, metric="warm") for c in cases[1].comparisons]
    text = shown(suite, [msgspec.structs.replace(cases[1], comparisons=other)])
    assert "faster" not in text


def test_each_group_says_its_baseline(suite: SuiteResult, cases: list[CaseResult]) -> None:
    assert shown(suite, cases).count("· baseline: numpy\n") == 2


def test_the_parts_add_up_in_one_unit(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, cases)
    assert line_of(text, " jax_jit_cpu") == "jax_jit_cpu 150 480 <1 31 12 285 – 3 961"
    assert "the median of each part, in ms" in text


def test_what_was_made_beforehand_stands_below_the_tables(
    suite: SuiteResult, cases: list[CaseResult]
) -> None:
    assert "Made beforehand" not in shown(suite, cases)
    made = [msgspec.structs.replace(cases[1], made=[samples.making(s) for s in (1.5, 2.5)])]
    told = (
        "2.00 s (median of 2): import 500 ms, trace 62.5 ms, lower 125 ms, writing 62.5 ms;"
        " 7.1 kB to load; peak memory 200 MB"
    )
    assert told in flat(shown(suite, made))
    assert f"- **jax_jit_cpu**: {told}" in markdown.text(view.document(suite, made))


def test_long_starts_are_shown_in_seconds(suite: SuiteResult, cases: list[CaseResult]) -> None:
    (empty, *_) = cases[1].cold
    whole = msgspec.structs.replace(empty.seconds["ttfr_process"], median=480.0)
    none = msgspec.structs.replace(empty.seconds["wrap"], median=0.0)
    seconds = empty.seconds | {"ttfr_process": whole, "wrap": none}
    cold = [msgspec.structs.replace(empty, seconds=seconds)]
    text = shown(suite, [msgspec.structs.replace(cases[1], cold=cold)])
    assert line_of(text, " jax_jit_cpu") == "jax_jit_cpu 0.1 0.5 0 <0.1 <0.1 0.3 – <0.1 480.0"
    assert "each part, in s\n" in text


def test_a_first_call_without_an_account_is_all_rest(
    suite: SuiteResult, cases: list[CaseResult]
) -> None:
    (empty, *_) = cases[1].cold
    known = {key: one for key, one in empty.seconds.items() if not key.startswith("first_call.")}
    cold = [msgspec.structs.replace(empty, seconds=known)]
    text = shown(suite, [msgspec.structs.replace(cases[1], cold=cold)])
    assert line_of(text, " jax_jit_cpu") == "jax_jit_cpu 150 480 <1 – – – – 331 961"


def test_a_missing_figure_has_a_reason(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, cases)
    assert "±2.1% – 1.34 ms" in line_of(text, "numpy")
    assert "filled caches of numpy, torch_eager_cpu: it keeps no cache" in flat(text)
    assert not re.search(r"(?<![\d.])0(\.0+)? (s|ms|µs|ns|MB)\b", text)


def test_a_warm_figure_that_is_missing(suite: SuiteResult, cases: list[CaseResult]) -> None:
    assert cases[0].warm
    empty = msgspec.structs.replace(
        cases[0].warm,
        call_s=None,
        null_reasons={"call_s": because("stated", text="programs were compiled")},
    )
    text = shown(suite, [msgspec.structs.replace(cases[0], warm=empty)])
    assert "warm of numpy: programs were compiled" in flat(text)


def test_a_single_process_has_no_interval(suite: SuiteResult, cases: list[CaseResult]) -> None:
    alone = conftest.cold(conftest.EMPTY, {"ttfr": 0.0982}, processes=1)
    text = shown(suite, [msgspec.structs.replace(cases[0], cold=[alone])])
    assert line_of(text, "numpy") == "numpy 98.2 ms (1) – 1.34 ms ±12% 312 MB"


def test_few_processes_have_a_range(suite: SuiteResult, cases: list[CaseResult]) -> None:
    few = msgspec.structs.replace(cases[0].cold[0], precision_reached=None)
    summary = msgspec.structs.replace(few.seconds["ttfr"], n_processes=3)
    few = msgspec.structs.replace(few, seconds=few.seconds | {"ttfr": summary})
    text = shown(suite, [msgspec.structs.replace(cases[0], cold=[few])])
    assert line_of(text, "numpy") == "numpy 96.2–102 ms (3) – 1.34 ms ±12% 312 MB"


def test_what_was_not_measured_is_one_line(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, cases)
    assert text.count("no GPU") == 1
    why = words(because("gpu_unavailable"))
    wanted = f"{why}: jax_jit_gpu, torch_compile_gpu (in 2 groups)"
    assert f"not measured {wanted}" in flat(text)
    assert rf"- **not measured**: {why}: jax\_jit\_gpu," in markdown.text(
        view.document(suite, cases)
    )


def test_a_failed_case_says_so_in_words(suite: SuiteResult, cases: list[CaseResult]) -> None:
    assert shown(suite, cases).count("failed: numba: its answer is wrong") == 2


def test_nothing_measured_at_all(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = shown(suite, [case for case in cases if case.status == "warn"])
    assert "matmul ·" not in text
    assert "not measured" in text
    assert shown(suite, [])


def test_text_is_shown_as_it_is(suite: SuiteResult, cases: list[CaseResult]) -> None:
    odd = "[bold]<b>|*odd*|</b>"
    one = msgspec.structs.replace(cases[0], status="warn", reason=because("stated", text=odd))
    assert odd in shown(suite, [one])
    assert r"\[bold\]\<b\>\|\*odd\*\|\</b\>" in markdown.text(view.document(suite, [one]))


def test_an_interrupted_run_says_how_to_go_on(suite: SuiteResult, cases: list[CaseResult]) -> None:
    cut = msgspec.structs.replace(suite, complete=False)
    assert "--resume" in shown(cut, cases)
    assert "--resume" in markdown.text(view.document(cut, cases))
    assert "--resume" not in shown(suite, cases)


def test_no_meaning_is_in_colour_alone(suite: SuiteResult, cases: list[CaseResult]) -> None:
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    terminal.show(view.document(suite, cases, answers=answers(cases), verbose=True), console)
    file = console.file
    assert isinstance(file, io.StringIO)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert bare == shown(suite, cases)


def test_the_answer_comes_first_and_colour_shows_it(
    suite: SuiteResult, cases: list[CaseResult]
) -> None:
    text = shown(suite, cases[:7])
    said, _, table = text.partition("━━ The answer ")[2].partition("\n━━ ")
    assert flat(said.strip("━\n")) == (
        "not judged 4 others: no reason was recorded; numba: its answer is wrong "
        "first result vs numpy: jax_jit_cpu 7.93–8.69× slower, "
        "torch_eager_cpu 9.98–11.0× slower, torch_compile_cpu 325–357× slower "
        "warm call vs numpy: jax_jit_cpu 2.19–2.40× faster, torch_compile_cpu 2.19–2.40× faster; "
        "torch_eager_cpu undecided (0.960–1.05×) "
        "next step a longer --time-budget, on an idle machine, about halves the intervals"
    )
    assert "jax_jit_cpu" in table
    told = markdown.text(view.document(suite, cases[:7], answers=answers(cases[:7])))
    assert told.index("vs numpy: jax") < told.index("| candidate |")
    assert r"jax\_jit\_cpu **7.93–8.69× slower**" in told
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="standard")
    terminal.show(view.document(suite, cases[:7], answers=answers(cases[:7])), console)
    assert isinstance(console.file, io.StringIO)
    for coloured in ("\x1b[1;31m7.93–8.69× slower", "\x1b[1;32m2.19–2.40× faster"):
        assert console.file.getvalue().count(coloured) >= 2  # in the answer and in the table


def test_answers_of_several_workloads_stand_under_their_names(
    suite: SuiteResult, cases: list[CaseResult]
) -> None:
    said = shown(suite, cases).partition("━━ The answer ")[2]
    assert said.index("matmul · 512 · f32\n") < said.index("mlp_train_step · 128 · f64\n")


def test_what_to_heed_is_told_once_and_its_cure_too(
    suite: SuiteResult, cases: list[CaseResult]
) -> None:
    whole = markdown.text(view.document(suite, cases, verbose=True))
    for text in (shown(suite, cases), whole):
        assert text.count("Caveats") == 1
        assert flat(text).count("; give it more time with --time-budget") == 1
        assert flat(text).count("it keeps no cache") == 2
    named = "did not become steady: torch_eager_cpu, torch_compile_cpu (2 of 5 processes)"
    assert f"all groups: the warm call {named}" in flat(shown(suite, cases))


def test_in_short_the_worst_caveats_have_a_line_each(
    suite: SuiteResult, cases: list[CaseResult]
) -> None:
    text = shown(suite, cases[:3], verbose=False)
    assert len(text.splitlines()) <= 25
    assert max(map(len, text.splitlines())) <= 80
    told = text.strip().rpartition("\n\n")[2].splitlines()
    assert len(told) <= 3
    assert all(one[:1] != " " or "--verbose" in one for one in told), "each in one line"
    assert "export" not in text
    assert "import + first call" not in text


def test_a_legend_has_what_is_there(suite: SuiteResult, cases: list[CaseResult]) -> None:
    def terms(text: str) -> set[str]:
        legend = text.rpartition("Caveats")[2].partition("\n\n")[2]
        known = ["first result  ", "warm call  ", "±  ", "(2)  ", "2.1–2.4×  ", "same  "]
        return {one.strip() for one in [*known, "in all  ", "–  "] if f"\n{one}" in legend}

    assert terms("Caveats\n\n\n" + shown(suite, cases[:7])) == {
        *("first result", "warm call", "±", "2.1–2.4×", "in all", "–"),
    }
    assert "in all  " not in shown(suite, cases, verbose=False)
    assert "Where the whole start" not in shown(suite, cases, verbose=False)
    warm = msgspec.structs.replace(
        cases[0], cold=[], protocol=conftest.protocol("numpy", conftest.Job(modes=(conftest.WARM,)))
    )
    assert terms("Caveats\n\n\n" + shown(suite, [warm])) == {"warm call", "±"}


def test_markdown_tables_are_well_formed(suite: SuiteResult, cases: list[CaseResult]) -> None:
    text = markdown.text(view.document(suite, cases, verbose=True))
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1
    assert "| 1.31 ms ±12%<br>undecided (0.960–1.05×) |" in text
    assert "| `jax_jit_cpu` | 811 ms ±2.1%<br>7.93–8.69× slower |" in text
    missing = r"filled caches of numpy, torch\_eager\_cpu: it keeps no cache"
    assert f"- **no figure**: matmul · 512 · f32: {missing}" in text
    assert "<sup>" not in text
