"""A run is read as a whole or not at all, and what is wrong is what ``validate`` says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.contracts import samples

from coldwarm.contracts import reader
from coldwarm.contracts.reader import check
from coldwarm.errors import ContractError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Index = dict[str, Any]

CASE = "jax_jit_cpu_matmul_512_f32"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    samples.write_run(tmp_path)
    return tmp_path


def test_a_run_is_read_by_its_folder_its_index_or_one_case(run: Path) -> None:
    whole = reader.read(run)
    assert reader.read(run / "suite.json") == whole
    assert [*whole.cases] == [CASE]
    assert whole.environment is not None
    alone = reader.read(run / f"cases/{CASE}.json")
    assert (alone.suite, alone.environment) == (None, whole.environment)
    assert alone.cases == whole.cases


@pytest.mark.parametrize("text", ["{}", "[1", '{"schema_version": "other.tool.v1"}'])
def test_a_case_alone_is_not_held_to_an_index_of_something_else(run: Path, text: str) -> None:
    (run / "suite.json").write_text(text)
    assert [*reader.read(run / f"cases/{CASE}.json").cases] == [CASE]


def test_a_case_alone_is_not_held_to_a_run_that_does_not_name_it(run: Path) -> None:
    other = run / "cases/other.json"
    other.write_bytes((run / f"cases/{CASE}.json").read_bytes())
    (run / f"cases/{CASE}.json").unlink()
    assert [*reader.read(other).cases] == [CASE]


def _first(index: Index, **changes: object) -> None:
    index["cases"][0].update(changes)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda i: _first(i, path="/etc/passwd"), "cases[0].path: '/etc/passwd' leads out of the"),
        (lambda i: _first(i, path="../x.json"), "cases[0].path: '../x.json' leads out of the"),
        (lambda i: _first(i, path="cases/x.json"), "'cases/x.json' is not there"),
        (lambda i: _first(i, sha256=samples.ZEROS), "it was changed after it was written"),
        (lambda i: _first(i, case="x"), f"cases[0].case: says 'x', but its files say '{CASE}'"),
        (lambda i: _first(i, status="warn"), "cases[0].status: says 'warn', but its files say"),
        (
            lambda i: _first(i, reason={"code": "killed"}),
            "cases[0].reason: says killed, but its files say None",
        ),
        (lambda i: i["cases"].append(i["cases"][0]), f"'cases/{CASE}.json' is named twice"),
        (lambda i: i.update(environment_sha256=samples.ZEROS), "environment_sha256"),
        (lambda i: i.update(environment_path="/x"), "environment_path: '/x' leads out of"),
        (lambda i: i.update(n_ok=7), "n_ok: says 7, but its files say 1"),
        (lambda i: i.update(n_ok="7"), "n_ok: expected int, got str"),
    ],
)
def test_an_index_that_is_not_true_is_refused_with_the_line_of_validate(
    run: Path, change: Callable[[Index], None], line: str
) -> None:
    path = run / "suite.json"
    index = json.loads(path.read_bytes())
    change(index)
    path.write_text(json.dumps(index, indent=2))
    with pytest.raises(ContractError) as refused:
        reader.read(run)
    assert line in str(refused.value)
    assert refused.value.path.startswith(str(run))
    faults = [finding.fault for finding in check(run) if finding.fault]
    assert faults[0] == str(refused.value)


def test_what_holds_no_cases_is_refused_with_what_to_do(run: Path) -> None:
    for path, line in (
        (run / "cases", "holds no suite.json"),
        (run / "nothing", "no such file or directory"),
        (run / "environment.json", "holds no cases"),
    ):
        with pytest.raises(UsageError, match=line):
            reader.read(path)
    with pytest.raises(ContractError, match="index of published results"):
        reader.read(run / "nextstat")
