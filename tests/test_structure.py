"""The rooms of the package: how large a folder is, who imports whom, and how deep."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import coldwarm

PACKAGE = Path(coldwarm.__file__).parent
DEEPEST = 12


def module_of(file: Path) -> str:
    parts = ("coldwarm", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(file): file for file in sorted(PACKAGE.rglob("*.py"))}


@cache
def imported(module: str) -> frozenset[str]:
    """Return the modules of the package that a module imports, also for types alone."""
    found = set()
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # The package of a submodule that is named holds nothing of its own.
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= named & FILES.keys() or {node.module}
    return frozenset(found & FILES.keys() - {module})


@cache
def depth(module: str) -> int:
    """Return how many modules stand on each other up to this one."""
    return 1 + max(map(depth, imported(module)), default=0)


def circle(module: str, path: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return modules that import each other in a circle; none."""
    if module in path:
        return (*path[path.index(module) :], module)
    if module in PASSED:
        return ()
    for other in sorted(imported(module)):
        found = circle(other, (*path, module))
        if found:
            return found
    PASSED.add(module)
    return ()


PASSED: set[str] = set()


def test_no_modules_import_each_other_in_a_circle_not_even_for_types() -> None:
    circles = [found for module in FILES if (found := circle(module))]
    assert not circles, " -> ".join(circles[0])


def test_imports_are_not_deep() -> None:
    deepest = max(FILES, key=depth)
    assert depth(deepest) <= DEEPEST, deepest


def test_a_name_of_a_file_says_what_it_is() -> None:
    names = {file.stem for file in FILES.values()} | {file.parent.name for file in FILES.values()}
    assert not names & {"utils", "helpers", "common", "misc", "own", "here"}


MASKING = {
    "runner.user_input": "what comes in from the user's world: variables, command lines, labels",
    "contracts.codec": "records, and with them all JSON and the journal",
    "report.shown": "what is shown: lines that a command says, values in sentences",
    "cli.main": "what goes wrong before anything else is loaded",
    "cli._options": "that standard input, which lies in a file, is called -",
    "publish.archive": "that what is unpacked is called by its archive",
}
"""The doors where texts come in and go out, and what is masked there."""


INSIDE = {"coldwarm.masking", "coldwarm.secret_patterns"}


def test_texts_are_masked_at_a_few_doors() -> None:
    masking = {module for module in FILES if any(one in INSIDE for one in imported(module))}
    assert {module.removeprefix("coldwarm.") for module in masking - INSIDE} == MASKING.keys()


def test_commands_say_nothing_past_the_door() -> None:
    """A text with a value in it is said by ``say``; what else is printed was made of records."""
    said = re.compile(r"click\.echo\(\s*f\"|click\.echo\(.*(?:path|folder|out_dir|error)\b")
    past = {
        name.removeprefix("coldwarm.cli.")
        for name, file in FILES.items()
        if name.startswith("coldwarm.cli.") and said.search(file.read_text(encoding="utf-8"))
    }
    # It is loaded first, and masks by itself; a value for PYTHONPATH must stay what it is.
    assert past == {"_tree", "doctor"}


GUIDE = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_guide_for_contributors_names_every_folder() -> None:
    folders = {file.parent for file in FILES.values()} - {PACKAGE}
    named = [f"`{folder.relative_to(PACKAGE).as_posix()}/` |" for folder in sorted(folders)]
    assert [row for row in named if f"| {row}" not in GUIDE] == []


def test_the_guide_for_contributors_names_files_that_exist() -> None:
    files = set(re.findall(r"`((?:\w+/)*\w+\.py)`", GUIDE))
    assert len(files) > 9  # the way of one observation alone has that many
    assert [file for file in sorted(files) if not (PACKAGE / file).is_file()] == []
