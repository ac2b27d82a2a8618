"""What the essay says of ten jobs by size follows from the samples that are committed."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from tests.started import coldwarm

SIZES = Path(__file__).resolve().parents[2] / "docs" / "results" / "sizes"


@pytest.mark.slow
def test_what_the_essay_shows_follows_from_its_samples(tmp_path: Path) -> None:
    with tarfile.open(SIZES / "jobs.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    committed = sorted(SIZES.glob("*.json"))
    assert len(committed) == 10
    for one in committed:
        done = coldwarm("show", one.stem, "--format", "json", cwd=tmp_path / "jobs")
        assert done.returncode == 0, done.stderr
        assert done.stdout == one.read_text("utf-8"), one.stem
