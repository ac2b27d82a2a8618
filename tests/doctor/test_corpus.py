"""Faulty programs are named at their lines, healthy ones are let alone, and neither notices."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests import started
from tests.doctor.corpus import FOLDER, programs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doctor.corpus import Fault, Program

FEWEST_FAULTY, FEWEST_HEALTHY = 44, 10
NAMED = 0.95
"""The share of all faults that is named at least."""
LIMIT_S = 240
"""Of one run, on a machine that is busy."""
ALL = programs()
PATTERNS = {
    "no-jit-hot-loop",
    "varying-static-arg",
    "first-call-in-timing",
    "jit-in-loop",
    "fresh-callable",
    "list-argument",
    "shape-change",
    "weak-type-flip",
    "large-constant-capture",
    "python-loop-unrolled",
    "traced-branch",
    "boolean-mask-index",
    "traced-shape",
    "no-donation",
    "use-after-donation",
    "device-transfer-in-loop",
    "host-sync-in-loop",
    "key-reuse",
    "key-not-split-in-loop",
    "key-constant-in-loop",
    "missing-sync-timing",
    "numpy-on-traced",
    "side-effect-in-traced",
    "growing-array-concat",
    "recompile-by-commitment",
    "context-change",
    "dtype-change",
    "tree-change",
    "transform-of-traced",
    "torch-graph-break",
    "torch-changing-scalar",
    "numba-signatures",
    "numba-cache-closure",
    "numba-reflected-list",
    "numba-call-per-element",
    "numba-object-mode",
    "jit-call-per-element",
    "tensor-from-list",
    "stale-value-in-traced",
}
BY_CALLS = {
    "device-transfer-in-loop",
    "first-call-in-timing",
    "host-sync-in-loop",
    "key-constant-in-loop",
    "missing-sync-timing",
    "no-jit-hot-loop",
    "side-effect-in-traced",
    "jit-call-per-element",
    "numba-call-per-element",
    "stale-value-in-traced",
}
"""Seen by who calls what at which line, which Python tells from 3.12 on."""
_needs_doctor = pytest.mark.skipif(
    find_spec("coldwarm.cli.doctor") is None, reason="coldwarm doctor is not here"
)


class Run(NamedTuple):
    """What a program has left."""

    status: int
    output: str
    errors: str


def _run(command: list[str], folder: Path) -> Run:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    variables = {
        **kept,
        "JAX_PLATFORMS": "cpu",
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
    done = started.python([sys.executable, *command], cwd=FOLDER, env=variables, timeout_s=LIMIT_S)
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode()[-2000:])


@cache
def _watched(program: Program, folder: Path) -> tuple[Run, list[dict[str, Any]]]:
    """Run a program under the doctor, once for all tests."""
    file = folder / f"{program.name}.json".replace("/", "-")
    command = ["-m", "coldwarm", "doctor", "--format", "json", "--out", str(file)]
    # Keys are looked at in a run of their own.
    every = ["--passes", "all"] if program.draws else []
    run = _run([*command, *every, *program.arguments], folder)
    assert file.exists(), run.errors
    findings: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["findings"]
    return run, findings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus")


def _cases(kept: list[Program]) -> list[object]:
    return [
        pytest.param(
            one,
            id=one.name,
            marks=pytest.mark.skipif(bool(one.missing), reason=f"{one.missing} not installed"),
        )
        for one in kept
    ]


def _judge(program: Program, folder: Path) -> None:
    plain = _run(list(program.arguments), folder)
    assert plain.status == program.exit, plain.errors
    run, findings = _watched(program, folder)
    assert (run.status, run.output) == (plain.status, plain.output), run.errors
    if not program.faults:
        assert program.false(findings) == []


def test_there_are_enough_and_each_pattern_is_among_them() -> None:
    faults = [fault for one in ALL for fault in one.faults]
    assert sum(bool(one.faults) for one in ALL) >= FEWEST_FAULTY
    assert sum(not one.faults for one in ALL) >= FEWEST_HEALTHY
    assert sum(len(one.faults) > 1 for one in ALL) > 2
    assert {pattern for fault in faults for pattern in fault.patterns} >= PATTERNS


def test_each_has_a_name_of_its_own_and_each_file_belongs_to_one() -> None:
    assert len({one.name for one in ALL}) == len(ALL)
    started = {one.arguments[0] for one in ALL}
    packages = {one.arguments[1].partition(".")[0] for one in ALL if one.arguments[0] == "-m"}
    files = {path.relative_to(FOLDER) for path in FOLDER.rglob("*.py")}
    assert [
        file for file in files if str(file) not in started and file.parts[0] not in packages
    ] == []


@pytest.mark.parametrize("program", _cases([one for one in ALL if one.quick]))
def test_the_quick_ones_run_as_they_are_told_to(program: Program, folder: Path) -> None:
    assert _run(list(program.arguments), folder).status == program.exit


@_needs_doctor
@pytest.mark.parametrize("program", _cases([one for one in ALL if one.quick]))
def test_the_quick_ones_are_judged(program: Program, folder: Path) -> None:
    _judge(program, folder)
    _, findings = _watched(program, folder)
    assert program.named(findings) == list(program.faults)


@pytest.mark.slow
@_needs_doctor
@pytest.mark.parametrize("program", _cases(list(ALL)))
def test_a_program_does_not_notice_and_a_healthy_one_is_let_alone(
    program: Program, folder: Path
) -> None:
    _judge(program, folder)


def _to_be_named(program: Program) -> list[Fault]:
    """Return the faults that can be seen by this Python."""
    seen_all = sys.version_info >= (3, 12)
    return [fault for fault in program.faults if seen_all or not fault.patterns & BY_CALLS]


@pytest.mark.slow
@_needs_doctor
def test_the_faults_are_named_at_their_lines(folder: Path) -> None:
    wanted, unnamed, unexplained, false = [], [], [], []
    for program in (one for one in ALL if not one.missing):
        _, findings = _watched(program, folder)
        named = program.named(findings)
        wanted += _to_be_named(program)
        unnamed += [(program.name, one) for one in _to_be_named(program) if one not in named]
        false += [(program.name, finding) for finding in program.false(findings)]
        for fault in named:
            told = [one for one in findings if fault.is_named_by(one)]
            if not any(map(fault.is_explained_by, told)):
                unexplained.append((program.name, fault))
    for title, rows in (("unnamed", unnamed), ("unexplained", unexplained), ("false", false)):
        print(title, *rows, sep="\n  ")  # noqa: T201 - shown where the test fails
    assert 1 - len(unnamed) / len(wanted) >= NAMED
    assert unexplained == []
    assert false == []
