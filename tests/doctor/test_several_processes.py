"""Of several processes: the time is of the first, and what all of them found stands once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S
from tests.doctor.test_shown import END_S, again, printed

from coldwarm.doctor import watch
from coldwarm.doctor.findings_document import headline, in_words
from coldwarm.doctor.record.journal import Journal
from coldwarm.doctor.record.recorder import Recorder
from coldwarm.doctor.watch import ProgramEnd

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.doctor import DoctorReport

WORKERS = 2


def compiling(n: int = 5) -> list[dict[str, Any]]:
    return [row for number in range(1, n + 1) for row in again(number)]


def report(
    folder: Path, first: list[dict[str, Any]], *workers: list[dict[str, Any]]
) -> DoctorReport:
    journals.written(folder, journals.process(), *first, journals.end(END_S), name="1")
    for at, rows in enumerate(workers, 2):
        begun = journals.process(at_s=BEGIN_S + at, pid=at, parent=4321)
        journals.written(folder, begun, *rows, name=str(at))
    ended = ProgramEnd(BEGIN_S, BEGIN_S + END_S, 0)
    return watch.report(watch.read(folder), ended, "2026-01-02T03:04:05+00:00")


def test_what_only_the_workers_compiled_is_not_denied(tmp_path: Path) -> None:
    said = headline(report(tmp_path, [], compiling(), compiling()))
    assert said == (
        "Of 60.0 s of the first of 3 processes, nothing was compiling;"
        " the others spent 5.00 s compiling (10 programs), added up."
    )


def test_what_the_workers_imported_is_told(tmp_path: Path) -> None:
    imports = [journals.imported("torch", 0.0, 2.0)]
    said = headline(report(tmp_path, imports, imports, imports))
    assert said.endswith("the others compiled nothing; they imported for 4.00 s, added up.")


def test_programs_of_the_first_process_stand_beside_its_time(tmp_path: Path) -> None:
    said = headline(report(tmp_path, compiling(1), compiling(), compiling()))
    assert "500 ms were compiling (1 program); the others spent 5.00 s" in said
    assert said.endswith("(10 programs), added up.")


def test_what_the_workers_read_from_a_cache_is_not_said_to_be_compiled(tmp_path: Path) -> None:
    read = [journals.call(1), journals.stage(1, 20.0, {"cache_read": 0.25}, hit=True)]
    said = headline(report(tmp_path, read, read))
    assert "250 ms were getting 1 program from a cache, and nothing was compiled" in said
    assert said.endswith("; the others spent 250 ms getting 1 program from a cache, added up.")


def test_where_only_the_first_compiled_it_says_so(tmp_path: Path) -> None:
    said = headline(report(tmp_path, compiling(), []))
    assert "2.50 s were compiling (5 programs); the others compiled nothing." in said


def test_where_none_compiled_it_says_so(tmp_path: Path) -> None:
    said = headline(report(tmp_path, [], []))
    assert "nothing was compiling: neither JAX" in said
    assert said.endswith("; the others compiled nothing.")


def test_a_worker_that_was_ended_while_it_compiled_has_begun(tmp_path: Path) -> None:
    said = headline(report(tmp_path, compiling(), [journals.call(1)]))
    assert said.endswith("; the others compiled nothing to its end.")


def test_a_line_of_one_process_that_compiled_nothing_to_its_end(tmp_path: Path) -> None:
    said = headline(report(tmp_path, [journals.call(1)]))
    assert said == ("Of 60.0 s, nothing was compiling: what was begun was not compiled to its end.")


def test_a_finding_of_several_processes_stands_once(tmp_path: Path) -> None:
    one = report(tmp_path, [], compiling(5), compiling(6))
    (found,) = in_words(one).findings
    assert (found.n_processes, found.n) == (WORKERS, 4 + 5)
    assert found.cost_s == pytest.approx(4.5)
    assert found.saving_s == pytest.approx(2.5)
    assert found.text.endswith("; in 2 processes: this is of one of them")
    assert found.estimate.startswith("the time of the 5 compilations that this caused, in one of 2")
    text = " ".join(" ".join(printed(one)).split())
    assert "in 2 processes: this is of one of them" in text
    assert text.endswith("saves about 2.50 s in one of 2 processes.")


def test_a_line_of_several_processes_stands_once(tmp_path: Path) -> None:
    one = report(tmp_path, compiling(1), compiling(5), compiling(6))
    (site,) = one.sites
    assert (site.n_processes, site.n_compiles, one.n_sites) == (3, 12, 1)
    assert site.total_s == pytest.approx(6.0)
    assert site.compile_s == pytest.approx(6.0)
    assert site.causes == {"static": 9}
    assert site.null_reasons["n_calls"].code == "called_elsewhere"


def test_findings_of_one_process_are_never_put_together(tmp_path: Path) -> None:
    apart = compiling()
    other = {"name": "other", "path": "/rate.py", "line": 1}
    more = [
        {**row, "call": row["call"] + 10, **({"function": other} if row["kind"] == "call" else {})}
        for row in apart
    ]
    found = report(tmp_path, [*apart, *more], apart).findings
    assert sorted((one.says.values["function"], one.n_processes) for one in found) == [
        ("other", 1),
        ("rate", 2),
    ]


TRACKER = "from multiprocessing.resource_tracker import main;main(6)"


def test_what_python_starts_beside_the_workers_is_no_process_of_the_program(
    tmp_path: Path,
) -> None:
    rows: list[dict[str, Any]] = [{}, {"is_tracker": True}, {"argv": ["python", "-c", "work()"]}]
    for at, more in enumerate(rows, 1):
        begun = journals.process(at_s=BEGIN_S + at, pid=at, **more)
        journals.written(tmp_path, begun, name=str(at))
    assert len(watch.read(tmp_path).processes) == WORKERS


@pytest.mark.parametrize(("code", "is_tracker"), [(TRACKER, True), ("work()", False)])
def test_a_process_tells_that_it_is_what_python_starts_beside_workers(
    monkeypatch: pytest.MonkeyPatch, *, code: str, is_tracker: bool
) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", code])
    told_of = Recorder(Journal()).process()
    assert told_of["is_tracker"] is is_tracker
    assert code not in told_of["argv"]
