"""A folder that is taken away while a run writes to it: the run has not succeeded."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from coldwarm.errors import StorageError
from coldwarm.runner.directory import JOURNAL, RunDirectory
from coldwarm.runner.suite import _Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.lab import Lab

DELETING = """\
import shutil
from pathlib import Path

CALLS = []


def f():
    CALLS.append(1)
    if len(CALLS) == 2:
        shutil.rmtree({folder!r}, ignore_errors=True)
    return 1.0
"""
PLAN = ("--rounds", "2", "--max-rounds", "2", "--time-budget", "20s")


def test_bench_does_not_end_well_after_its_folder_was_deleted(bench: Lab) -> None:
    (bench.path / "f.py").write_text(DELETING.format(folder=str(bench.out)))
    done = bench.command("bench", "f.py:f", "--out", bench.out, *PLAN)
    assert done.code == 3, (done.out, done.err)
    said = done.err.strip().splitlines()[-1]
    assert f"{bench.out / JOURNAL} was deleted or moved while the run wrote to {bench.out}" in said


def _emptied(path: Path) -> None:
    for one in path.iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()


def _replaced(path: Path) -> None:
    shutil.move(path, path.with_name("elsewhere"))
    shutil.copytree(path.with_name("elsewhere"), path)


def _made_anew(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def _is_a_file(path: Path) -> None:
    shutil.rmtree(path)
    path.touch()


def _leads_elsewhere(path: Path) -> None:
    shutil.move(path, path.with_name("elsewhere"))
    other = path.with_name("other")
    other.mkdir()
    path.symlink_to(other)


GONE: dict[str, Callable[[Path], object]] = {
    "deleted": shutil.rmtree,
    "emptied": _emptied,
    "moved": lambda path: shutil.move(path, path.with_name("elsewhere")),
    "copied over": _replaced,
    "made anew": _made_anew,
    "now a file": _is_a_file,
    "now a link to another": _leads_elsewhere,
    "journal deleted": lambda path: (path / JOURNAL).unlink(),
    "journal replaced": lambda path: shutil.copy(
        (path / JOURNAL).rename(path / "old"), path / JOURNAL
    ),
}


@pytest.mark.parametrize("gone", GONE.values(), ids=GONE)
def test_nothing_is_written_where_another_folder_is(
    tmp_path: Path, gone: Callable[[Path], object]
) -> None:
    path = tmp_path / "run"
    with RunDirectory(path, resume=False) as directory:
        directory.append("event", {"a": 1})
        directory.write("suite.json", b"{}")
        gone(path)
        for act in (
            lambda: directory.append("event", {"a": 2}),
            lambda: directory.write("suite.json", b"{}"),
            directory.require,
        ):
            with pytest.raises(StorageError, match="was deleted or moved while the run wrote to"):
                act()


@pytest.mark.parametrize("name", ["environment.json", "suite.json", "cases/numpy_small_8_f32.json"])
def test_a_file_that_is_gone_at_the_end_is_named(tmp_path: Path, name: str) -> None:
    with RunDirectory(tmp_path / "run", resume=False) as directory:
        directory.write("environment.json", b"{}")
        directory.write("suite.json", b"{}")
        directory.write("cases/numpy_small_8_f32.json", b"{}")
        named = ("environment.json", "suite.json", "cases/numpy_small_8_f32.json")
        directory.require(*named)
        (tmp_path / "run" / name).unlink()
        with pytest.raises(StorageError, match=name):
            directory.require(*named)
    assert "require" in _Session._finish.__code__.co_names
