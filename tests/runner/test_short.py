"""Short names of deep folders: sockets fit under them, and nothing stays behind."""

from __future__ import annotations

import multiprocessing
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.runner import isolation, temporary

if TYPE_CHECKING:
    import pytest


def deep(tmp_path: Path) -> Path:
    folder = tmp_path / ("deep" * 20) / "tmp"
    folder.mkdir(parents=True)
    return folder


def test_a_short_folder_keeps_its_name() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        assert temporary.link(Path(name)) == Path(name)


def test_a_deep_folder_has_a_short_name_the_same_each_time(tmp_path: Path) -> None:
    folder = deep(tmp_path)
    name = temporary.link(folder)
    assert len(str(name)) <= 70
    assert name == temporary.link(folder)
    (name / "file").touch()
    assert (folder / "file").exists()
    isolation.discard(tmp_path)
    assert not name.is_symlink()


def test_what_someone_else_put_there_is_not_followed(tmp_path: Path) -> None:
    folder = deep(tmp_path)
    name = temporary.link(folder)
    name.unlink()
    name.symlink_to(tmp_path)
    other = temporary.link(folder)
    assert other != name
    assert other.readlink() == folder
    name.unlink()
    other.unlink()


def test_processes_can_talk_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = temporary.link(deep(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(name))
    with multiprocessing.get_context("spawn").Manager() as manager:
        assert manager.list([1])[0] == 1
    name.unlink()
