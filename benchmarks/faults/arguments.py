"""Arguments that make no sense, or are meant to do harm."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from benchmarks.faults.scene import Fault

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterator

    from benchmarks.faults.scene import Scene

TEXTS = {
    "nothing": "",
    "a space": " ",
    "a comma": ",",
    "300 characters": "x" * 300,
    "5,000 characters": "y" * 5000,
    "an escape": "\x1b[31mred\x1b[0m",
    "a change of direction": "\u202egnp.exe",
    "a command to the CI": "::error::failed",
    "a line of its own": "one\n::error::two",
    "markup": "[red]x[/red] [/nothing]",
    "a path that climbs": "../../../etc/passwd",
    "half a character": "\udc80",
}
NUMBERS = {
    "nothing": "",
    "a word": "many",
    "nan": "nan",
    "infinity": "inf",
    "below zero": "-1",
    "zero": "0",
    "2**70": str(2**70),
    "1e400": "1e400",
    "other digits": "\u0663\u066b\u0665x",
}
NAMED = ("--case", "--backend", "--cache-mode", "--suite", "--workload")
NUMBERED = ("--max-rounds", "--precision", "--timeout", "--time-budget")
BENCH_NUMBERED = ("--tolerance", "--size", "--time-budget")
RUN = ("run", "--out", "o")
COMMANDS = {
    "show": ("show", "RUN"),
    "plan": ("plan", "RUN", "--calls", "10"),
    "compare": ("compare", "RUN", "RUN"),
    "validate": ("validate", "RUN"),
}
PATHS = {
    "/dev/zero": "/dev/zero",
    "/dev/null": "/dev/null",
    "/dev/full": "/dev/full",
    "no such path": "/no/such/path",
    "a process": "/proc/1/mem",
    "a folder": "/etc",
    "a name without end": "z" * 5000,
    "nothing": "",
    "an escape": "\x1b]0;title\x07",
}


def faults(random_: random.Random) -> Iterator[Fault]:
    """Yield an option with each text, number and path."""
    del random_
    for option, (what, text) in product(NAMED, TEXTS.items()):
        yield _refused(f"run {option} with {what}", *RUN, option, text)
    for option, (what, text) in product(NUMBERED, NUMBERS.items()):
        nothing = ("--case", "none_8_f32")
        yield _refused(f"run {option} with {what}", *RUN, *nothing, option, text)
    for option, (what, text) in product(BENCH_NUMBERED, NUMBERS.items()):
        yield _refused(f"bench {option} with {what}", "bench", "nowhere.py:f", option, text)
    for command, (what, text) in product(("bench", "noise"), TEXTS.items()):
        yield _refused(f"{command} of {what}", command, f"{text}:f")
    for name, (what, text) in product(COMMANDS, PATHS.items()):
        yield Fault("argument", f"{name} of {what}", partial(_read, name, text))


def _refused(what: str, *arguments: str) -> Fault:
    return Fault("argument", what, partial(_call, arguments, {2}))


def _call(arguments: tuple[str, ...], codes: Collection[int], scene: Scene) -> None:
    scene.command(*arguments, codes=codes)


def _read(name: str, path: str, scene: Scene) -> None:
    arguments = [path if part == "RUN" else part for part in COMMANDS[name]]
    scene.command(*arguments, codes={2, 3})
