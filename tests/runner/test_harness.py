"""The hash of the harness: every source file that may change a figure counts into it."""

from __future__ import annotations

from coldwarm.runner.harness import _MEASURED, PACKAGE, _source_paths

APART = {
    "cli": "asks and prints",
    "report": "shows what is recorded",
    "inprocess": "measures in the user's process, without a protocol of its own",
    "workloads": "each file has a hash of its own in the protocol",
    "patterns": "each file has a hash of its own in its result",
    "claims": "each file has a hash of its own in its result",
    "publish": "packs and checks what was measured",
    "cache": "lists and checks caches of the user's, and measures for no result",
    "commands": "starts programs of the user's as they are, and measures for no case",
    "history": "keeps what was measured, and looks for changes in it",
    "doctor": "watches a program of the user's, and measures for no result",
    "integrations": "writes and reads the formats of other tools",
    "masking.py": "masks what is written and shown, and no figure",
    "secret_patterns.py": "says what secrets look like",
    "__init__.py": "names what is public",
    "__main__.py": "starts the command line",
    "clock.py": "reads the clock",
    "installing.py": "says how coldwarm is installed",
    "errors.py": "names what may go wrong",
    "registry.py": "finds the files, whose hashes are in the protocol, and holds what they declare",
}
"""What does not count, and why; whoever adds a room decides here."""


def test_every_source_file_is_hashed_but_those_that_are_named_here() -> None:
    hashed = set(_source_paths())
    left_out = {file.relative_to(PACKAGE).parts[0] for file in {*PACKAGE.rglob("*.py")} - hashed}
    assert left_out == set(APART)
    assert all(path.is_file() for path in hashed)


def test_all_that_a_measured_process_loads_is_hashed() -> None:
    loaded = {file.relative_to(PACKAGE) for file in _source_paths(_MEASURED)}
    apart = {file for file in loaded if file.parts[0] == "workloads"}
    assert apart < loaded
    assert loaded - apart <= {file.relative_to(PACKAGE) for file in _source_paths()}
    names = {str(path.relative_to(PACKAGE)) for path in _source_paths()}
    assert names >= {"worker/loop.py", "runner/rounds.py", "backends/base.py", "wire.py"}
