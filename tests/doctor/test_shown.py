"""What a terminal of 80 columns shows: what to change first, in its last line, and text as text."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from tests.cli.test_shown import COMMAND, HOSTILE
from tests.doctor import journals, reports
from tests.doctor.journals import BEGIN_S

from coldwarm.doctor import watch
from coldwarm.doctor.findings_document import document, in_words, sites_table
from coldwarm.doctor.watch import ProgramEnd
from coldwarm.report import html, terminal

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.doctor import DoctorReport

WIDTH = 80
END_S = 60.0
MEMORY = {"temporary": 3 * 2**20, "arguments": 2**20}


def again(number: int, text: str = "rate") -> list[dict[str, Any]]:
    """Return the rows of one call that was compiled for another static value."""
    values = {"before": f"0.{number}", "now": f"0.{number + 1}"}
    difference = {"kind": "static", "argument": text, **values}
    cause = {"kind": "again", "differences": [difference]} if number > 1 else {"kind": "first"}
    function = {"name": text, "path": f"/{text}.py", "line": 1}
    return [
        journals.call(number, path=f"/{text}.py", cause=cause, function=function),
        journals.stage(number, float(number), {"compile": 0.5}, memory=MEMORY),
    ]


def report(folder: Path, rows: list[dict[str, Any]], status: int = 0) -> DoctorReport:
    watched = watch.read(journals.written(folder, *rows))
    ended = ProgramEnd(BEGIN_S, BEGIN_S + END_S, status)
    return watch.report(watched, ended, "2026-01-02T03:04:05+00:00")


def printed(one: DoctorReport) -> list[str]:
    return terminal.text(document(one, everything=True), WIDTH).splitlines()


def faulty() -> list[dict[str, Any]]:
    rows = [row for number in range(1, 6) for row in again(number)]
    return [journals.process(), *rows, journals.end(END_S)]


def test_the_last_line_says_what_to_change_first(tmp_path: Path) -> None:
    lines = printed(report(tmp_path, faulty()))
    assert all(len(line) <= WIDTH for line in lines)
    assert lines[0] == "Of 60.0 s, 2.50 s were compiling (5 programs)."
    last = " ".join(" ".join(lines[-3:]).split())
    assert "Change first: /rate.py:3, pass it as a plain argument" in last
    assert last.endswith("saves about 2.00 s.")
    assert "3.0× its arguments" in "\n".join(lines)


@pytest.mark.parametrize("arguments", [0, 16, 2**14])
def test_memory_is_not_held_against_a_key_or_a_number(arguments: int) -> None:
    site = replace(reports.site(), temporary_bytes=3 * 2**20, arguments_bytes=arguments)
    (row,) = sites_table([site], memory=True).parts[0].rows
    assert row[-1].text == "3.1 MB"


def test_parts_of_the_time_that_were_not_seen_are_named_together(tmp_path: Path) -> None:
    rows = [journals.process(sees_calls=False), *faulty()[1:]]
    lines = printed(report(tmp_path, rows))
    (part,) = [line for line in lines if line.startswith("devices, run, other")]
    assert part.split()[3:] == ["█" * 34, "57.5", "s"]


def test_json_says_how_a_saving_was_estimated_and_where_the_pattern_is(tmp_path: Path) -> None:
    made = report(tmp_path, faulty())
    (found,) = in_words(made).findings
    assert found.estimate == "the time of the 4 compilations that this caused"
    assert found.page.endswith("/reference/patterns/varying-static-arg.html")
    assert f"about 2.00 s, {found.estimate}" in " ".join(" ".join(printed(made)).split())


@pytest.mark.parametrize(
    ("status", "words"),
    [(3, "ended with exit status 3"), (-9, "ended by the signal SIGKILL"), (0, "")],
)
def test_it_says_how_the_program_ended(status: int, words: str, tmp_path: Path) -> None:
    text = "\n".join(printed(report(tmp_path, faulty(), status)))
    assert words in text
    assert ("program ended" in text or "was ended" in text) == bool(words)


def test_what_was_being_compiled_when_it_was_killed_is_named(tmp_path: Path) -> None:
    rows = [*faulty()[:-1], journals.call(9, path="/slow.py")]
    text = " ".join(" ".join(printed(report(tmp_path, rows, -9))).split())
    assert "it ended while step was being traced or compiled at /slow.py:3" in text
    assert "it ended while" not in "\n".join(printed(report(tmp_path, [*rows, journals.end(9.0)])))


def test_the_parts_of_a_line_that_read_from_a_cache_are_all_shown(tmp_path: Path) -> None:
    own_s = {"trace": 1.0, "lower": 2.0, "compile": 3.0, "cache_read": 4.0}
    row = journals.call(9, path="/a_folder_with_a_long_name/and_another_one/train.py")
    rows = [*faulty()[:-1], row, journals.stage(9, 20.0, own_s, hit=True)]
    lines = printed(report(tmp_path, rows))
    assert all(len(line) <= WIDTH for line in lines)
    (head,) = [line for line in lines if line.split()[-3:] == ["cache", "in", "all"]]
    assert head.split()[-6:-3] == ["trace", "lower", "compile"]
    text = " ".join(" ".join(lines).split())
    assert "1 read 1.00 s 2.00 s 3.00 s 4.00 s 10.0 s" in text
    assert "2.50 s" in text
    assert lines[0].endswith("(5 programs; 1 more from a cache).")
    assert "cache" not in "\n".join(printed(report(tmp_path / "none", faulty())))


def test_it_says_that_all_programs_came_from_a_cache(tmp_path: Path) -> None:
    own_s = {"trace": 1.0, "lower": 2.0, "cache_read": 4.0}
    rows = [journals.process(), journals.call(1), journals.stage(1, 20.0, own_s, hit=True)]
    made = report(tmp_path, [*rows, journals.end(END_S)])
    said = "were getting 1 program from a cache, and nothing was compiled."
    assert printed(made)[0] == f"Of 60.0 s, 7.00 s {said}"
    assert "<th>cache</th>" in html.fragment(document(made))


def test_nothing_is_said_to_be_right_that_was_not_seen(tmp_path: Path) -> None:
    rows = [journals.process(sees_calls=False), journals.end(END_S)]
    said = " ".join(printed(report(tmp_path, rows)))
    assert " 60.0 s  Nothing to change was found in what could be seen." in said
    assert said.index("Not seen: calls, clocks and reads") < said.index("Nothing to change")
    rows = [journals.process(), journals.end(END_S)]
    said = " ".join(printed(report(tmp_path, rows)))
    assert " Nothing to change was found." in said
    assert "could be seen" not in said


def test_the_lines_at_which_the_rest_of_the_time_went_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text("import scipy\n\nwork()\nrest()\n", encoding="utf-8")
    path = str(tmp_path / "slow.py")
    rows = [
        journals.process(),
        *journals.looks(
            0.0,
            ((path, 1), "importlib.load", 4.0),
            ((path, 3), "", 30.0),
            ((path, 3), "jax.grad", 20.0),
            ((path, 4), "", 0.005),
        ),
        journals.imported("scipy", 0.0, 3.9),
        journals.call(1),
        journals.stage(1, 20.0, {"trace": 3.0, "compile": 10.0}),  # at this line too
        journals.end(END_S),
    ]
    made = report(tmp_path, rows)
    told = [(one.line, one.source, one.runs, round(one.seconds, 3)) for one in made.lines]
    assert told == [
        (3, "work()", "jax.grad", 20.0),
        (3, "work()", "", 17.0),
        (1, "import scipy", "import scipy", 3.9),
        (1, "import scipy", "importlib.load", 0.1),
    ]
    short = terminal.text(document(made), WIDTH)
    assert [line.split() for line in short.splitlines() if "work()" in line] == [
        ["slow.py:3", "work()", "~37.0", "s"]
    ]
    assert "jax.grad" in "\n".join(printed(made))


def test_a_page_shows_what_was_read_from_a_cache(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    page_of = importlib.import_module("coldwarm.doctor.doctor_page").page_of_doctor
    hit = journals.stage(9, 20.0, {"compile": 3.0, "cache_read": 4.0}, hit=True)
    read, none = ([*faulty()[:-1], journals.call(9), *more] for more in ([hit], []))
    column = '<th scope="col" class="n">cache</th>'
    assert column in page_of(report(tmp_path / "read", read), [], BEGIN_S)
    assert column not in page_of(report(tmp_path / "none", none), [], BEGIN_S)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_obeyed_by_nothing(text: str, tmp_path: Path) -> None:
    rows = [row for number in range(1, 6) for row in again(number, text)]
    lines = printed(report(tmp_path, [journals.process(argv=["python", text]), *rows]))
    assert all(line.isprintable() for line in lines)
    assert not any(COMMAND.search(line) for line in lines)
