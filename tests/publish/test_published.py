"""The published contracts of a snapshot, read as a stranger would, by their schemas alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.publish.conftest import Call, files, write_run
from tests.stats import results

from coldwarm.contracts.codec import schema_text
from coldwarm.publish import layout
from coldwarm.publish.storage import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIELDS = {
    layout.MANIFEST: {
        *("schema_version", "snapshot_id", "deterministic", "harness", "nextstat"),
        *("environment", "datasets", "results"),
    },
    layout.INDEX: {
        *("schema_version", "generated_at", "snapshot_id", "suite", "git", "workflow"),
        "artifacts",
    },
}


def published(folder: Path) -> Iterator[tuple[str, Any]]:
    for path, data in files(folder).items():
        if path.endswith(".json") and b'"nextstat.' in data[:80]:
            yield path, json.loads(data)


def nulls(value: Any, at: str = "") -> Iterator[str]:
    if value is None:
        yield at
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from nulls(one, f"{at}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from nulls(one, f"{at}[]")


@pytest.fixture(params=["one", "two"])
def folder(request: pytest.FixtureRequest, run: Path, call: Call, tmp_path: Path) -> Path:
    """A snapshot of one run, and one of two."""
    if request.param == "one":
        return call.create(run, tmp_path / "s")
    return call.create(run, tmp_path / "s", write_run(tmp_path / "run2", seed=5))


def test_they_keep_their_schemas_and_have_no_null(folder: Path) -> None:
    found = dict(published(folder))
    assert found.keys() >= {layout.MANIFEST, layout.INDEX, "nextstat/ml_suite.json"}
    for path, document in found.items():
        jsonschema.validate(document, json.loads(schema_text(document["schema_version"])))
        assert set(nulls(document)) <= {".device", ".reason"}, path
    for path, names in FIELDS.items():
        assert found[path].keys() == names


def test_the_index_leads_to_every_result_and_its_medians(folder: Path) -> None:
    index = json.loads((folder / "nextstat" / "ml_suite.json").read_text())
    assert index["summary"]["n_cases"] == len(index["cases"]) > 0
    for row in index["cases"]:
        data = (folder / "nextstat" / row["path"]).read_bytes()
        assert row["sha256"] == sha256_of(data)
        result = json.loads(data)
        cold, warm = result["timing"]["cold"], result["timing"]["warm"]
        if cold["runs"]:
            assert cold["ttfr_s"]["p95"] >= cold["ttfr_s"]["median"]
        if row["status"] == "ok":
            assert cold["ttfr_s"]["median"] == row["cold_ttfr_median_s"] > 0
            assert warm["call_s"]["median"] == row["warm_call_median_s"] > 0
        else:
            assert row["status"] in {"warn", "failed"}


def test_the_manifest_names_every_index_and_every_input(folder: Path) -> None:
    manifest = json.loads((folder / layout.MANIFEST).read_text())
    assert manifest["results"][0]["path"] == "nextstat/ml_suite.json"
    for one in manifest["results"]:
        assert one["sha256"] == sha256_of((folder / one["path"]).read_bytes())
    assert {one["id"] for one in manifest["datasets"]}
    for one in manifest["environment"]["runs"].values():
        assert one["cache_policies"] == [results.EMPTY, results.WARM]
        assert re.fullmatch("[0-9a-f]{64}", one["fingerprint"])


def test_what_was_not_measured_is_0_with_a_status_that_says_so(call: Call, tmp_path: Path) -> None:
    from coldwarm.contracts.reasons import because

    missing = because("missing_dependency", name="torch")
    absent = results.case(3, case="torch_eager_cpu_matmul_512_f32", status="warn", reason=missing)
    from msgspec.structs import replace

    absent = replace(absent, observations=[], cold=[], warm=None)
    run = results.write(tmp_path / "run", [results.case(1), absent])
    folder = call.create(run, tmp_path / "s")
    index = json.loads((folder / "nextstat" / "ml_suite.json").read_text())
    rows = {row["case"]: row for row in index["cases"]}
    row = rows["torch_eager_cpu_matmul_512_f32"]
    assert (row["status"], row["cold_ttfr_median_s"], row["warm_call_median_s"]) == ("warn", 0, 0)
    result = json.loads((folder / "nextstat" / row["path"]).read_text())
    assert result["reason"] == "missing_dependency: torch"
