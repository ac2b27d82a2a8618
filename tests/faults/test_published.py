"""The published files of real runs, held against their contract as their publisher wrote it.

The schemas are made from that text alone, not from the types that write the files.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from tests.faults.lab import GOOD, Lab

if TYPE_CHECKING:
    from pathlib import Path

STRING = {"type": "string"}
SECONDS = {"type": "number", "minimum": 0}
COUNT = {"type": "integer", "minimum": 0}
SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
STATUS = {"enum": ["ok", "warn", "failed"]}


def record(optional: dict[str, Any] | None = None, **required: Any) -> dict[str, Any]:
    """Return the schema of an object: all fields required unless optional, no others allowed."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": [*required],
        "additionalProperties": False,
    }


SUMMARY = record(min=SECONDS, median=SECONDS, p95=SECONDS)
RUN = record(
    import_s=SECONDS,
    first_call_s=SECONDS,
    second_call_s=SECONDS,
    total_s=SECONDS,
    status=STRING,
    reason=STRING,
)
RESULT = record(
    {
        "reason": {"type": ["string", "null"]},
        "device": {
            "anyOf": [
                {"type": "null"},
                record(platform=STRING, kind=STRING, count={"type": "integer"}),
            ]
        },
    },
    schema_version={"const": "nextstat.ml_benchmark_result.v1"},
    suite={"const": "ml"},
    case=STRING,
    deterministic={"type": "boolean"},
    status=STATUS,
    meta=record(python=STRING, platform=STRING, numpy_version=STRING, jax_version=STRING),
    dataset=record(id=STRING, sha256=SHA256),
    config=record(
        backend=STRING,
        workload=STRING,
        n={"type": "integer", "minimum": 1},
        dtype={"enum": ["float32", "float64"]},
        cold_runs=COUNT,
        warm_iters=COUNT,
        cache_policy=STRING,
    ),
    timing=record(
        cold=record(
            {
                "n_runs": COUNT,
                "import_s": SUMMARY,
                "first_call_s": SUMMARY,
                "ttfr_s": SUMMARY,
                "total_s": SUMMARY,
            },
            runs={"type": "array", "items": RUN},
        ),
        warm=record(
            {"n_iters": COUNT, "call_s": SUMMARY, "status": STRING, "reason": STRING},
            calls_s={"type": "array", "items": SECONDS},
        ),
    ),
)
INDEX = record(
    schema_version={"const": "nextstat.ml_benchmark_suite_result.v1"},
    suite={"const": "ml"},
    deterministic={"type": "boolean"},
    meta=record(python=STRING, platform=STRING),
    cases={
        "type": "array",
        "items": record(
            case=STRING,
            path={"type": "string", "pattern": "^[^/]"},
            sha256=SHA256,
            status=STATUS,
            cold_ttfr_median_s=SECONDS,
            warm_call_median_s=SECONDS,
        ),
    },
    summary=record(n_cases=COUNT, n_ok=COUNT, n_warn=COUNT, n_failed=COUNT, worst_case=STRING),
)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def assert_kept(folder: Path) -> dict[str, dict[str, Any]]:
    """Hold every published file of a run against the contract; return the results by case."""
    index = read(folder / "ml_suite.json")
    jsonschema.validate(index, INDEX)
    found = {}
    for row in index["cases"]:
        data = (folder / row["path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == row["sha256"]
        result = json.loads(data)
        jsonschema.validate(result, RESULT)
        assert (result["case"], result["status"]) == (row["case"], row["status"])
        cold, warm = result["timing"]["cold"], result["timing"]["warm"]
        firsts = [run["import_s"] + run["first_call_s"] for run in cold["runs"]]
        for values, row_s, summary in (
            (firsts, row["cold_ttfr_median_s"], cold.get("ttfr_s")),
            (warm["calls_s"], row["warm_call_median_s"], warm.get("call_s")),
        ):
            if values:
                expected = [min(values), np.median(values), np.percentile(values, 95)]
                assert [*summary.values()] == pytest.approx(expected)
                assert row_s == pytest.approx(np.median(values))
            else:
                assert (row_s, summary) == (0, None)
                assert row["status"] != "ok"
        found[row["case"]] = result
    assert {file.name for file in folder.iterdir()} == {
        "ml_suite.json",
        *(row["path"] for row in index["cases"]),
    }
    counts = {name: sum(row["status"] == name for row in index["cases"]) for name in STATUS["enum"]}
    summary = index["summary"]
    assert {name: summary[f"n_{name}"] for name in counts} == counts
    failed = [row["case"] for row in index["cases"] if row["status"] == "failed"]
    slowest = max(index["cases"], key=lambda row: row["cold_ttfr_median_s"])
    assert summary["worst_case"] in (failed or [slowest["case"]])
    return found


@pytest.mark.parametrize(
    ("modes", "runs", "status"),
    [
        ((), 2, "ok"),
        (("cold_process_cold_cache",), 1, "warn"),
        (("warm_process",), 1, "warn"),
    ],
    ids=["all", "cold", "warm"],
)
def test_a_run_keeps_the_published_contract(
    bench: Lab, modes: tuple[str, ...], runs: int, status: str
) -> None:
    asked = [part for mode in modes for part in ("--cache-mode", mode)]
    bench.run("--backend", "numpy,wrong", "--rounds", str(runs), "--max-rounds", str(runs), *asked)
    results = assert_kept(bench.out / "nextstat")
    good = results[GOOD]
    assert good["status"] == status
    assert good["timing"]["cold"].get("n_runs") == (0 if modes == ("warm_process",) else runs)
    wrong = [case for name, case in results.items() if "numpy" not in name]
    assert {case["status"] for case in wrong} == {"failed"}
    assert not any(case["timing"]["cold"]["runs"] for case in wrong)
