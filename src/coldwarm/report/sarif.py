"""A document as SARIF 2.1.0: its notices as results, for what shows code with remarks beside it.

Source: OASIS, *Static Analysis Results Interchange Format (SARIF) Version 2.1.0*.
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import coldwarm
from coldwarm.report.document import Notice
from coldwarm.report.shown import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.report.document import Document


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://github.com/coldwarm/coldwarm"
_LEVELS = {"warning": "warning", "error": "error", "notice": "note"}


def text(document: Document) -> str:
    """Return the notices of a document as one run of SARIF."""
    notices = [one for one in document.blocks if isinstance(one, Notice) and one.file]
    rules = {one.rule or one.title: one for one in notices}
    names = list(rules)
    driver = {
        "name": "coldwarm",
        "version": coldwarm.__version__,
        "informationUri": _HOME,
        "rules": [_rule(one) for one in rules.values()],
    }
    run = {"tool": {"driver": driver}, "results": [_result(one, names) for one in notices]}
    return json_text(json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2))


def _rule(one: Notice) -> dict[str, Any]:
    page = {"helpUri": one.page} if one.page else {}
    return {"id": one.rule or one.title, "shortDescription": {"text": one.title}, **page}


def _result(one: Notice, names: Sequence[str]) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": _uri(one.file or "")},
        "region": {"startLine": max(one.line or 1, 1)},
    }
    return {
        "ruleId": one.rule or one.title,
        "ruleIndex": names.index(one.rule or one.title),
        "level": _LEVELS[one.level],
        "message": {"text": one.text},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    """Return a path as a URI: relative to where the command runs, or with its scheme."""
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
