"""``coldwarm snapshot package``: the same bytes from the same snapshot, and nothing else in it."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from typing import TYPE_CHECKING

import pytest
from tests.publish.conftest import files

from coldwarm.contracts.codec import decode_as
from coldwarm.contracts.snapshot import PackageMade
from coldwarm.publish import layout

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call


def test_the_same_snapshot_gives_the_same_archive(
    snapshot: Path, call: Call, tmp_path: Path
) -> None:
    copy = shutil.copytree(snapshot, tmp_path / "copy" / "other-name")
    for file in copy.rglob("*"):
        os.utime(file, (1, 1))
        file.chmod(0o700)
    one, two = tmp_path / "one.tar.gz", tmp_path / "two.tar.gz"
    assert call("package", snapshot, "--out", one)[0] == 0
    assert call("package", copy, "--out", two)[0] == 0
    assert one.read_bytes() == two.read_bytes()


def test_the_archive_holds_the_snapshot(snapshot: Path, call: Call, tmp_path: Path) -> None:
    (snapshot / layout.SIGNATURE).write_bytes(b"s" * 64)
    code, said, _ = call("package", snapshot, "--json")
    assert code == 0
    told = decode_as(PackageMade, said.encode())
    archive = snapshot.parent / "s1.tar.gz"
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert (told.sha256, told.n_files) == (digest, len(files(snapshot)))
    assert (snapshot.parent / "s1.tar.gz.sha256").read_text() == f"{digest}  s1.tar.gz\n"
    with tarfile.open(archive) as packed:
        for entry in packed:
            assert (entry.uid, entry.gid, entry.uname, entry.mtime) == (0, 0, "", 0)
            assert entry.isreg()
        packed.extractall(tmp_path / "out", filter="data")
    assert files(tmp_path / "out" / "s1") == files(snapshot)
    assert str(tmp_path).encode() not in archive.read_bytes()


def test_a_snapshot_that_was_changed_is_not_packed(snapshot: Path, call: Call) -> None:
    manifest = snapshot / layout.MANIFEST
    held = manifest.read_bytes()
    manifest.write_bytes(held + b" ")
    refused = call.refused("package", snapshot, code=3)
    assert "is not the file that the index of its snapshot names" in refused
    manifest.unlink()
    assert "is not there" in call.refused("package", snapshot, code=3)
    manifest.symlink_to("/etc/hostname")
    assert "leads out of the folder" in call.refused("package", snapshot, code=3)
    manifest.unlink()
    manifest.write_bytes(held)
    (snapshot / "more.txt").touch()
    assert "more.txt" in call.refused("package", snapshot, code=3)
    (snapshot / "more.txt").unlink()
    assert call("package", snapshot)[0] == 0


def test_another_file_is_not_written_over(snapshot: Path, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "mine.tar.gz"
    out.write_text("mine")
    assert "is not this archive" in call.refused("package", snapshot, "--out", out)
    assert out.read_text() == "mine"


@pytest.mark.parametrize("content", [None, "", "{}", '{"schema_version": "nextstat.x.v1"}'])
def test_what_is_no_snapshot_is_not_packed(call: Call, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / layout.INDEX).write_text(content)
    call.refused("package", tmp_path, code=3)
