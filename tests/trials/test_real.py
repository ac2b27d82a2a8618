"""One tiny trial by the real command, and the table of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.trials import collecting, journal, tools
from benchmarks.trials.settings import Setting, possible

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "kind", "effect"),
    [("coldwarm bench", "numpy", 0.05), ("coldwarm run", "start", 0.1)],
)
def test_a_trial_by_the_real_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, kind: str, effect: float
) -> None:
    monkeypatch.setattr(tools, "BUDGET_S", {False: 8, True: 8})
    (setting,) = possible([tool], [kind], [effect], ["none"])
    line = collecting._trial(setting, 0, collecting.try_once)
    assert line["failed"] is None
    assert line["calls"]["verdict"] in {"faster", "slower", "undecided", "same"}
    assert line["rounds"] >= 1
    # On a busy machine one round may be all there is time for, which tells no ratio.
    assert line["ratio"] is None or 0.5 < line["ratio"] < 2
    assert setting == Setting.of(line)


@pytest.mark.slow
def test_a_table_is_printed_by_the_command(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    command = [sys.executable, "-m", "benchmarks.trials", "--out", str(file)]
    # There is no time for a trial: the file then says what would be measured where.
    asked = [*command, "--for", "1s", "--tools", "coldwarm bench", "--kinds", "numpy"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "the time is over; 100 trials were missing" in done.stdout
    assert [line["record"] for line in journal.read(file)] == ["build", "machine"]
    shown = subprocess.run(
        [*command, "--table"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.stdout == "There are no trials of this build yet.\n"
