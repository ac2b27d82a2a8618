"""Results of version 1 are read as if they had been written today."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from coldwarm.contracts.comparison import RunComparison
from coldwarm.contracts.files import migrations, reader
from coldwarm.contracts.files.check import check
from coldwarm.contracts.files.codec import CONTRACTS, decode, decode_as
from coldwarm.contracts.files.journal import read_lines
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.reasons import Reason, because
from coldwarm.contracts.result import CaseResult
from coldwarm.report import markdown, terminal
from coldwarm.report.sentences import words

RUN = Path(__file__).parent / "v1"
CASE = RUN / "cases/numpy_matmul_512_f32.json"


def migrated(text: str) -> Reason:
    return msgspec.convert(migrations.reason(text), Reason)


def reasons_in(value: object) -> list[Reason]:
    """Return every reason at any depth of a record."""
    if isinstance(value, Reason):
        return [value]
    if isinstance(value, msgspec.Struct):
        value = [getattr(value, name) for name in value.__struct_fields__]
    items = [*value.values()] if isinstance(value, dict) else value
    return [r for item in items for r in reasons_in(item)] if isinstance(items, list) else []


def test_a_run_of_version_1_is_read_checked_and_shown() -> None:
    measured = reader.read(RUN)
    assert measured.suite is not None
    assert [finding.fault for finding in check(RUN)] == [None] * 4
    shown = StringIO()
    terminal.render(measured.suite, [*measured.cases.values()], Console(file=shown, width=80))
    assert "close other programs" in shown.getvalue()
    assert "numpy" in markdown.render(measured.suite, [*measured.cases.values()])
    for case in measured.cases.values():
        assert all(words(reason) for reason in reasons_in(case))


def test_what_disturbed_a_process_has_its_numbers_with_their_units() -> None:
    [case] = reader.read(RUN).cases.values()
    noisy = [caution for caution in case.warnings if caution.kind == "noisy"]
    assert {caution.reason.code for caution in noisy} == {
        "foreign_cpu",
        "steal",
        "foreign_cpu_warm",
    }
    [steal] = [caution for caution in noisy if caution.reason.code == "steal"]
    assert steal.reason.values == {"steal_share": 0.057}
    assert (steal.n_processes, steal.of_processes) == (2, 4)
    flags = [f for o in case.observations if o.telemetry for f in o.telemetry.flags]
    assert {flag.code for flag in flags} == {"foreign_cpu", "steal", "foreign_cpu_warm"}


def test_the_lines_of_a_journal_of_version_1_count() -> None:
    entries, faults = read_lines(RUN / "journal.jsonl")
    assert faults == []
    assert all(isinstance(entry.record, Observation) for entry in entries)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("other processes used 1.1 processors", because("foreign_cpu", foreign_processors=1.1)),
        (
            "other processes used 1.2e+02 processors during warm calls",
            because("foreign_cpu_warm", foreign_processors=120.0),
        ),
        ("the host took 3.1% of the processor time", because("steal", steal_share=0.031)),
        ("the CPU quota throttled it for 0.25 s", because("throttled", throttled_s=0.25)),
        ("2 thermal throttles", because("thermal", n_throttles=2)),
        ("1500 involuntary switches a second", because("switches", switches_per_s=1500.0)),
        ("gpu_unavailable", because("gpu_unavailable")),
        ("correctness_gate", because("correctness_gate")),
        ("missing_dependency: jax", because("missing_dependency", name="jax")),
        ("timeout: no answer within 600 s", because("timeout", limit_s=600.0)),
        ("exit: 3 before a result", because("exited", status="3")),
        ("signal: SIGSEGV", because("signal", name="SIGSEGV")),
        ("signal: SIGKILL (killed; out of memory?)", because("killed")),
        (
            "exception: ValueError: a: b\nc",
            because("exception", error="ValueError", text="a: b\nc"),
        ),
        ("not_measured: the run ended before it", because("not_measured", mode_names=["it"])),
        (
            "not_proved: no valid process in first_ever, warm_process (jax: no hits)",
            because(
                "not_proved",
                because("stated", text="jax: no hits"),
                mode_names=["first_ever", "warm_process"],
            ),
        ),
        ("anything else (3.1%)", because("stated", text="anything else (3.1%)")),
    ],
)
def test_a_sentence_becomes_the_code_that_it_stood_for(text: str, reason: Reason) -> None:
    assert migrated(text) == reason
    assert words(reason)


def caution(kind: str, **fields: object) -> dict[str, Any]:
    usual = {"subject": "warm_process", "n_processes": 1, "of_processes": 2, "advice": "…"}
    return {"kind": kind, **usual, **fields}


@pytest.mark.parametrize(
    ("old", "reason"),
    [
        (
            caution("bytecode", subject="import", value=26.0, figure="26 of 300", text="26 loaded"),
            because("no_bytecode", n_missing=26, n_modules=300),
        ),
        (
            caution(
                "bimodal",
                figure="1 of 2 processes",
                value=1.0,
                text="1 of 2 processes bimodal: 25% of the samples are 40% slower than the others",
            ),
            because("two_levels", upper_share=0.25, gap_share=0.4),
        ),
        (
            caution("compiled", figure="2 blocks", value=2.0, text="2 blocks left out because …"),
            because("compiled_blocks", n_blocks=2),
        ),
        (caution("compiled", text="without a figure"), because("stated", text="without a figure")),
        (caution("second_call", text="none either"), because("stated", text="none either")),
        (
            caution("failed", text="1 of 2 processes failed: signal: SIGSEGV"),
            because("signal", name="SIGSEGV"),
        ),
        (
            caution("rejected", text="1 of 1 process rejected, because … mode: jax: no hits"),
            because("stated", text="jax: no hits"),
        ),
    ],
)
def test_a_caution_keeps_what_it_said(old: dict[str, Any], reason: Reason) -> None:
    document = {**json.loads(CASE.read_bytes()), "warnings": [old]}
    case = decode_as(CaseResult, json.dumps(document).encode())
    assert [one.reason for one in case.warnings] == [reason]


def test_a_comparison_of_version_1_keeps_both_sides() -> None:
    side = {"path": "a", "run_id": None, "started_at": None, "n_cases": 1}
    side["environment_sha256"] = "0" * 64
    document = {
        "schema_version": "coldwarm.run_comparison.v1",
        "a": side,
        "b": side,
        "metrics": [],
        "allowed": [
            {"field": "seed", "text": "A has 0, B has 1", "cases": []},
            {"field": "identity", "text": "size: A has 8, B has 9", "cases": ["a"]},
        ],
        "software": ['numpy: "1" became "2"', "python: A has x, B has y (a)", "odd"],
        "left_out": [{"case": "a", "side": "A", "reason": "only in A"}],
        "warnings": ["A is incomplete"],
        "n_failing": 0,
    }
    read = decode_as(RunComparison, json.dumps(document).encode())
    assert [(d.field, d.name, d.a, d.b) for d in read.allowed] == [
        ("seed", "seed", "0", "1"),
        ("identity", "size", "8", "9"),
    ]
    assert [(d.name, d.a, d.b) for d in read.software] == [
        ("numpy", '"1"', '"2"'),
        ("python", "x", "y (a)"),
        ("odd", "", ""),
    ]
    assert read.warnings == [because("stated", text="A is incomplete")]


def test_every_contract_of_version_2_has_a_way_from_version_1() -> None:
    second = {contract.kind for contract in CONTRACTS.values() if contract.version == 2}
    assert {f"{kind}.v1" for kind in second} == migrations.MIGRATIONS.keys()


def test_what_is_of_today_is_left_as_it_is() -> None:
    case = decode(CASE.read_bytes())
    assert migrations.reasons(msgspec.to_builtins(case)) == msgspec.to_builtins(case)
