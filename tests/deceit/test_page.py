"""The table of deceits has a row for each that is tried, and the page counts them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.deceit.__main__ import FIGURES, RESULTS
from tests.deceit.every import by_kind, deceits

from _generate.checks import counted

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "deceit.md"
FOUND = json.loads(RESULTS.read_text("utf-8"))


@pytest.mark.parametrize(("where", "here"), [("command", False), ("process", True)])
def test_the_table_has_a_row_for_each_and_the_page_counts_them(where: str, here: bool) -> None:  # noqa: FBT001
    rows = FOUND[where]["rows"]
    tried = [one for one in deceits() if one.here or not here]
    assert sorted(one["name"] for one in rows) == sorted(one.name for one in tried)
    assert {one["kind"] for one in rows} <= {kind.replace("_", " ") for kind in by_kind()}
    assert {one["figure"] for one in rows} <= {*FIGURES.values()}
    assert {one["outcome"] for one in rows} == {"right", "refused", "named"}
    assert counted(rows) in " ".join(PAGE.read_text("utf-8").split())
