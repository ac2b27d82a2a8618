"""Forgeries by somebody who has no key: none is proved, whatever version it says it is of.

Each is wrong, or what it lies about is counted as only hashed in the first line that is printed.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.publish import disguised, forgeries, forging
from tests.publish.conftest import openssl

from coldwarm.cli.snapshot import views as views_of
from coldwarm.errors import ExitCode, InvalidResultError, UsageError
from coldwarm.publish import collect, create, layout, signing, verify
from coldwarm.publish.archive import package
from coldwarm.publish.verify import exit_code
from coldwarm.report import snapshot

if TYPE_CHECKING:
    from tests.publish.conftest import Call

    from coldwarm.contracts.snapshot import Verification

ROOT = Path(__file__).parents[2]
_EVERY = 12
"""Of so many forgeries one is tried in the fast tests, all in the slow ones."""
SNAPSHOTS = {**forgeries.SNAPSHOTS, **disguised.SNAPSHOTS}
PAGES = {**forgeries.PAGES, **disguised.PAGES}
ARCHIVES = {**forgeries.ARCHIVES, **disguised.ARCHIVES}


@pytest.fixture(scope="session")
def bases(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A snapshot by each version that a forger may name: they are copied, never changed."""
    folder = tmp_path_factory.mktemp("bases")
    return {
        mode: _made(forgeries.of_mode(measured, folder / mode, mode), folder / f"of-{mode}" / "s1")
        for mode in forgeries.MODES
    }


def _made(run: Path, folder: Path, *, views: bool = False) -> Path:
    request = create.SnapshotRequest(
        "s1",
        collect.collect((run,)),
        deterministic=True,
        sources=None,
        views=views_of(skip_missing=True) if views else {},
    )
    create.create(request, folder)
    return folder


def _some(tried: list[tuple[str, str]]) -> list[object]:
    return [
        pytest.param(*one, marks=() if number % _EVERY == 0 else pytest.mark.slow)
        for number, one in enumerate(tried)
    ]


def _names(found: Verification, path: str) -> bool:
    """Say whether a file, or a field of it, is told to be only hashed."""
    hashed = {one.path for one in found.files if one.answer == "only_hashed"}
    return path in hashed or path in {one.path for one in found.otherwise}


@pytest.mark.parametrize("mode", forgeries.MODES)
def test_what_is_not_forged_has_no_fault_and_is_proved_from_its_samples(
    bases: dict[str, Path], mode: str
) -> None:
    found = verify.verify(bases[mode]).told(bases[mode])
    assert (found.faults, found.otherwise) == ([], [])
    assert found.n_figures_only_hashed == 0
    first = snapshot.verified_lines(found)[0]
    assert first.startswith(f"No fault found; only hashed: {found.n_only_hashed} files; proved: ")


@pytest.mark.parametrize(("mode", "name"), _some(list(product(forgeries.MODES, SNAPSHOTS))))
def test_a_forged_snapshot_is_wrong_or_counted_as_only_hashed(
    bases: dict[str, Path], tmp_path: Path, mode: str, name: str
) -> None:
    forgery = SNAPSHOTS[name]
    folder = forging.copy(bases[mode], tmp_path / "s1")
    lies = forgery.path(folder)
    forgery.change(folder)
    found = verify.verify(folder).told(folder)
    first = snapshot.verified_lines(found)[0]
    assert not found.proved
    if found.faults:
        return
    assert "only hashed: " in first
    assert _names(found, lies), name
    if forgery.computed:
        assert lies in {one.path for one in found.otherwise}, name
        assert f" and {found.n_figures_only_hashed} figure" in first


def test_what_another_version_is_said_to_have_computed_is_told_and_not_believed(
    bases: dict[str, Path], tmp_path: Path, call: Call
) -> None:
    """GIVEN verdicts turned round, and another version named THEN today's verdicts stand there."""
    folder = forging.copy(bases["other_harness"], tmp_path / "s1")
    forgery = forgeries.SNAPSHOTS["case: no warning"]
    forgery.change(folder)
    code, out, _ = call("verify", folder)
    assert code == 0
    first, *rest = out.splitlines()
    assert " figure; proved: " in first or " figures; proved: " in first
    assert any("warnings: says" in line for line in rest)
    assert call("verify", folder, "--strict")[0] == 3


