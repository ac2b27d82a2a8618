"""The public names of the package, and the errors it raises."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING

from _generate import source
from _generate.rst import body_of, code, heading, literal, title_of, toctree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def public_names() -> list[str]:
    """Return the names that ``coldwarm`` promises to keep."""
    return [name for name in importlib.import_module("coldwarm").__all__ if name != "__version__"]


def pages(package: Path) -> dict[str, str]:
    """Return the page of the public names, that of the errors, and the page above them."""
    index = (
        heading("Python interface")
        + "The names in ``coldwarm`` itself are public and loaded on first use; everything else\n"
        + "may change between versions.\n\n"
        + "".join(_name(name) for name in public_names())
        + toctree(["errors"])
    )
    return {"index": index, "errors": _errors(package / "errors.py")}


def _name(name: str) -> str:
    """Return the section of one public name."""
    member = getattr(importlib.import_module("coldwarm"), name)
    if inspect.ismodule(member):  # a package that can be called
        member = member.__call__
    top = heading(literal(f"coldwarm.{name}"), 1, f"api-{name}")
    if not callable(member):
        return top + code(f"{name} = {member!r}")
    text = inspect.getdoc(member)
    if not text:
        message = f"coldwarm.{name} has no docstring, and its section is made of it: write one"
        raise source.UndocumentedError(message)
    return top + code(f"{name}{_signature(member)}") + source.google(text) + "\n\n"


def _signature(member: Callable[..., object]) -> str:
    """Return how a member is called; an exception takes its message."""
    if isinstance(member, type) and issubclass(member, BaseException):
        return "(message)"
    return str(inspect.signature(member))


def _errors(path: Path) -> str:
    """Return the page of the errors: the tree, then each class."""
    tree = source.parse(path)
    text = source.docstring(tree, path.name)
    sections = (
        heading(literal(name), 1, f"error-{name}") + source.docstring(node, name) + "\n\n"
        for name, node in source.classes(tree).items()
    )
    return heading(title_of(text)) + f"{body_of(text)}\n\n" + "".join(sections)
