"""A disk that is full, and directories that cannot be written."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAN = ("--backend", "numpy", "--deterministic", "--rounds", "2", "--max-rounds", "2")


def mount(path: Path, options: str) -> None:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)],  # noqa: S607 - the system's
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no small disk can be made here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return the root of a disk of 4 MB."""
    path = tmp_path / "disk"
    path.mkdir()
    try:
        mount(path, "size=4m")
    except FileNotFoundError:
        pytest.skip("no small disk can be made here: there is no mount")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)  # noqa: S607 - the system's


@pytest.mark.parametrize("left", [4, 8, 16, 30])
def test_a_disk_without_room_for_another_file_is_one_error(
    tmp_path: Path, site: Path, left: int
) -> None:
    """Wherever a run comes to it, the folders of a process's caches among them."""
    path = tmp_path / "disk"
    path.mkdir()
    mount(path, "size=4m,nr_inodes=100")
    try:
        names = [path / str(number) for number in range(100)]
        with suppress(OSError):
            for name in names:
                name.touch()
        for name in names[:left]:
            name.unlink(missing_ok=True)
        done = Lab(path, [site]).run(*PLAN)
        assert done.code in {0, 2, 3}, done.err
        assert "Traceback" not in done.err
        if done.code:
            assert "No space left on device" in last_line(done.err)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)  # noqa: S607 - the system's


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def leave(disk: Path, left: int) -> Path:
    """Fill a disk up to ``left`` bytes and return the file that does it."""
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(4 * 2**20 - left))
    return ballast


def test_a_full_disk_is_one_error_and_the_run_is_resumed(disk: Path, site: Path) -> None:
    lab = Lab(disk, [site])
    ballast = leave(disk, 45_000)
    done = lab.run(*PLAN)
    assert done.code == 3
    error = last_line(done.err)
    assert error.startswith(f"coldwarm: cannot write {lab.out}")
    assert "No space left on device; free some space" in error
    assert "--resume goes on from it" in error
    lab.assert_no_orphans()
    assert not list(lab.out.rglob("*.part"))
    before = [line for line in lab.journal() if line.endswith(b"\n")]
    assert len(before) >= 2
    assert lab.command("validate", lab.out / "journal.jsonl").code == 0

    ballast.unlink()
    done = lab.run(*PLAN, "--resume")
    assert done.code == 0, done.err
    assert lab.journal()[: len(before)] == before
    lab.assert_clean()


def test_a_candidate_is_not_to_blame_for_a_full_disk(disk: Path, site: Path) -> None:
    lab = Lab(disk, [site])
    # Too little for the inputs' reference answer, enough for the journal's first lines.
    ballast = leave(disk, 60_000)
    plan = ("--case", "elementwise_chain_1000000_f32", "--backend", "numpy", "--rounds", "1")
    done = lab.run(*plan)
    assert done.code == 3
    assert "No space left on device" in last_line(done.err)
    lab.assert_no_orphans()
    ballast.unlink()
    # The answer does not fit on this disk at all: still nobody's failure.
    assert lab.run(*plan, "--resume").code == 3
    assert not (lab.out / "suite.json").exists()
    assert lab.observations() == 0


def test_a_disk_that_is_full_from_the_start(disk: Path, site: Path) -> None:
    lab = Lab(disk, [site])
    leave(disk, 8192)
    done = lab.run(*PLAN)
    assert done.code == 3
    assert "No space left on device" in done.one_line()


@pytest.mark.slow
def test_a_file_size_limit_is_told_as_what_it_is(bench: Lab) -> None:
    prefix = ("sh", "-c", 'ulimit -f 64; exec "$@"', "sh")
    done = bench.command("run", *bench.arguments(*PLAN), prefix=prefix)
    assert done.code == 3
    assert last_line(done.err).startswith(f"coldwarm: cannot write {bench.out}/journal.jsonl: ")
    bench.assert_no_orphans()
    assert bench.command("validate", bench.out / "journal.jsonl").code == 0
    assert bench.run(*PLAN, "--resume").code == 0
    bench.assert_clean()


def test_a_read_only_directory(disk: Path, site: Path) -> None:
    lab = Lab(disk, [site])
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)  # noqa: S607 - the system's
    done = lab.run(*PLAN)
    assert done.code == 2
    assert "Read-only file system; name another place with --out" in done.one_line()
    assert not lab.out.exists()


def test_a_directory_below_a_file(bench: Lab) -> None:
    (bench.path / "file").write_text("text")
    for out in (bench.path / "file", bench.path / "file" / "out"):
        done = bench.run(*PLAN, "--out", out)
        assert done.code == 2
        assert re.search(r"another place with --out|name a folder", done.one_line())
    assert (bench.path / "file").read_text() == "text"
