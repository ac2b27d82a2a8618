"""Patterns and claims in a snapshot: what goes in, what is refused, what is judged again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.publish import judged
from tests.publish.conftest import QUICK, files, write_run

from coldwarm.contracts.catalogue import Raised
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call

PLANTED = "Zx9-secret-of-mine"
OTHER_FILE = "0" * 64


def both(folder: Path) -> tuple[Path, Path]:
    return judged.write_patterns(folder / "p"), judged.write_claims(folder / "c")


def made(call: Call, out: Path, *results: Path) -> Path:
    """Make a snapshot, which holds."""
    code, _, err = call("create", *results, "--id", out.name, "--out", out, *QUICK)
    assert code == 0, err
    code, _, err = call("verify", out)
    assert code == 0, err
    return out


def test_they_lie_beside_runs_and_are_listed(call: Call, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    folder = made(call, tmp_path / "s", *both(tmp_path), run)
    held = files(folder)
    assert {"patterns/patterns.json", "claims/claims.json", "patterns/environment.json"} < set(held)
    manifest = json.loads(held["baseline_manifest.json"])
    assert [one["suite"] for one in manifest["results"]] == ["ml", "quick", "patterns", "claims"]
    assert manifest["environment"]["claims"]["n_results"] == 1
    report = json.loads(held["validation_report.json"])
    assert [(one["kind"], one["verdicts"]) for one in report["verdicts"]] == [
        ("patterns", {judged.PATTERN: "as_stated"}),
        ("claims", {judged.CLAIM: "inconclusive"}),
    ]
    assert json.loads(held["snapshot_index.json"])["suite"] == "quick+patterns+claims"


def test_they_make_a_snapshot_alone_that_names_versions(call: Call, tmp_path: Path) -> None:
    folder = made(call, tmp_path / "s", *both(tmp_path))
    assert "jax==0.9.0" in (folder / "requirements.txt").read_text()
    assert "verdicts on patterns and claims" in (folder / "CITATION.cff").read_text().lower()
    code, out, _ = call("verify", folder)
    assert code == 0
    assert "2 verdicts on patterns and claims judged again from their evidence" in out


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"id": "gone-by-now"}, "this version of coldwarm has no such pattern or claim"),
        ({"sha256": OTHER_FILE}, "its file is not the one that it was measured by"),
    ],
)
def test_what_is_unknown_is_not_judged_and_no_fault(
    call: Call, tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    result = judged.claim(verdict="confirmed", reason=None, **change)
    folder = made(call, tmp_path / "s", judged.write_claims(tmp_path / "c", result))
    code, out, _ = call("verify", folder)
    assert code == 0
    assert "only hashed: 7 files and 1 figure" in out.splitlines()[0]
    assert f"{result.id}: verdict only hashed, {why}" in " ".join(out.split())
    assert call("verify", folder, "--strict")[0] == 3
    _, out, _ = call("verify", folder, "--json")
    told = json.loads(out)
    assert (told["n_verdicts"], [one["name"] for one in told["not_judged"]]) == (0, [result.id])


def test_what_is_unfinished_or_wrong_is_refused_in_a_line(call: Call, tmp_path: Path) -> None:
    place = ("--id", "s", "--out", tmp_path / "s", *QUICK)
    unfinished = judged.write_patterns(tmp_path / "1", complete=False, finished_at=None)
    assert "patterns run --resume" in call.refused("create", unfinished, *place)
    wrong = judged.write_patterns(tmp_path / "2", judged.pattern(verdict="same"))
    refused = call.refused("create", wrong, *place, code=3)
    assert "results[0].verdict" in refused
    claimed = judged.write_claims(tmp_path / "3", judged.claim(verdict="confirmed"))
    assert "results[0].verdict" in call.refused("create", claimed, *place, code=3)
    twice = (judged.write_claims(tmp_path / "4"), judged.write_claims(tmp_path / "5"))
    assert "both hold claims" in call.refused("create", *twice, *place)
    nowhere = judged.write_claims(tmp_path / "6")
    (nowhere / "environment.json").unlink()
    assert "where these results were measured" in call.refused("create", nowhere, *place)
    pointing = judged.write_patterns(tmp_path / "7", judged.pattern(path="../1"))
    assert "leads out of the folder" in call.refused("create", pointing, *place, code=3)
    (tmp_path / "7" / "patterns.json").write_text("{")
    assert "not valid" in call.refused("create", pointing, *place, code=3)
    assert not (tmp_path / "s").exists()


def test_the_text_of_an_error_is_masked(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = Raised(error="ValueError", text=f"no file /srv/{PLANTED}/x")
    folder = judged.write_claims(tmp_path / "c", judged.claim(raised))
    assert PLANTED in (folder / "claims.json").read_text()
    monkeypatch.setenv("ACME_TOKEN", PLANTED)
    line = ("create", folder, "--id", "s", "--out", tmp_path / "s", *QUICK)
    code, out, err = call(*line)
    assert code == 0, err
    assert "  claims/claims.json: results[0].sheets[0].raised.text\n" in out
    assert not [path for path, data in files(tmp_path / "s").items() if PLANTED.encode() in data]
    assert b"no file /srv/***/x" in files(tmp_path / "s")["claims/claims.json"]
    assert call("verify", tmp_path / "s")[0] == 0


def test_two_snapshots_are_compared_by_their_verdicts(call: Call, tmp_path: Path) -> None:
    first = made(call, tmp_path / "a", *both(tmp_path))
    opposite = judged.pattern(
        verdict="opposite",
        reason=because("facts_otherwise"),
        sheets=[judged.sheet(side, {"equal": True}) for side in ("do", "dont")],
    )
    second = made(
        call,
        tmp_path / "b",
        judged.write_patterns(tmp_path / "p2", opposite),
        judged.write_claims(tmp_path / "c2"),
    )
    code, out, _ = call("compare", first, second)
    assert code == 0
    assert "as stated" in out
    assert "opposite" in out
    _, out, _ = call("compare", first, second, "--json")
    told = json.loads(out)
    assert told["patterns"] == [{"name": judged.PATTERN, "a": "as_stated", "b": "opposite"}]
    assert told["claims"] == []


def test_replicating_says_that_they_are_left_out(call: Call, tmp_path: Path) -> None:
    folder = made(call, tmp_path / "s", *both(tmp_path))
    code, _, err = call("replicate", folder, "--out", tmp_path / "r")
    assert code == 2
    assert "coldwarm patterns run and coldwarm claims run" in err
    assert not (tmp_path / "r").exists()