@pytest.mark.parametrize("name", forgeries.RUNS)
def test_a_lie_about_what_was_seen_is_proved_by_nothing(
    measured: Path, tmp_path: Path, name: str
) -> None:
    """GIVEN everything made anew from a lie THEN its file is only hashed, and counted first."""
    run = forgeries.remade(measured, tmp_path / "run", *forgeries.RUNS[name])
    try:
        folder = _made(run, tmp_path / "s1")
    except (UsageError, InvalidResultError):
        return  # nothing is made of it
    found = verify.verify(folder).told(folder)
    kind = "environment.json" if name.startswith("environment") else "cases/"
    assert found.faults or any(
        one.answer == "only_hashed" and kind in one.path for one in found.files
    )
    assert not found.proved


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("mode", ["same", pytest.param("other_harness", marks=pytest.mark.slow)])
def test_a_forged_page_or_print_is_wrong_or_not_checked(
    pages: dict[str, Path], tmp_path: Path, mode: str, name: str
) -> None:
    forgery = PAGES[name]
    folder = forging.copy(pages[mode], tmp_path / "s1")
    lies = forgery.path(folder)
    forgery.change(folder)
    views = {path: view for path, view in views_of(skip_missing=True).items() if path == lies}
    found = verify.verify(folder, views=views).told(folder)
    if mode == "same" and lies == layout.PAGE:
        assert found.faults[0].path == layout.PAGE
    else:
        assert _names(found, lies)


@pytest.fixture(scope="session")
def pages(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Snapshots with page and print."""
    folder = tmp_path_factory.mktemp("pages")
    return {
        mode: _made(
            forgeries.of_mode(measured, folder / mode, mode),
            folder / f"of-{mode}" / "s1",
            views=True,
        )
        for mode in ("same", "other_harness")
    }


@pytest.fixture(scope="session")
def small(
    bases: dict[str, Path], keys: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A signed snapshot without page, print and wheel."""
    folder = forging.copy(bases["same"], tmp_path_factory.mktemp("small") / "s1")
    signing.sign(folder, keys[0])
    return folder


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_forged_archive_of_a_signed_snapshot_is_wrong_or_counted(
    small: Path, keys: tuple[Path, Path], tmp_path: Path, call: Call, name: str
) -> None:
    archive = Path(package(small, tmp_path / "s1.tar.gz").path)
    packed = archive.read_bytes()
    forged = ARCHIVES[name](packed)
    if forged == packed:
        pytest.skip("this Python packs the same bytes in that way, so nothing is forged")
    archive.write_bytes(forged)
    code, out, _ = call("verify", archive, "--public-key", keys[1])
    if code:
        assert code == 3
        return
    first, *rest = out.splitlines()
    assert "only hashed: 1 file; proved: " in first
    assert any(line.startswith("    s1.tar.gz: not packed by coldwarm") for line in rest)


@pytest.mark.parametrize("name", disguised.SIGNATURES)
def test_what_somebody_else_has_signed_is_not_signed(
    small: Path, keys: tuple[Path, Path], tmp_path: Path, name: str
) -> None:
    """GIVEN another key THEN it is wrong by the reader's, and without that it proves nothing."""
    folder = forging.copy(small, tmp_path / "s1")
    evil = tmp_path / "evil.pem"
    openssl("genpkey", "-algorithm", "ed25519", "-out", evil)
    disguised.SIGNATURES[name](folder, evil)
    found = verify.verify(folder, keys[1]).told(folder)
    assert [one.kind for one in found.faults] == ["signature"]
    assert exit_code(found) == ExitCode.SIGNATURE
    known = verify.verify(folder).told(folder)
    assert not known.proved
    assert known.signature != "valid"


def test_the_page_says_how_many_there_are() -> None:
    modes = len(forgeries.MODES)
    n_tried = modes * len(SNAPSHOTS) + 2 * len(PAGES) + len(forgeries.RUNS)
    n_tried += len(ARCHIVES) + len(disguised.SIGNATURES)
    page = (ROOT / "docs" / "how-to" / "snapshot.md").read_text("utf-8")
    assert f"tries {n_tried} forgeries" in page
    assert n_tried >= 200
