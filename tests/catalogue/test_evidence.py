"""Committed evidence: each rule is older than what it judges, and every verdict follows again."""

from __future__ import annotations

import subprocess
import tarfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coldwarm.catalogue.claims import claims
from coldwarm.cli._verdicts import opened
from coldwarm.contracts.catalogue import INDEXES, ClaimResult
from coldwarm.runner.catalogue import stored
from coldwarm.runner.catalogue.measuring import sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _pytest.mark import ParameterSet

    from coldwarm.contracts.catalogue import Kind

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ROOT / "docs" / "results" / "evidence"
NONE_YET = "docs/results/evidence holds none"
SPECS = claims().values()


def _committed(kind: Kind) -> list[Path] | list[ParameterSet]:
    """Return the evidence of a kind: its indexes, and the archives of snapshots that hold one."""
    index = INDEXES[kind]
    found = sorted(EVIDENCE.rglob(index))
    for path in sorted(EVIDENCE.rglob("*.tar.gz")):
        with tarfile.open(path) as archive:
            if any(name.endswith(f"/{kind}/{index}") for name in archive.getnames()):
                found.append(path)
    return found or [pytest.param(None, marks=pytest.mark.skip(reason=NONE_YET))]


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
    with opened(path, "claims") as found:
        return [one for one in found.results if isinstance(one, ClaimResult)]


@pytest.mark.parametrize("path", _committed("claims"))
def test_a_rule_is_older_than_its_evidence(path: Path) -> None:
    changed = _history()
    for one in _results(path):
        spec = claims()[one.claim]
        assert sha256(spec.source) == one.claim_sha256, f"{one.claim} is another since: test again"
        for file in (spec.source.path, *spec.source.shared):
            assert file in changed, f"{file} is not committed"
            assert changed[file] <= datetime.fromisoformat(one.measured_at), one.claim


@pytest.mark.parametrize("path", _committed("claims"))
def test_every_verdict_on_a_claim_follows_from_its_evidence(path: Path) -> None:
    with opened(path, "claims") as found:
        again = stored.judged(found)
    assert again.verdicts == found.verdicts
    assert not again.not_judged


@pytest.mark.parametrize("path", _committed("patterns"))
def test_every_verdict_on_a_pattern_follows_from_its_evidence(path: Path) -> None:
    with opened(path, "patterns") as found:
        again = stored.judged(found)
    assert again.verdicts == found.verdicts
    assert not again.not_judged


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
