"""What was not masked when it was measured is masked when it is published."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.contracts import samples
from tests.publish.conftest import QUICK, files, write_run
from tests.stats import results

from coldwarm.contracts import run_journal
from coldwarm.contracts.environment import Cpu, Frequency
from coldwarm.errors import ContractError
from coldwarm.publish import layout
from coldwarm.publish.collect import collect
from coldwarm.publish.create import SnapshotRequest, create
from coldwarm.runner.recompute import validated

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call

    from coldwarm.publish.content import Content

PLANTED = "Zx9-secret-of-mine"


def of_cpu(model: str) -> Cpu:
    return Cpu(model=model, architecture="x86_64", frequency=Frequency())


@pytest.mark.parametrize(
    ("variable", "value", "shown"),
    [
        ("ACME_TOKEN", PLANTED, "A CPU of /srv/***/x"),
        ("USER", PLANTED, "A CPU of /srv/***/x"),
        ("HOME", f"/srv/{PLANTED}", "A CPU of ~/x"),
    ],
)
def test_what_is_private_here_is_masked_and_told(  # noqa: PLR0913, PLR0917 - fixtures and one case
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    variable: str, value: str, shown: str,
) -> None:  # fmt: skip
    run = write_run(tmp_path / "run", cpu=of_cpu(f"A CPU of /srv/{PLANTED}/x"))
    before = files(run)
    monkeypatch.setenv(variable, value)
    line = ("create", run, "--id", "s1", "--out", tmp_path / "s", *QUICK)
    code, said, err = call(*line)
    assert code == 0, err
    assert "Masked now" in said
    assert "  results/quick/environment.json: cpu.model\n" in said
    found = files(tmp_path / "s")
    assert not [path for path, data in found.items() if PLANTED.encode() in data]
    environment = json.loads(found["results/quick/environment.json"])
    assert environment["cpu"]["model"] == shown
    # Every hash is of what is there, and the run that was given is as it was.
    assert not [one for one in validated(tmp_path / "s" / "results" / "quick") if one.fault]
    assert files(run) == before
    assert call("verify", tmp_path / "s")[0] == 0


def test_a_journal_is_looked_through_by_line(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "run")
    lines = [
        run_journal.encode_line("header", samples.HEADER),
        run_journal.encode_line("event", {"said": f"it is {PLANTED}"}),
        b'{"crc32":"',
    ]
    (run / run_journal.JOURNAL).write_bytes(b"".join(lines))
    monkeypatch.setenv("ACME_TOKEN", PLANTED)
    line = ("create", run, "--id", "s1", "--out", tmp_path / "s", *QUICK)
    code, said, err = call(*line)
    assert code == 0, err
    assert "  results/quick/journal.jsonl:2: record.said\n" in said
    kept = (tmp_path / "s" / "results" / "quick" / run_journal.JOURNAL).read_bytes()
    assert b"it is ***" in kept


def test_the_name_of_a_machine_is_masked(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "run", cpu=of_cpu("the CPU of bigbox7"))
    monkeypatch.setattr(platform, "node", lambda: "bigbox7.lab.example.org")
    folder = call.create(run, tmp_path / "s")
    assert not [path for path, data in files(folder).items() if b"bigbox7" in data]


def test_a_page_that_would_tell_a_secret_is_not_written(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def page(content: Content) -> bytes:
        assert content.runs
        return f"<html>{PLANTED}</html>".encode()

    request = SnapshotRequest("s1", collect((run,)), sources=None, views={layout.PAGE: page})
    assert layout.PAGE in create(request, tmp_path / "told" / "s1").files
    monkeypatch.setenv("ACME_TOKEN", PLANTED)
    with pytest.raises(ContractError, match=r"report.html: holds the value of a variable"):
        create(request, tmp_path / "not" / "s1")
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize("name", ["ghp_0123456789abcdefABCDEF0123456789abcd", PLANTED])
def test_an_id_that_is_private_is_refused(
    run: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("ACME_TOKEN", PLANTED)
    refused = call.refused("create", run, "--id", name, "--out", tmp_path / "s", *QUICK)
    assert "holds something private" in refused
    assert name not in refused


def test_what_identifies_is_told(call: Call, tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run",
        variables={"XLA_FLAGS": "--xla_dump_to=/data/acme"},
        withheld_variables=["JAX_ACME"],
    )
    code, said, _ = call("create", run, "--id", "s1", "--out", tmp_path / "s", *QUICK, "--json")
    assert code == 0
    told = {one["field"]: one["holds"] for one in json.loads(said)["identifying"]}
    place = "results/quick/environment.json"
    assert told[f"{place}: variables.XLA_FLAGS"] == "--xla_dump_to=/data/acme"
    assert told[f"{place}: withheld_variables"] == "JAX_ACME"
    assert "acme-internal" in told[f"{place}: distributions"]


def test_what_processes_said_is_told(call: Call, tmp_path: Path) -> None:
    made = results.case(1)
    spoken = replace(made.observations[0], stderr_tail="Traceback …", null_reasons={})
    case = replace(made, observations=[spoken, *made.observations[1:]])
    run = results.write(tmp_path / "run", [case])
    code, said, _ = call("create", run, "--id", "s1", "--out", tmp_path / "s", *QUICK)
    assert code == 0
    assert "observations.stderr_tail: what processes of jax_jit_cpu_matmul_512_f32" in said
    assert files(tmp_path / "s")
