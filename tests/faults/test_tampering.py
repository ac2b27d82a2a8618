"""A result that was changed after it was written is believed by no command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.faults.lab import GOOD, Lab
from tests.faults.plans import SHORT

if TYPE_CHECKING:
    from pathlib import Path


def test_a_case_that_was_changed_is_refused_by_every_command_with_the_same_line(bench: Lab) -> None:
    assert bench.run(*SHORT).code == 0
    file = bench.out / f"cases/{GOOD}.json"
    file.write_text(file.read_text().replace('"wall_s": ', '"wall_s": 1', 1))
    validated = bench.command("validate", bench.out)
    assert validated.code == 3
    [line] = [line for line in validated.out.splitlines() if ": OK " not in line]
    assert f"cases[0].sha256: cases/{GOOD}.json has " in line
    assert "it was changed after it was written" in line
    commands: list[tuple[str | Path, ...]] = [
        ("show", bench.out),
        ("plan", bench.out, "--calls", "10"),
        ("compare", bench.out, bench.out),
        ("compare", file, file),
        ("run", "--out", bench.out, "--resume"),
    ]
    for arguments in commands:
        done = bench.command(*arguments)
        assert (done.code, done.err.strip()) == (3, f"coldwarm: {line}")
