"""Programs as people write them, and what a doctor has to say of each.

``expected.toml`` beside the programs says how each is started and what is wrong with it. It names
a line by its text, so that an edit above it moves nothing.
"""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("programs")
EXPECTED = FOLDER / "expected.toml"


@dataclass(frozen=True)
class Fault:
    """What is wrong at one place."""

    patterns: frozenset[str]
    """Any of these names it."""
    places: tuple[tuple[Path, int], ...]
    """Files and lines, any of which is right; the best one first."""
    cause: str | None = None
    """Kind of the difference that compiles again."""
    argument: str | None = None
    """Where that difference is."""

    def is_named_by(self, finding: dict[str, Any]) -> bool:
        """Say whether a finding has the pattern, the file and the line."""
        return (
            finding["pattern"] in self.patterns
            and ((FOLDER / finding["path"]).resolve(), finding["line"]) in self.places
        )

    def is_explained_by(self, finding: dict[str, Any]) -> bool:
        """Say whether a finding tells the kind of the cause, and the argument."""
        told = finding.get("cause") or {}
        causes = [told, *told.get("differences", [])]
        return any(
            self.cause in {None, cause.get("kind")}
            # What is inside of an argument is written behind its name: `metrics.values['a']`.
            and (self.argument is None or str(cause.get("argument", "")).startswith(self.argument))
            for cause in causes
        )


@dataclass(frozen=True)
class Program:
    """How a program is started, and what it does."""

    arguments: tuple[str, ...]
    """After the interpreter; in the folder of the programs."""
    exit: int
    needs: tuple[str, ...]
    """Packages without which it does not run."""
    faults: tuple[Fault, ...]
    may: frozenset[str]
    """Patterns besides its faults that are no false findings."""
    slow: bool
    """Takes longer than some seconds."""
    quick: bool
    """Is tried by the fast tests, too."""

    @property
    def name(self) -> str:
        """What the program is called in tests."""
        started = self.arguments[1] if self.arguments[0] == "-m" else self.arguments[0]
        return started.removesuffix(".py")

    @property
    def missing(self) -> list[str]:
        """Packages that it needs and that are not installed."""
        return [name for name in self.needs if find_spec(name) is None]

    @property
    def draws(self) -> bool:
        """Whether how it uses keys of random numbers is looked at: of all that are healthy, too."""
        patterns = {pattern for fault in self.faults for pattern in fault.patterns}
        return not patterns or any(pattern.startswith("key-") for pattern in patterns)

    def named(self, findings: list[dict[str, Any]]) -> list[Fault]:
        """Return the faults that are named at the right file and line."""
        return [one for one in self.faults if any(map(one.is_named_by, findings))]

    def false(self, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the findings that are neither its faults nor fair to say."""
        return [
            finding
            for finding in findings
            if finding["pattern"] not in self.may
            and not any(fault.is_named_by(finding) for fault in self.faults)
        ]


@cache
def programs() -> tuple[Program, ...]:
    """Return all programs.

    Raises:
        ValueError: a line is there not at all, or more than once.
    """
    return tuple(map(_program, tomllib.loads(EXPECTED.read_text("utf-8"))["program"]))


def _program(row: dict[str, Any]) -> Program:
    arguments = tuple(shlex.split(row["run"]))
    default = "" if arguments[0] == "-m" else arguments[0]
    return Program(
        arguments=arguments,
        exit=row.get("exit", 0),
        needs=tuple(row.get("needs", ["jax"])),
        faults=tuple(_fault(one, default) for one in row.get("fault", [])),
        may=frozenset(row.get("may", [])),
        slow=row.get("slow", False),
        quick=row.get("quick", False),
    )


def _fault(row: dict[str, Any], default: str) -> Fault:
    file = row.get("path", default)
    return Fault(
        patterns=frozenset([row["pattern"], *row.get("or", [])]),
        places=tuple(_place(file, text) for text in [row["line"], *row.get("also", [])]),
        cause=row.get("cause"),
        argument=row.get("argument"),
    )


def _place(file: str, text: str) -> tuple[Path, int]:
    """Return the one line that has a text in it; before the text may stand another file."""
    other, mark, rest = text.partition(".py: ")
    if mark:
        file, text = f"{other}.py", rest
    path = (FOLDER / file).resolve()
    lines = path.read_text("utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if text in line]
    if len(found) != 1:
        raise ValueError(f"{file}: {len(found)} lines have {text!r} in them; one has to")
    return path, found[0]
