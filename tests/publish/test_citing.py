"""How a snapshot is described for those who cite, archive or harvest it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.publish.conftest import QUICK, files

from coldwarm.publish import layout

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call

ODD = 'O\'Neil "A": #, -é'


def test_the_citation_is_what_the_format_asks_for(call: Call, run: Path, tmp_path: Path) -> None:
    named = ("--author", ODD, "--author", "Second", "--license", "CC-BY-4.0")
    folder = call.create(run, tmp_path / "s", "--reproducible", *named)
    found = yaml.safe_load((folder / layout.CITATION).read_text())
    assert found["cff-version"] == "1.2.0"
    assert {"message", "title", "version", "license"} <= found.keys()
    assert found["type"] == "dataset"
    assert found["date-released"] == "2026-01-02"
    assert found["authors"] == [{"name": ODD}, {"name": "Second"}]
    assert found["license"] == "CC-BY-4.0"
    deposit = json.loads((folder / layout.ZENODO).read_text())
    assert deposit["creators"] == [{"name": ODD}, {"name": "Second"}]
    assert deposit["upload_type"] == "dataset"
    assert deposit["license"] == "CC-BY-4.0"


def test_nobody_and_no_licence_is_named_unasked(snapshot: Path) -> None:
    found = yaml.safe_load((snapshot / layout.CITATION).read_text())
    assert found["authors"] == [{"name": "Authors not named"}]
    assert "license" not in found
    assert "license" not in json.loads((snapshot / layout.ZENODO).read_text())


def test_the_crate_is_read_by_the_library(call: Call, run: Path, tmp_path: Path) -> None:
    rocrate = pytest.importorskip("rocrate.rocrate")
    folder = call.create(run, tmp_path / "s", "--author", ODD, "--license", "CC-BY-4.0")
    crate = rocrate.ROCrate(str(folder))
    assert crate.name == "coldwarm snapshot s1"
    assert {one.id for one in crate.data_entities} == files(folder).keys() - {layout.CRATE}
    assert [one["name"] for one in crate.get_by_type("Person")] == [ODD]
    for one in crate.data_entities:
        assert one["encodingFormat"], one.id


@pytest.mark.parametrize(
    "named",
    [
        ("--author", "a\nb"),
        ("--author", "x\x1b[31m"),
        ("--author", "\u202ex"),
        ("--license", "my own"),
    ],
)
def test_names_are_one_line_of_visible_characters(
    call: Call, run: Path, tmp_path: Path, named: tuple[str, str]
) -> None:
    line = ("create", run, "--id", "s1", "--out", tmp_path / "s", *QUICK)
    call.refused(*line, *named)
