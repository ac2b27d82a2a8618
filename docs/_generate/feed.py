"""The verdicts on patterns and claims by version of the frameworks, as one file of the site."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from _generate import evidence
from coldwarm.catalogue.spec import specs

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.catalogue import ClaimResult, PatternResult

NAME = "verdicts.json"


def text(package: Path) -> str:
    """Return a row for each pattern and claim in each environment that it was measured in."""
    rows = [
        _row(kind, one, result)
        for one in evidence.stored(package)
        for kind, results in (("patterns", one.patterns), ("claims", one.claims))
        for result in results.values()
    ]
    return json.dumps({"verdicts": rows}, indent=1) + "\n"


def _row(kind: str, of: evidence.Evidence, result: PatternResult | ClaimResult) -> dict[str, Any]:
    known = specs("patterns" if kind == "patterns" else "claims").get(result.id)
    return {
        "kind": kind.removesuffix("s"),
        "id": result.id,
        "title": known.title if known else None,
        "page": known.page if known else None,
        "verdict": result.verdict,
        "versions": result.versions or None,
        "machine": of.machine or None,
        "evidence": of.name,
    }
