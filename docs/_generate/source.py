"""Declarations read from source text, without importing it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from sphinx.errors import SphinxError
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class UndocumentedError(SphinxError):
    """Something that gets a page or a section has no docstring."""

    category = "Undocumented"


def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef, where: str) -> str:
    """Return a docstring in reStructuredText.

    Raises:
        UndocumentedError: there is none.
    """
    text = ast.get_docstring(node)
    if not text:
        message = f"{where} has no docstring, and its page is made of it: write one"
        raise UndocumentedError(message)
    return google(text)


def google(text: str) -> str:
    """Return a docstring with Google's sections as reStructuredText."""
    # As fields, not as objects of their own: two classes may have attributes of one name.
    fields: Any = Config(napoleon_use_ivar=True)
    return str(GoogleDocstring(text, fields)).strip()


def modules(folder: Path) -> list[Path]:
    """Return the modules of a folder, in order of name."""
    return sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))


def assignments(body: list[ast.stmt]) -> Iterator[tuple[str, str, ast.expr | None, str]]:
    """Yield name, annotation, value and attribute docstring of each assignment."""
    for statement, after in zip(body, [*body[1:], None], strict=True):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, "", value, _attribute_docstring(after)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                yield name, _written(annotation), value, _attribute_docstring(after)


def classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Return the classes at module level, by name."""
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def functions(body: list[ast.stmt]) -> list[ast.FunctionDef]:
    """Return the public functions or methods, in order of appearance."""
    found = [node for node in body if isinstance(node, ast.FunctionDef)]
    return [node for node in found if not node.name.startswith("_")]


def signature(node: ast.FunctionDef) -> str:
    """Return a function's signature as one line, with quoted annotations unquoted."""
    returns = f" -> {_written(node.returns)}" if node.returns else ""
    arguments = ast.unparse(node.args).replace("'", "")
    return f"{node.name}({arguments}){returns}"


def _written(annotation: ast.expr) -> str:
    """Return an annotation as a reader would write it, quoted or not."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return ast.unparse(annotation)


def _attribute_docstring(statement: ast.stmt | None) -> str:
    """Return the string that stands alone after an assignment, or nothing."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return " ".join(text.split())
    return ""
