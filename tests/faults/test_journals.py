"""Journals that a power cut has emptied, or that are none: nothing is lost, nothing hangs."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from tests.faults.lab import GOOD, Lab
from tests.faults.plans import ONE

if TYPE_CHECKING:
    from pathlib import Path

BEGUN = b'{"crc32":"00000000","kind":"header","reco'


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def line(kind: str, record: dict[str, Any]) -> bytes:
    body = json.dumps(record, separators=(",", ":")).encode()
    return b'{"crc32":"%08x","kind":"%s","record":%s}\n' % (zlib.crc32(body), kind.encode(), body)


def resume(bench: Lab) -> str:
    """Resume the run; return the one line of its refusal, after a look that nothing changed."""
    journal = bench.out / "journal.jsonl"
    before = files(bench.out) if journal.is_file() and not journal.is_symlink() else {}
    done = bench.command("run", "--out", bench.out, "--resume", timeout_s=60.0)
    assert done.code in {2, 3}, done.err
    assert not before or files(bench.out) == before
    return done.one_line()


@pytest.fixture
def finished(bench: Lab, one_run: Path) -> Lab:
    """Return a laboratory with a run that is complete."""
    shutil.copytree(one_run, bench.out, symlinks=True)
    return bench


@pytest.mark.parametrize("left", [b"", bytes(5000), BEGUN, b"\n" * 100, b"{}\n"])
def test_a_finished_run_whose_journal_is_gone_is_not_overwritten(
    finished: Lab, left: bytes
) -> None:
    (finished.out / "journal.jsonl").write_bytes(left)
    said = resume(finished)
    assert "has a journal without a header" in said
    assert "start a new run in another --out" in said


def test_a_journal_cut_short_costs_no_observation(finished: Lab) -> None:
    """GIVEN the last lines lost, and the case's file whole THEN the file gives them back."""
    before = finished.case(GOOD)["observations"]
    finished.out.joinpath("journal.jsonl").write_bytes(finished.journal()[0])
    assert finished.command("run", "--out", finished.out, "--resume").code == 0
    assert finished.case(GOOD)["observations"] == before
    finished.assert_clean()


def test_a_case_is_not_overwritten_by_less_where_no_index_vouches_for_it(finished: Lab) -> None:
    finished.out.joinpath("journal.jsonl").write_bytes(finished.journal()[0])
    finished.out.joinpath("suite.json").unlink()
    assert f"{GOOD}.json has 1 observations that the journal lacks" in resume(finished)


def test_what_had_not_begun_measures_nothing_unasked(bench: Lab) -> None:
    bench.out.mkdir()
    (bench.out / "journal.jsonl").write_bytes(BEGUN)
    assert "give its options again with --resume" in resume(bench)
    assert bench.run(*ONE, "--resume").code == 0
    bench.assert_clean()


def test_a_file_of_someone_else_is_not_changed(bench: Lab) -> None:
    bench.out.mkdir()
    (bench.out / "journal.jsonl").write_text("Monday\nTuesday, without an end")
    assert "has a journal without a header" in resume(bench)


def test_a_header_lacks_a_key(bench: Lab) -> None:
    bench.out.mkdir()
    for lacking in (
        {},
        {"run_id": 1},
        {"options": {"max_runs": 2**40}, "run_id": "x"},
    ):
        (bench.out / "journal.jsonl").write_bytes(line("header", lacking))
        assert "has a journal without a header" in resume(bench)
        told = bench.command("validate", bench.out)
        assert told.code == 3
        assert "is no header of a run" in told.out


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("observation", {"order": 2**40}, "something ran as number 1099511627776"),
        ("event", {"event": "budget", "total_s": "an hour"}, "gives a budget of 'an hour'"),
        ("event", {"event": "budget", "total_s": 1e300}, "gives a budget of 1e+300"),
    ],
)
def test_a_journal_says_what_no_run_has_written(
    finished: Lab, kind: str, change: dict[str, Any], said: str
) -> None:
    seen = json.loads(finished.journal()[1])["record"] if kind == "observation" else {}
    with (finished.out / "journal.jsonl").open("ab") as file:
        file.write(line(kind, {**seen, "attempt": 1, **change} if seen else change))
    assert said in resume(finished)


@pytest.mark.parametrize("what", ["pipe", "zeros", "large", "endless", "folder"])
@pytest.mark.parametrize("command", ["validate", "resume"])
def test_what_is_no_file_of_a_run_is_not_read(bench: Lab, what: str, command: str) -> None:
    bench.out.mkdir()
    journal = bench.out / "journal.jsonl"
    if what == "pipe":
        os.mkfifo(journal)
    elif what == "zeros":
        journal.symlink_to("/dev/zero")
    elif what == "folder":
        journal.mkdir()
    else:
        with journal.open("wb") as file:
            file.truncate(2**31 if what == "large" else 2**28)  # of holes: it takes no room
    prefix = ("sh", "-c", 'ulimit -v 1500000; exec "$@"', "sh")
    arguments = ("validate", journal) if command == "validate" else resume_of(bench)
    done = bench.command(*arguments, prefix=prefix, timeout_s=60.0)
    assert done.code in {2, 3}, done.err
    assert "MemoryError" not in done.err
    said = done.out if command == "validate" else done.one_line()
    reasons = (
        "no regular file",
        "Is a directory",
        "larger than",
        "a line of more than",
        "holds no artifact",
    )
    assert any(reason in said for reason in reasons), said


def resume_of(bench: Lab) -> tuple[str | Path, ...]:
    return ("run", "--out", bench.out, "--resume")
