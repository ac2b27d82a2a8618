"""A packed cache: the same when it is unpacked, and never in place where it is anything else."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from typing import TYPE_CHECKING, Any

import pytest
from tests.cache.test_check import JITTED, NO_XLA_CACHES, checked, filled
from tests.started import coldwarm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("filled") / "jax", JITTED, **NO_XLA_CACHES)


@pytest.fixture
def packed(cache: Path, tmp_path: Path) -> Path:
    archive = tmp_path / "cache.tar.gz"
    done = coldwarm("cache", "pack", cache, "-o", archive, "--format", "json")
    assert done.returncode == 0, done.stderr
    return archive


def keys(folder: Path) -> tuple[Path, Path]:
    private, public = folder / "key.pem", folder / "pub.pem"
    line = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(private)]
    subprocess.run(line, check=True, capture_output=True)
    line = ["openssl", "pkey", "-in", str(private), "-pubout", "-out", str(public)]
    subprocess.run(line, check=True, capture_output=True)
    return private, public


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {
        one.relative_to(folder).as_posix(): (one.read_bytes(), one.stat().st_mtime_ns)
        for one in files
    }


def test_what_is_unpacked_is_what_was_packed_and_hits(
    cache: Path, packed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere" / "jax"
    done = coldwarm("cache", "unpack", packed, folder)
    assert done.returncode == 0, done.stderr
    assert "runs code of whoever made it" in done.stdout
    assert f"export JAX_COMPILATION_CACHE_DIR={folder}" in done.stdout.replace("\n", "")
    assert contents(folder) == contents(cache)
    assert sorted(one.name for one in folder.parent.iterdir()) == ["jax"]
    status, found = checked(folder, JITTED, **NO_XLA_CACHES)
    assert (status, {one["n_missed"] for one in found["lines"]}) == (0, {0})


def test_a_signature_is_asked_for(cache: Path, packed: Path, tmp_path: Path) -> None:
    private, public = keys(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    signed = tmp_path / "signed.tar.gz"
    assert coldwarm("cache", "pack", cache, "-o", signed, "--key", private).returncode == 0
    assert coldwarm("cache", "unpack", signed, tmp_path / "a", "--key", public).returncode == 0
    for archive, key in ((packed, public), (signed, keys(other)[1])):
        done = coldwarm("cache", "unpack", archive, tmp_path / "b", "--key", key)
        assert (done.returncode, done.stdout) == (6, "")
        assert "signed" in done.stderr
        assert not (tmp_path / "b").exists()


def again(archive: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Write an archive again, with other entries: by name their data, or a whole entry."""
    with tarfile.open(archive) as read:
        entries: dict[str, Any] = {
            one.name: file.read() for one in read if (file := read.extractfile(one))
        }
    change(entries)
    made = archive.with_name("changed.tar.gz")
    with tarfile.open(made, "w:gz") as write:
        for name, data in entries.items():
            entry = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(data, bytes):
                entry.size = len(data)
                write.addfile(entry, io.BytesIO(data))
            else:
                write.addfile(entry)
    return made


def entry(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


def first(entries: dict[str, Any]) -> str:
    return next(name for name in entries if name.startswith("cache/"))


def named(entries: dict[str, Any], **changes: Any) -> None:
    """Change the first file of the manifest."""
    manifest = json.loads(entries["manifest.json"])
    manifest["files"][0] |= changes
    entries["manifest.json"] = json.dumps(manifest).encode()


HOSTILE: dict[str, Callable[[dict[str, Any]], object]] = {
    "other bytes": lambda e: e.update({first(e): bytes([e[first(e)][0] ^ 1]) + e[first(e)][1:]}),
    "shorter": lambda e: e.update({first(e): e[first(e)][:-1]}),
    "missing": lambda e: e.pop(first(e)),
    "too much": lambda e: e.update({"cache/more": b"x"}),
    "beside": lambda e: e.update({"run.py": b"x"}),
    "outside": lambda e: e.update({"../outside": b"x"}),
    "absolute": lambda e: e.update({"/tmp/outside": b"x"}),  # noqa: S108 - never written
    "a link": lambda e: e.update({"cache/l": entry("cache/l", tarfile.SYMTYPE, "/etc/passwd")}),
    "a hard link": lambda e: e.update({"cache/l": entry("cache/l", tarfile.LNKTYPE, "../x")}),
    "a FIFO": lambda e: e.update({"cache/f": entry("cache/f", tarfile.FIFOTYPE)}),
    "a device": lambda e: e.update({"cache/d": entry("cache/d", tarfile.CHRTYPE)}),
    "no manifest": lambda e: e.pop("manifest.json"),
    "a manifest that is none": lambda e: e.update({"manifest.json": b"[1]"}),
    "a manifest of another kind": lambda e: e.update({"manifest.json": b"{}"}),
    "a name that leads out": lambda e: named(e, path="../../outside"),
    "a moment that is none": lambda e: named(e, modified_ns=10**30),
    "a hash that is none": lambda e: named(e, sha256="x"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_what_is_not_as_it_was_packed_is_never_in_place(
    packed: Path, tmp_path: Path, how: str
) -> None:
    archive = again(packed, HOSTILE[how])
    place = tmp_path / "in" / "here"
    done = coldwarm("cache", "unpack", archive, place / "jax")
    assert done.returncode in {2, 3}, (how, done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1
    assert [*place.iterdir()] == [], how
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "in" / "outside").exists()


@pytest.mark.parametrize("how", ["empty", "cut off", "no archive", "more behind it", "a folder"])
def test_a_file_that_is_no_archive_is_refused(packed: Path, tmp_path: Path, how: str) -> None:
    data, archive = packed.read_bytes(), tmp_path / "broken.tar.gz"
    if how == "a folder":
        archive.mkdir()
    else:
        told = {"empty": b"", "cut off": data[: len(data) // 2], "no archive": b"text" * 99}
        archive.write_bytes(told.get(how, data + b"more"))
    done = coldwarm("cache", "unpack", archive, tmp_path / "jax")
    assert done.returncode in {2, 3}, done.stdout
    assert not (tmp_path / "jax").exists()


def test_nothing_that_is_there_is_changed(packed: Path, tmp_path: Path) -> None:
    there = tmp_path / "jax"
    there.mkdir()
    (there / "own").touch()
    done = coldwarm("cache", "unpack", packed, there)
    assert (done.returncode, "is there" in done.stderr) == (2, True)
    assert [one.name for one in there.iterdir()] == ["own"]
    (there / "own").unlink()
    assert coldwarm("cache", "unpack", packed, there).returncode == 0, "an empty folder is free"


def test_links_and_special_files_are_left_out_and_told(cache: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name, (data, _) in contents(cache).items():
        (copy / name).write_bytes(data)
    (copy / "link").symlink_to("/etc/passwd")
    os.mkfifo(copy / "fifo")
    done = coldwarm("cache", "pack", copy, "-o", tmp_path / "a.tar.gz", "--format", "json")
    found = json.loads(done.stdout)
    assert (found["n_left_out"], len(found["files"])) == (2, len(contents(cache)))
    empty = tmp_path / "empty"
    empty.mkdir()
    done = coldwarm("cache", "pack", empty, "-o", tmp_path / "b.tar.gz")
    assert (done.returncode, "holds no program" in done.stderr) == (2, True)
