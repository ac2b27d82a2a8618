"""What a file of a claim defines: its code, without what it declares about itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_DECLARED = {
    "ARTICLE",
    "BENCHES",
    "DOCS",
    "FACTS",
    "NEEDS",
    "NOTE",
    "PATTERNS",
    "PROTOCOL",
    "QUANTITY",
    "RULE",
}
"""What a claim says in constants: it stands in words above its code."""


def defined(path: Path, wanted: set[str] | None = None) -> str:
    """Return the definitions of a file; of those that are wanted, with all that they refer to."""
    text = path.read_text(encoding="utf-8")
    body = ast.parse(text).body
    kept = _needed(body, wanted) if wanted else {name for one in body for name in _names(one)}
    lines, parts, last = text.splitlines(), [], 0
    for statement in body:
        if kept & (_names(statement) - _DECLARED):
            parts.append("\n".join(lines[last : statement.end_lineno]))
        last = statement.end_lineno or last
    return "\n".join(parts).strip("\n")


def _names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement at module level defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            every = (node for target in targets for node in ast.walk(target))
            return {node.id for node in every if isinstance(node, ast.Name)}
    return set()


def _needed(body: Sequence[ast.stmt], wanted: set[str]) -> set[str]:
    """Return wanted names and those that their definitions use, however far away."""
    defined = {name: statement for statement in body for name in _names(statement)}
    found: set[str] = set()
    open_ = wanted & set(defined)
    while open_:
        name = open_.pop()
        found.add(name)
        used = {node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name)}
        open_ |= (used & set(defined)) - found
    return found
