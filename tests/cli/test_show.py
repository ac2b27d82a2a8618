"""``coldwarm show`` on what is no folder of a run."""

from __future__ import annotations

from pathlib import Path

from tests.started import coldwarm

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_an_archive_of_a_snapshot_is_shown() -> None:
    (archive,) = RESULTS.glob("*.tar.gz")
    done = coldwarm("show", archive)
    assert done.returncode == 0, done.stderr
    assert "The answer" in done.stdout
    assert {"ml", "scenarios"} <= set(done.stdout.splitlines())
    several = coldwarm("show", archive, "--json")
    assert several.returncode == 2
    assert "holds ml, scenarios; json is of one" in several.stderr


def test_what_is_no_result_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("no result", encoding="utf-8")
    (tmp_path / "packed.tar.gz").write_bytes(b"\x1f\x8bno archive")
    for name, text in (
        ("file.txt", "name the folder of one, or a snapshot's .tar.gz"),
        ("packed.tar.gz", "packed.tar.gz"),
        (".", "name the directory of a finished run"),
        ("none", "no such file or directory"),
    ):
        done = coldwarm("show", name, cwd=tmp_path)
        assert done.returncode in {2, 3}
        (said,) = done.stderr.strip().splitlines()
        assert text in said
