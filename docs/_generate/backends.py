"""One page for each backend file, a section for each backend, and the interface."""

from __future__ import annotations

import ast
import tomllib
from typing import TYPE_CHECKING

from _generate import source
from _generate.rst import body_of, code, definition, heading, literal, title_of, toctree

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "coldwarm.backends"
_DECLARED = {
    "framework": "Candidates",
    "like": "Candidates before these",
    "distributions": "Distributions",
    "devices": "Devices",
    "dtypes": "Dtypes",
    "caches": "Caches",
    "compiles": "Compiles",
    "synchronous": "Synchronous",
    "prepares": "Made ahead of time",
    "variant": "Left out of small suites",
    "sync_policy": "Sync policy",
}


def registered(package: Path) -> dict[str, tuple[str, str]]:
    """Return file stem and class name of each built-in backend, by its registered name."""
    project = tomllib.loads((package.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    entries = project["project"]["entry-points"][GROUP]
    split = {name: target.split(":") for name, target in entries.items()}
    return {name: (module.rpartition(".")[2], cls) for name, (module, cls) in split.items()}


def pages(package: Path) -> dict[str, str]:
    """Return a page for each backend file, one for the interface, and the page above them."""
    folder = package / "backends"
    base = source.classes(source.parse(folder / "base.py"))["Backend"]
    stems = sorted({stem for stem, _ in registered(package).values()})
    index = (
        heading("Backends")
        + "A backend is a framework and how it executes. Built-in ones are registered under\n"
        + f"the entry-point group ``{GROUP}``, as third parties' are.\n\n"
        + toctree([*stems, "interface"])
    )
    found = {stem: _page(package, folder / f"{stem}.py", base) for stem in stems}
    return {"index": index, "interface": _interface(base), **found}


def _page(package: Path, path: Path, base: ast.ClassDef) -> str:
    """Return the page of one file, with a section for each backend registered from it."""
    tree = source.parse(path)
    text = source.docstring(tree, path.name)
    siblings = [source.classes(source.parse(file)) for file in sorted(path.parent.glob("*.py"))]
    inherited = {name: cls for classes in siblings for name, cls in classes.items()}
    known = {**inherited, **source.classes(tree), "Backend": base}
    sections = [
        _section(name, known[cls], known)
        for name, (stem, cls) in registered(package).items()
        if stem == path.stem
    ]
    watched = package / "frameworks" / path.name
    told = source.docstring(source.parse(watched), path.name) if watched.is_file() else ""
    account = heading("How it is watched", 1) + f"{told}\n\n" if told else ""
    return heading(title_of(text)) + f"{body_of(text)}\n\n" + "".join(sections) + account


def _section(name: str, cls: ast.ClassDef, known: dict[str, ast.ClassDef]) -> str:
    """Return the section of one backend: its docstring and what it declares."""
    declared = _inherited(cls, known)
    rows = (
        definition(label, literal(_value(declared[key])))
        for key, label in _DECLARED.items()
        if key in declared
    )
    text = source.docstring(cls, f"{cls.name} ({name})")
    return heading(literal(name), 1, f"backend-{name}") + f"{text}\n\n" + "".join(rows)


def _inherited(cls: ast.ClassDef, known: dict[str, ast.ClassDef]) -> dict[str, ast.expr]:
    """Return the class attributes that have a value, those of its bases included."""
    found: dict[str, ast.expr] = {}
    for base in reversed(cls.bases):
        if isinstance(base, ast.Name) and base.id in known:
            found |= _inherited(known[base.id], known)
    return found | {name: value for name, _, value, _ in source.assignments(cls.body) if value}


def _value(node: ast.expr) -> str:
    """Return a declared value as text: words for what is plain, source for the rest."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ", ".join(value) or "none"
    return str(value)


def _interface(base: ast.ClassDef) -> str:
    """Return the page of the class that every backend derives from."""
    attributes = (
        definition(f"{literal(name)} : {literal(kind)}", text)
        for name, kind, _, text in source.assignments(base.body)
    )
    methods = (
        code(source.signature(node)) + source.docstring(node, node.name) + "\n\n"
        for node in source.functions(base.body)
    )
    return "".join(
        (
            heading("The interface", label="backend-interface"),
            f"``coldwarm.backends.base.Backend``: {source.docstring(base, 'Backend')}\n\n",
            heading("Declarations", 1),
            *attributes,
            heading("Methods, in the order in which they run", 1),
            *methods,
        )
    )
