"""The committed JSON Schemas are those of the types, and strict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.contracts import samples

from coldwarm.contracts import codec, nextstat
from coldwarm.contracts.codec import encode, schema_names, schema_text
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_the_committed_schemas_are_those_of_the_types(tmp_path: Path) -> None:
    (tmp_path / "old.json").touch()
    subprocess.run([sys.executable, "-m", codec.__name__, tmp_path], check=True)
    committed = Path(codec.__file__).parent / "schemas"
    written, known = (
        {file.name: file.read_text() for file in folder.glob("*.json")}
        for folder in (tmp_path, committed)
    )
    assert written == known, "run: python -m coldwarm.contracts.codec"


def _objects(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "properties" in node:
            yield node
        for part in node.values():
            yield from _objects(part)
    elif isinstance(node, list):
        for part in node:
            yield from _objects(part)


@pytest.mark.parametrize("name", schema_names())
def test_no_schema_allows_other_fields(name: str) -> None:
    schema = json.loads(schema_text(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    for found in _objects(schema["$defs"]):
        if "title" in found:
            assert found["additionalProperties"] is False


def test_records_keep_their_schemas() -> None:
    surroundings = samples.environment()
    measured = samples.case([samples.observation(), samples.warm_observation([1.0])])
    steady = samples.steady(measured)
    published = [result for _, result in nextstat.express(measured, surroundings, steady)]
    index = nextstat.suite([], surroundings, deterministic=False)
    for record in (surroundings, measured, *published, index):
        document = json.loads(encode(record))
        schema = json.loads(schema_text(document["schema_version"]))
        jsonschema.validate(document, schema)
        del document["schema_version"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, schema)


def test_short_names_and_nearest_names() -> None:
    assert schema_text("case_result") == schema_text("coldwarm.case_result.v2")
    with pytest.raises(UsageError, match=r"the nearest are .*coldwarm\.case_result\.v2"):
        schema_text("case_resutl")
    with pytest.raises(UsageError, match=r"there are coldwarm\.answers\.v1"):
        schema_text("?")
