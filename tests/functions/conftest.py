"""A folder with a user's files, and the real command in it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from tests.faults.lab import Lab

from coldwarm.contracts import codec
from coldwarm.contracts.bench import BenchReport

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faults.lab import Done


class Desk(Lab):
    """Where somebody measures functions of their own."""

    def write(self, name: str, text: str) -> Path:
        """Write a file of the user's."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def bench(self, *arguments: str | Path, timeout_s: float = 120.0) -> Done:
        """Run ``coldwarm bench`` into ``out``: one process of each mode where nothing is said."""
        usual = {"--rounds": "1", "--max-rounds": "1", "--out": str(self.out)}
        if "--time-budget" in arguments:
            del usual["--rounds"], usual["--max-rounds"]
        added = [
            part for name, pair in usual.items() if name not in arguments for part in (name, pair)
        ]
        return self.command("bench", *arguments, *added, timeout_s=timeout_s)

    def report(self, *arguments: str | Path) -> tuple[int, BenchReport]:
        """Run it with ``--json``; return its code and what it printed, held to the contract."""
        done = self.bench(*arguments, "--json")
        assert done.out, done.err
        found = codec.decode(done.out.encode(), "the output")
        assert isinstance(found, BenchReport)
        self.assert_clean()
        return done.code, found

    def refused(self, *arguments: str | Path) -> str:
        """Run it with something wrong; return the one line that says so."""
        before = list(self.path.glob("*/suite.json"))
        done = self.bench(*arguments)
        assert done.code == 2, (done.code, done.err)
        assert done.out == ""
        lines = [one for one in done.err.strip().splitlines() if not one.startswith("note: ")]
        assert len(lines) == 1, done.err
        assert list(self.path.glob("*/suite.json")) == before
        return lines[0].removeprefix("coldwarm: ")

    def own(self, label: str) -> dict[str, Any]:
        """Return what the protocol says of a candidate."""
        said: dict[str, Any] = self.case(label)["protocol"]["own"]
        return said


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Return a folder of this test's own; nothing that runs may outlive the test."""
    made = Desk(tmp_path)
    yield made
    made.assert_no_orphans()
