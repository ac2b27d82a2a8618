"""What lies in a cache directory, and the pages of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import listing

if TYPE_CHECKING:
    from pathlib import Path


def test_new_files_are_counted_by_suffix(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "old.so").write_bytes(b"12345")
    before = listing.take(tmp_path)
    assert (before.count, before.total_bytes) == (1, 5)
    (tmp_path / "deep" / "old.so").write_bytes(b"changed")
    (tmp_path / "deep" / "er" / "new.so").touch()
    (tmp_path / "deep" / "er" / "entry").write_bytes(b"1")
    (tmp_path / "link").symlink_to("nowhere")
    after = listing.take(tmp_path)
    assert after.count == 4
    assert after.new_since(before) == {"(none)": 2, ".so": 1}
    assert before.new_since(after) == {}


def test_what_is_not_there_is_empty(tmp_path: Path) -> None:
    nothing = listing.take(tmp_path / "nowhere")
    assert (nothing.count, nothing.total_bytes) == (0, 0)


def test_pages_are_dropped_of_files_that_are_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 10_000)
    assert listing.drop_pages([file, tmp_path / "nowhere"]) in {1, None}
    assert file.read_bytes() == b"x" * 10_000
