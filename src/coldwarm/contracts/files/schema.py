"""JSON Schemas of every contract, generated from the types and committed beside them.

``python -m coldwarm.contracts.files.schema`` writes them anew; a test fails where the committed
files are not what the types say.
"""

from __future__ import annotations

import difflib
import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.files.codec import contracts
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from coldwarm.contracts.files.codec import Contract

FOLDER = Path(__file__).parent / "schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_names() -> list[str]:
    """Return the names of all contracts, such as ``coldwarm.case_result.v1``, sorted."""
    return sorted(contract.name for contract in contracts().values())


def schema_text(name: str) -> str:
    """Return the JSON Schema of a contract, ending with a newline.

    Args:
        name: A full name, or its last part: ``case_result``, ``case_result.v1``.

    Raises:
        UsageError: no contract has that name; the message has the nearest ones.
    """
    return _text(_find(name))


def write_schemas(folder: Path = FOLDER) -> list[Path]:
    """Write every schema into ``folder``, remove others there, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for contract in contracts().values():
        file = folder / f"{contract.name}.json"
        file.write_text(_text(contract), encoding="utf-8")
        written.append(file)
    for stale in set(folder.glob("*.json")) - set(written):
        stale.unlink()
    return sorted(written)


def _find(name: str) -> Contract:
    by_name: dict[str, Contract] = {}
    for contract in contracts().values():
        short = contract.name.split(".", 1)[1]
        for alias in (contract.name, contract.kind, short, short.rsplit(".v", 1)[0]):
            by_name[alias] = contract
    if name in by_name:
        return by_name[name]
    near = difflib.get_close_matches(name, by_name, n=3, cutoff=0.5)
    found = list(dict.fromkeys(by_name[alias].name for alias in near)) or schema_names()
    message = f"no contract is named {name!r}; the nearest are {', '.join(found)}"
    if not near:
        message = f"no contract is named {name!r}; there are {', '.join(found)}"
    raise UsageError(message)


def _text(contract: Contract) -> str:
    return json.dumps(_schema(contract), indent=2, ensure_ascii=False) + "\n"


def _schema(contract: Contract) -> dict[str, Any]:
    """Return the schema: ``schema_version`` is required, although the type has a default."""
    schema = msgspec.json.schema(contract.type)
    top = schema["$defs"][contract.type.__name__]
    top["required"] = ["schema_version", *(f for f in top["required"] if f != "schema_version")]
    for record in schema["$defs"].values():  # Python 3.13 takes the indentation away itself
        if "description" in record:
            record["description"] = inspect.cleandoc(record["description"])
    return {"$schema": _DIALECT, "$id": contract.name, **schema}


if __name__ == "__main__":
    write_schemas()
