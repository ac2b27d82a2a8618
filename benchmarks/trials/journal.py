"""The file of trials: one JSON line for each, those that were thrown away and why among them.

A file holds trials of one build and one machine; its first lines say which.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    Line = dict[str, Any]

MEASURED = ("trial", "truth")
"""The records that are of a build and a machine."""


class MixedError(Exception):
    """A file holds, or would hold, what was measured of several builds or machines."""


def read(file: Path) -> list[Line]:
    """Return the lines of a file; a last one that was cut off is left out, and mended.

    Trials that were thrown away afterwards say so, as those do that were at once.
    """
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")
    lines: list[Line] = [json.loads(line) for line in whole.splitlines()]
    for removal in [line for line in lines if line["record"] == "removal"]:
        for line in lines:
            if line["record"] == "trial" and removal["since"] <= line["date"] < removal["until"]:
                line["thrown_away"] = line["thrown_away"] or removal["reason"]
    return lines


def append(file: Path, line: Mapping[str, Any]) -> None:
    """Write one line to the end of a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as journal:
        journal.write(json.dumps(line, ensure_ascii=False) + "\n")


def belong(lines: Iterable[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return the build and the machine of all that was measured; ``None``: nothing was.

    Raises:
        MixedError: there are several.
    """
    found: dict[tuple[str, str], int] = {}
    for line in lines:
        if line["record"] in MEASURED:
            whose = (line["build"], line["machine"])
            found[whose] = found.get(whose, 0) + 1
    if len(found) > 1:
        counts = ", ".join(f"{n} of {build} on {there}" for (build, there), n in found.items())
        raise MixedError(f"trials of different builds or machines do not mix: {counts}")
    return next(iter(found), None)


def begin(file: Path, build: Mapping[str, Any], machine: Mapping[str, Any]) -> list[Line]:
    """Return the lines of a file that trials of this build on this machine may be added to.

    Raises:
        MixedError: it holds those of another.
    """
    lines = read(file)
    whose = belong(lines)
    if whose not in {None, (build["id"], machine["id"])}:
        raise MixedError(
            f"{file} holds trials of build {whose[0]} on machine {whose[1]}; this is build "
            f"{build['id']} on {machine['id']}: move the file away, or give another with --out"
        )
    for record in (build, machine):
        if record not in lines:
            append(file, record)
    return lines
