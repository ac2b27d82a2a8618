"""The output directory: one run at a time, whole files, a journal that only grows."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests.contracts import samples

from coldwarm.contracts.run_journal import JournalEntry
from coldwarm.errors import ResumeError, RunDirectoryError, StorageError
from coldwarm.runner import isolation
from coldwarm.runner.directory import JOURNAL, RunDirectory

if TYPE_CHECKING:
    from tests.runner.conftest import Observe


def test_one_run_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    with (
        RunDirectory(path, resume=False),
        pytest.raises(RunDirectoryError, match="another run is writing to"),
    ):
        RunDirectory(path, resume=True)
    with RunDirectory(path, resume=True):
        pass
    with pytest.raises(RunDirectoryError, match="already holds a run"):
        RunDirectory(path, resume=False)
    with RunDirectory(path, resume=True):
        pass  # a refusal lets the lock go


def test_other_files_are_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunDirectoryError, match="holds other files"):
        RunDirectory(tmp_path, resume=False)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(ResumeError, match="holds no run to resume"):
        RunDirectory(tmp_path, resume=True)


def test_what_was_appended_is_read_and_a_torn_end_is_cut(tmp_path: Path, observe: Observe) -> None:
    with RunDirectory(tmp_path, resume=False) as directory:
        directory.append("header", samples.HEADER)
        directory.append("observation", observe())
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"crc32":"0')
    with RunDirectory(tmp_path, resume=True) as directory:
        directory.append("event", {"what": "resumed"})
        entries = list(directory.entries())
    assert [entry.kind for entry in entries if isinstance(entry, JournalEntry)] == [
        "header",
        "observation",
        "event",
    ]
    assert entries[1] == JournalEntry("observation", observe())


def test_a_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunDirectory(tmp_path, resume=False) as directory:
        assert directory.write("cases/a.json", b"{}").startswith("44136fa355b3678a")

        def full(_descriptor: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match=r"a\.json: No space left on device; free some"):
            directory.write("cases/a.json", b"[]")
        with pytest.raises(StorageError, match="what was measured before is kept"):
            directory.append("event", {})
    assert (tmp_path / "cases" / "a.json").read_bytes() == b"{}"
    assert [path.name for path in (tmp_path / "cases").iterdir()] == ["a.json"]


def test_an_interruption_leaves_no_half_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_self: Path, _target: Path) -> None:
        raise KeyboardInterrupt

    with RunDirectory(tmp_path, resume=False) as directory:
        monkeypatch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            directory.write("suite.json", b"{}")
    assert {path.name for path in tmp_path.iterdir()} == {".lock", JOURNAL}


def test_work_begins_empty_and_is_removed(tmp_path: Path) -> None:
    with RunDirectory(tmp_path, resume=False) as directory:
        directory.prepare()
        (directory.work / "caches").mkdir()
        (directory.work / "caches" / "entry").touch()
        directory.prepare()
        assert list(directory.work.iterdir()) == []
        directory.clean()
        assert not directory.work.exists()


def test_a_candidate_that_speaks_of_a_full_disk_is_believed_only_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "OSError: [Errno 28] No space left on device: '/dev/shm/x'"
    usage = SimpleNamespace(free=2**40)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    isolation.check_disk(tmp_path, words)
    usage.free = 1000
    isolation.check_disk(tmp_path, "signal: SIGSEGV")
    with pytest.raises(StorageError, match="No space left on device"):
        isolation.check_disk(tmp_path, words)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StorageError, match="cannot write"):
        isolation.check_disk(tmp_path / "nowhere", "")
