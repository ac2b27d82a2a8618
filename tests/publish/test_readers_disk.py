"""A reader's own disk that takes nothing more says nothing of the archive that is read."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

import pytest
from tests.publish.conftest import program

from coldwarm import wire

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call

AGAIN = (["verify"], ["verify", "--json"], ["replicate", "--as-it-is", "--out", "OUT"])
REFUSALS = {
    "full": errno.ENOSPC,
    "quota": errno.EDQUOT,
    "broken": errno.EIO,
    "read_only": errno.EROFS,
    "no_right": errno.EACCES,
    "too_large_a_file": errno.EFBIG,
}


@pytest.fixture
def packed(call: Call, snapshot: Path, tmp_path: Path) -> Path:
    file = tmp_path / "s1.tar.gz"
    assert call("package", snapshot, "--out", file)[0] == 0
    return file


@pytest.mark.parametrize("code", REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("given", AGAIN, ids=" ".join)
def test_a_write_that_fails_is_the_readers_and_not_the_archives(
    call: Call, packed: Path, code: int, given: list[str]
) -> None:
    """GIVEN a sound archive WHEN nothing can be written here THEN 70, and the folder is named."""

    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    call.monkeypatch.setattr(wire, "write_all", refuse)
    name, *more = (str(packed.parent / "out") if one == "OUT" else one for one in given)
    err = call.refused(name, packed, *more, code=70)
    assert f"{tempfile.gettempdir()} cannot take what is unpacked: {os.strerror(code)}" in err
    assert "set TMPDIR" in err
    assert packed.name not in err


def test_no_temporary_folder_at_all(
    call: Call, packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/x']")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    monkeypatch.setenv("TMPDIR", "/x")
    assert "/x cannot take what is unpacked: No usable" in call.refused("verify", packed, code=70)


def test_an_archive_that_is_broken_is_still_named(call: Call, packed: Path) -> None:
    packed.write_bytes(packed.read_bytes()[:-200])
    assert packed.name in call.refused("verify", packed, code=3)


def test_a_real_disk_that_is_full(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    line = [str(mount), "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    if mount is None or subprocess.run(line, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be made here")
    try:
        monkeypatch.setenv("TMPDIR", str(disk))
        done = program("verify", packed)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)  # noqa: S607 - the system's
    assert done.returncode == 70, done.stderr
    assert f"{disk} cannot take what is unpacked: No space left on device" in done.stderr
