"""One page for each workload, made of its docstring and its declarations."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from _generate import source
from _generate.rst import body_of, definition, heading, literal, title_of, toctree

if TYPE_CHECKING:
    from pathlib import Path

_DECLARED = ("NAME", "SIZES", "SIZE_MEANING", "DTYPES", "TOLERANCE", "LAYOUT", "BASELINE")


def pages(package: Path) -> dict[str, str]:
    """Return a page for each file in ``workloads/``, and the page above them."""
    folder = package / "workloads"
    files = [*source.modules(folder), *source.modules(folder / "scenarios")]
    index = (
        heading("Workloads")
        + "A workload is a job with seeded inputs, a float64 reference and several candidates\n"
        + "that do it. Answers are checked against the reference before anything is timed.\n\n"
        + toctree(path.stem for path in files)
    )
    return {"index": index, **{path.stem: _page(path) for path in files}}


def _page(path: Path) -> str:
    """Return the page of one workload."""
    tree = source.parse(path)
    text = source.docstring(tree, path.name)
    declared = {name: value for name, _, value, _ in source.assignments(tree.body) if value}
    name = ast.literal_eval(declared["NAME"])
    return "".join(
        (
            heading(f"{name}: {title_of(text)}", label=f"workload-{name}"),
            f"{body_of(text)}\n\n",
            heading("Declarations", 1),
            *(definition(key, literal(_value(declared[key]))) for key in _DECLARED),
            heading("Candidates", 1),
            *(_candidate(node) for node in _builders(tree, path)),
        )
    )


def _value(node: ast.expr) -> str:
    """Return a declared value as text: a string without its quotes."""
    value = ast.literal_eval(node)
    return value if isinstance(value, str) else repr(value)


def _builders(tree: ast.Module, path: Path) -> list[ast.FunctionDef]:
    """Return the functions that build candidates, also those taken from a file beside it."""
    found = [node for node in source.functions(tree.body) if node.name.startswith("for_")]
    for name, _, value, _ in source.assignments(tree.body):
        match value:
            case ast.Attribute(value=ast.Name(id=file), attr=taken) if name.startswith("for_"):
                shared = source.functions(source.parse(path.with_name(f"{file}.py")).body)
                found += [node for node in shared if node.name == taken]
    return found


def _candidate(node: ast.FunctionDef) -> str:
    """Return the entry of one candidate."""
    return definition(literal(node.name), source.docstring(node, node.name))
