"""The table of others' programs: complete, labelled, and as the page shows it."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.doctor_real.__main__ import RESULTS, labelled, same
from benchmarks.doctor_real.programs import blocks, cells, programs

ROWS = json.loads(RESULTS.read_text(encoding="utf-8"))
FEWEST = 25


def test_every_program_of_the_list_was_run_and_none_was_changed() -> None:
    assert [one["program"] for one in ROWS] == [one.name for one in programs()]
    assert len(ROWS) >= FEWEST
    for one in ROWS:
        assert one["reported"], one["program"]
        assert one["same_output"], one["program"]
        assert one["exit_plain"] == one["exit_doctor"], one["program"]


def test_every_finding_has_a_label_and_a_reason_and_none_is_false() -> None:
    for one in ROWS:
        for each in one["findings"]:
            assert each["label"] in {"right", "minor"}, (one["program"], each["line"])
            assert each["why"], (one["program"], each["line"])


def test_code_of_a_page_stays_at_its_lines() -> None:
    typed = "```python\n>>> x = 1\n... # more\n1\n```\n"
    page = f"Text\n\n{typed}\n```{{code-cell}} ipython3\n:tags: [a]\n\ny = 2\n```\n"
    lines = blocks(page).splitlines()
    assert (lines[3], lines[4], lines[11]) == ("x = 1", "# more", "y = 2")
    assert sum(map(bool, lines)) == 3


def test_cells_of_a_notebook_are_put_together_without_its_own_commands() -> None:
    found = [
        {"cell_type": "code", "source": ["!pip install x\n", "x = 1\n"]},
        {"cell_type": "markdown", "source": ["no code"]},
        {"cell_type": "code", "source": ["y = 2"]},
    ]
    assert cells(json.dumps({"cells": found})).split() == ["x", "=", "1", "y", "=", "2"]


def test_outputs_are_the_same_but_for_what_differs_in_any_two_runs() -> None:
    assert same("at 0x7f0000000000\n", "at 0x7fffffffffff\n")
    assert not same("loss 1\n", "loss 2\n")
    assert same("loss 1\n3 s\n", "loss 1\n4 s\n", "loss 1\n5 s\n")
    assert not same("loss 1\n3 s\n", "loss 2\n4 s\n", "loss 1\n5 s\n")
    assert not same("loss 1\n", "loss 1\nmore\n", "loss 1\n")


def test_a_label_stays_at_the_same_line_of_the_same_program() -> None:
    finding = {"pattern": "shape-change", "path": "a.py", "line": 3}
    before = [{"program": "a", "findings": [{**finding, "label": "right", "why": "so"}]}]
    rows: list[dict[str, Any]] = [
        {"program": "a", "findings": [finding.copy(), {**finding, "line": 4}]}
    ]
    labelled(rows, before)
    assert [one["label"] for one in rows[0]["findings"]] == ["right", ""]
