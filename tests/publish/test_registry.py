"""``coldwarm snapshot registry``: many snapshots in one file, each id with one content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
from tests.publish.conftest import write_run

from coldwarm.contracts.codec import load_as, schema_text
from coldwarm.contracts.snapshot import SnapshotRegistry
from coldwarm.publish import layout
from coldwarm.publish.storage import sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call


def test_snapshots_are_kept_by_their_hashes(snapshot: Path, call: Call, tmp_path: Path) -> None:
    other = call.create(write_run(tmp_path / "run2", seed=5), snapshot.parent / "s2", name="s2")
    assert call("registry", "add", snapshot, other)[0] == 0
    path = snapshot.parent / layout.REGISTRY
    document = json.loads(path.read_text())
    jsonschema.validate(document, json.loads(schema_text(document["schema_version"])))
    record = load_as(SnapshotRegistry, path)
    assert [one.snapshot_id for one in record.snapshots] == ["s1", "s2"]
    for one, folder in zip(record.snapshots, (snapshot, other), strict=True):
        hashes = one.artifacts
        assert hashes.snapshot_index_sha256 == sha256_of((folder / layout.INDEX).read_bytes())
        assert hashes.baseline_manifest_sha256 == sha256_of((folder / layout.MANIFEST).read_bytes())
    code, said, _ = call("registry", "list", "--registry", path)
    assert code == 0
    assert [line.split()[0] for line in said.splitlines()] == ["s1", "s2"]
    assert json.loads(call("registry", "list", "--registry", path, "--json")[1]) == document


def test_adding_again_changes_nothing_but_links(snapshot: Path, call: Call) -> None:
    path = snapshot.parent / layout.REGISTRY
    assert call("registry", "add", snapshot, "--link", "archive=https://example.org/s1")[0] == 0
    assert call("registry", "add", snapshot)[0] == 0
    [one] = load_as(SnapshotRegistry, path).snapshots
    assert one.links == {"archive": "https://example.org/s1"}
    assert call("registry", "add", snapshot, "--link", "archive")[0] == 2
    assert call("registry", "add", snapshot, "--link", "x=javascript:alert(1)")[0] == 2


def test_an_id_is_not_given_to_another_content(snapshot: Path, call: Call, tmp_path: Path) -> None:
    registry = tmp_path / "all.json"
    assert call("registry", "add", snapshot, "--registry", registry)[0] == 0
    before = registry.read_bytes()
    other = call.create(write_run(tmp_path / "run2", seed=5), tmp_path / "apart" / "s1")
    assert "is taken by another" in call.refused("registry", "add", other, "--registry", registry)
    assert registry.read_bytes() == before


def test_what_is_no_snapshot_or_no_registry_is_refused(
    snapshot: Path, call: Call, tmp_path: Path
) -> None:
    call.refused("registry", "add", tmp_path, code=3)
    assert "there is no registry" in call.refused(
        "registry", "list", "--registry", tmp_path / "none.json"
    )
    (snapshot / layout.MANIFEST).write_text("{}")
    refused = call.refused("registry", "add", snapshot, code=3)
    assert "is not the file that the index of its snapshot names" in refused
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema_version": "nextstat.snapshot_registry.v1"}')
    call.refused("registry", "list", "--registry", broken, code=3)
