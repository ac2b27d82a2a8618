"""Committed evidence: each rule is older than what it judges, and every verdict follows again."""

from __future__ import annotations

import subprocess
import tarfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks import judged_again

from coldwarm.catalogue import stored
from coldwarm.catalogue.spec import claims
from coldwarm.cli._catalogue import _opened
from coldwarm.contracts.catalogue import INDEXES, ClaimResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _pytest.mark import ParameterSet

    from coldwarm.contracts.catalogue import Kind

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
EVIDENCE = RESULTS / "evidence"
SPECS = claims().values()


def _archives(kind: Kind) -> list[Path]:
    """Return the archives of committed snapshots that hold results of a kind."""
    return [path for path in sorted(RESULTS.rglob("*.tar.gz")) if _member(path, kind) is not None]


def _member(archive: Path, kind: Kind) -> bytes | None:
    """Return the index of a kind in an archive; ``None``: it has none."""
    with tarfile.open(archive) as opened_archive:
        for entry in opened_archive:
            if entry.name.endswith(f"/{kind}/{INDEXES[kind]}"):
                file = opened_archive.extractfile(entry)
                return file.read() if file else None
    return None


def _indexes(kind: Kind) -> list[Path]:
    """Return the committed indexes of a kind, from which the documentation is made."""
    return sorted(EVIDENCE.rglob(INDEXES[kind]))


def _given(found: list[Path]) -> list[Path] | list[ParameterSet]:
    reason = "docs/results/evidence holds none"
    return found or [pytest.param(None, marks=pytest.mark.skip(reason=reason))]


def _whole(kind: Kind) -> list[Path]:
    """Return the committed results whose runs are committed too."""
    return _archives(kind) + [path for path in _indexes(kind) if _has_runs(path, kind)]


def _has_runs(index: Path, kind: Kind) -> bool:
    pointed = stored.read(index, kind).pointed
    return all((index.parent / path).is_dir() for path in pointed)


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git says; ``None``: nothing, or there is no git."""
    git = ["git", *arguments]
    try:
        done = subprocess.run(
            git, cwd=folder, capture_output=True, text=True, check=False, timeout=60
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _changed_at(folder: Path, paths: Iterable[Path]) -> dict[Path, datetime]:
    """Return when files were changed last, as their commits are dated."""
    names = {path.resolve().relative_to(folder.resolve()).as_posix(): path for path in paths}
    told = _git(folder, "log", "--format=%x00%cI", "--name-only", "--", *names) or ""
    found: dict[Path, datetime] = {}
    for commit in told.split("\0")[1:]:  # the newest first
        date, *changed = commit.split()
        for name in changed:
            if name in names:
                found.setdefault(names[name], datetime.fromisoformat(date))
    return found


def _history() -> dict[Path, datetime]:
    """Return when the files of all claims were changed last."""
    top = _git(ROOT, "rev-parse", "--show-toplevel")
    if top is None or Path(top.strip()).resolve() != ROOT:
        pytest.skip("no checkout of git: nothing tells when a rule was written")
    if (_git(ROOT, "rev-parse", "--is-shallow-repository") or "").strip() == "true":
        pytest.skip("a shallow checkout: it does not tell when a rule was written")
    files = [path for spec in SPECS for path in (spec.source.path, *spec.source.shared)]
    if not all(path.resolve().is_relative_to(ROOT) for path in files):
        pytest.skip("the claims are installed, and not those of this checkout")
    return _changed_at(ROOT, files)


def _results(path: Path) -> Sequence[ClaimResult]:
    with _opened(path, "claims") as found:
        return [one for one in found.index.results if isinstance(one, ClaimResult)]


@pytest.mark.parametrize("path", _given(_indexes("claims") + _archives("claims")))
def test_a_rule_is_older_than_its_evidence(path: Path) -> None:
    changed = _history()
    for one in _results(path):
        spec = claims()[one.id]
        assert spec.sha256 == one.sha256, f"{one.id} is another since: test again"
        for file in (spec.source.path, *spec.source.shared):
            assert file in changed, f"{file} is not committed"
            assert changed[file] <= datetime.fromisoformat(one.measured_at), one.id


@pytest.mark.parametrize("path", _given(_indexes("claims")))
def test_a_pattern_has_one_result_for_all_that_is_said_of_it(path: Path) -> None:
    index = path.with_name(INDEXES["patterns"])
    known = {one.id: one for one in stored.read(index, "patterns").index.results}
    for claim in _results(path):
        for one in claim.patterns:
            assert one == known[one.id], claim.id


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["patterns", "claims"])
def test_every_verdict_follows_from_the_evidence_again(kind: Kind) -> None:
    found = _whole(kind)
    if not found:
        pytest.skip("no runs of evidence are committed")
    for path in found:
        with _opened(path, kind) as kept:
            again = stored.judged(kept)
        assert again.index.verdicts == kept.index.verdicts, path
        assert not again.not_judged, path


@pytest.mark.slow
def test_what_is_judged_again_is_what_is_committed(tmp_path: Path) -> None:
    archive = min(_archives("claims"), key=lambda path: path.stat().st_size)
    with tarfile.open(archive) as opened_archive:
        opened_archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    judged_again.main([str(folder / "claims"), str(folder / "patterns")])
    assert {path: path.read_bytes() for path in folder.rglob("*.json")} == before


@pytest.mark.parametrize("kind", ["patterns", "claims"])
def test_what_the_documentation_is_made_from_is_in_a_snapshot(kind: Kind) -> None:
    alone = [path for path in _indexes(kind) if not _has_runs(path, kind)]
    if not alone:
        pytest.skip("docs/results/evidence holds none without its runs")
    kept = [_member(path, kind) for path in _archives(kind)]
    for path in alone:
        assert path.read_bytes() in kept, f"{path} is in no archive below docs/results"


def test_the_last_change_of_a_file_is_that_of_its_newest_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "EMAIL"):
        monkeypatch.setenv(name, "a@example.org")
    if _git(tmp_path, "init", "--quiet") is None:
        pytest.skip("there is no git here")
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    for place, files in enumerate(([first, second], [second]), start=1):
        for file in files:
            file.write_text(str(place))
        date = f"2026-01-0{place}T00:00:00+00:00"
        monkeypatch.setenv("GIT_COMMITTER_DATE", date)
        assert _git(tmp_path, "add", ".") is not None
        assert _git(tmp_path, "-c", "commit.gpgsign=false", "commit", "-q", "-m", "x") is not None
    found = _changed_at(tmp_path, [first, second])
    assert {path: when.day for path, when in found.items()} == {first: 1, second: 2}
