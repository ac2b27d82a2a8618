"""A run's folder is checked as a whole, and every fault is found where it stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tests.contracts import samples

from coldwarm.cli.main import cli
from coldwarm.contracts.codec import encode
from coldwarm.contracts.reader import check
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

CASE = "jax_jit_cpu_matmul_512_f32"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    samples.write_run(tmp_path)
    return tmp_path


def faults(path: Path) -> list[str]:
    return [finding.fault for finding in check(path) if finding.fault is not None]


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_a_whole_run_is_fine_and_each_artifact_is_named_once(run: Path) -> None:
    findings = list(check(run))
    assert [finding.fault for finding in findings] == [None] * 7
    files = {str(file) for pattern in ("*.json", "*.jsonl") for file in run.rglob(pattern)}
    assert {finding.path for finding in findings} == files


def test_private_files_of_a_running_suite_are_left_out(run: Path) -> None:
    (run / "work").mkdir()
    (run / "work/reference.json").write_text("?")
    (run / ".hidden.json").write_text("?")
    assert faults(run) == []


def test_a_changed_case_is_found_at_its_hash(run: Path) -> None:
    edit(run / f"cases/{CASE}.json", '"wall_s": 3.0', '"wall_s": 2.0')
    line = next(
        number
        for number, text in enumerate((run / "suite.json").read_text().splitlines(), start=1)
        if text.startswith('      "sha256"')
    )
    [found] = faults(run)
    assert found.startswith(f"{run}/suite.json:{line}: cases[0].sha256: cases/{CASE}.json has ")


def test_a_broken_case_is_named_with_its_field_too(run: Path) -> None:
    edit(run / f"cases/{CASE}.json", '"wall_s": 3.0', '"wall_s": -3.0')
    found = faults(run)
    assert any("observations[0].wall_s: expected float >= 0.0, got -3.0" in line for line in found)


def test_an_index_must_say_what_its_files_say(run: Path) -> None:
    edit(run / "suite.json", '"n_ok": 1', '"n_ok": 2')
    edit(run / "suite.json", '"status": "ok"', '"status": "warn"')
    found = "\n".join(faults(run))
    assert "cases[0].status: says 'warn', but its files say 'ok'" in found
    assert "n_ok: says 2, but its files say 0" in found


def test_a_published_index_must_say_what_its_files_say(run: Path) -> None:
    edit(run / "nextstat/ml_suite.json", '"cold_ttfr_median_s": 2.0', '"cold_ttfr_median_s": 0.5')
    edit(run / "nextstat/ml_suite.json", '"n_ok": 2', '"n_ok": 1')
    found = "\n".join(faults(run))
    assert "cases[0].cold_ttfr_median_s: says 0.5, but its files say 2.0" in found
    assert "summary.n_ok: says 1, but its files say 2" in found
    edit(run / f"nextstat/{CASE}.json", '"n": 512', '"n": 513')
    assert "cases[0].sha256" in "\n".join(faults(run))


def test_missing_extra_and_leading_out(run: Path) -> None:
    (run / f"nextstat/{CASE}.json").rename(run / "nextstat/other.json")
    found = "\n".join(faults(run))
    assert f"cases[0].path: '{CASE}.json' is not there" in found
    assert "other.json: is not in the index" in found
    edit(run / "suite.json", '"path": "cases/', '"path": "../cases/')
    assert "leads out of the folder" in "\n".join(faults(run))


def test_another_environment_is_found(run: Path) -> None:
    (run / "environment.json").write_bytes(encode(samples.environment(variables={"CC": "x"})))
    [found] = faults(run)
    assert "environment_sha256: environment.json has " in found


def test_a_damaged_journal_line_is_found_with_its_number(run: Path) -> None:
    edit(run / "journal.jsonl", '"wall_s":3.0', '"wall_s":2.0')
    [found] = faults(run)
    assert found.startswith(f"{run}/journal.jsonl:2: its checksum does not match")


def test_a_torn_journal_is_noted_and_no_fault(run: Path) -> None:
    file = run / "journal.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    [journal] = [finding for finding in check(run) if finding.contract == "journal"]
    assert journal.fault is None
    assert "line 4 torn" in journal.note


def test_an_unreadable_index_leaves_the_others_checked(run: Path) -> None:
    (run / "suite.json").write_text("{")
    assert [line for line in faults(run) if "suite.json:1:2: is not JSON" in line] == faults(run)
    (run / "suite.json").write_bytes(encode(samples.environment()))
    assert any("expected an index of a run" in line for line in faults(run))


def test_folders_without_an_index(tmp_path: Path, run: Path) -> None:
    assert faults(run / "cases") == []
    (tmp_path / "empty").mkdir()
    assert "holds no artifact" in faults(tmp_path / "empty")[0]


def test_validate_prints_a_line_for_each_artifact(run: Path) -> None:
    result = CliRunner().invoke(cli, ["validate", str(run), str(run / "environment.json")])
    assert result.exit_code == 0
    assert len(result.output.splitlines()) == 8
    assert f"{run}/environment.json: OK coldwarm.environment.v2" in result.output


def test_validate_ends_with_3_for_a_fault_and_2_for_a_missing_path(run: Path) -> None:
    (run / "environment.json").write_text("{\n}")
    result = CliRunner().invoke(cli, ["validate", str(run / "environment.json")])
    assert result.exit_code == 3
    assert result.output.startswith(f"{run}/environment.json:1: schema_version: is missing")
    missing = CliRunner().invoke(cli, ["validate", str(run / "none")])
    assert isinstance(missing.exception, UsageError)
    assert missing.exception.exit_code == 2


def test_schema_prints_lists_and_suggests() -> None:
    listed = CliRunner().invoke(cli, ["schema"]).output.split()
    assert "nextstat.ml_benchmark_result.v1" in listed
    for name in listed:
        printed = CliRunner().invoke(cli, ["schema", name]).output
        assert json.loads(printed)["$id"] == name
    wrong = CliRunner().invoke(cli, ["schema", "suite_reslt"])
    assert isinstance(wrong.exception, UsageError)
    assert "coldwarm.suite_result.v2" in str(wrong.exception)
