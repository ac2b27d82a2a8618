"""What measured processes load imports, at module level, what a bare interpreter has loaded."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from coldwarm.runner.harness import _MEASURED, PACKAGE, _source_paths

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APART = {"functions/sample.py", "worker/probe.py"}
"""A user's program, and what asks an interpreter for its packages: nothing is measured there."""
FILES = [path for path in _source_paths(_MEASURED) if str(path.relative_to(PACKAGE)) not in APART]


def imported(body: list[ast.stmt]) -> Iterator[str]:
    """Yield what is imported when a module is loaded; not what is imported for types."""
    for node in body:
        match node:
            case ast.If() if ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                yield node.module or ""


@pytest.fixture(scope="module")
def bare() -> set[str]:
    """Return the modules of an interpreter that has been told nothing."""
    command = [
        sys.executable,
        "-I",
        "-c",
        "import sys; print(*sys.modules, *sys.builtin_module_names)",
    ]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_module_imports_nothing_that_would_be_measured(file: Path, bare: set[str]) -> None:
    names = set(imported(ast.parse(file.read_text(encoding="utf-8")).body))
    ours = {name for name in names if name.split(".")[0] == "coldwarm"}
    assert {name.split(".")[1] for name in ours if "." in name} <= {*_MEASURED, "wire"}
    assert names - ours <= bare
