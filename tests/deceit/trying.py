"""Tries a deceit: the truth, then the measurement, then the truth again, and a judgement."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tests import started
from tests.deceit.truth import filled, forget, given, plain_variables, truth

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.deceit.base import Deceit

OFF = 0.2
"""A figure may be off by this share."""
LIMIT_S = 240.0
REFUSED = {2, 3, 4}
"""Statuses of a command that has measured nothing, or nothing valid."""
_BUDGET_S = 30
"""Of a function that compiles in each call, whose processes are refused one after the other."""
_MODES = {
    "first": ("cold_process_cold_cache", "ttfr"),
    "process": ("cold_process_cold_cache", "ttfr_process"),
    "filled": ("cold_process_warm_cache", "ttfr"),
}
_LATE = "not_measured"
"""The code of a run whose time was over: nothing is shown by that."""
Outcome = Literal["right", "refused", "named", "untried", "broken", "SILENTLY WRONG"]
_HERE = """
import json, sys
import coldwarm
import subject
from coldwarm.errors import UsageError

try:
    k = 0
    function, given = {made}
    result = coldwarm.Benchmark(cold=False)(function, *given)
except UsageError as error:
    print(json.dumps({{"refused": str(error)}}))
    raise SystemExit(2)
call = result.warm.call_s if result.warm else None
codes = [getattr(getattr(one, "reason", one), "code") for one in result.cautions]
codes += [one.code for one in result.missing.values()]
blocks = result.in_process.blocks if result.in_process else []
print(json.dumps({{
    "codes": codes,
    "figure": call and [call.median, call.low, call.high],
    "compiles": [one.compiles for one in blocks],
}}))
"""


@dataclass(frozen=True)
class Said:
    """What was published of a deceit."""

    status: int
    figure: float | None
    """Seconds; for ``compiles`` the programs that the clean blocks counted."""
    codes: frozenset[str] = frozenset()
    text: str = ""
    """The last line on standard error: for a reader, never judged."""


@dataclass(frozen=True)
class Trial:
    """A deceit that was tried."""

    deceit: Deceit
    said: Said
    truths: list[float] = field(default_factory=list)

    @property
    def true(self) -> float:
        """The middle of the truths."""
        return sorted(self.truths)[len(self.truths) // 2]

    @property
    def ratio(self) -> float | None:
        """What was published over what is true."""
        if self.said.figure is None:
            return None
        return self.said.figure / self.true if self.true else float("inf")

    @property
    def outcome(self) -> Outcome:
        """Whether the figure is right, is not there, has a caution of its own, or deceives."""
        named = self.said.codes & set(self.deceit.said)
        if self.said.status not in {0, *REFUSED}:
            return "broken"
        if self.said.figure is None:
            late = _LATE in self.said.codes and not named
            return "untried" if late else "refused"
        if self._is_right():
            return "right"
        return "named" if named else "SILENTLY WRONG"

    def _is_right(self) -> bool:
        assert self.said.figure is not None
        if self.deceit.figure == "compiles":
            return (self.said.figure > 0) == (self.true > 0)
        low, high = min(self.truths), max(self.truths)
        return low * (1 - OFF) <= self.said.figure <= high * (1 + OFF)


def attempt(deceit: Deceit, folder: Path, *, here: bool = False) -> Trial:
    """Measure the truth and what is published, in turns.

    ``here``: by ``coldwarm.bench`` in the process that has the function.
    """
    write(deceit, folder)
    try:
        truths = [truth(deceit, folder)]
        forget(deceit, folder)
        said = in_process(deceit, folder) if here else by_command(deceit, folder)
        truths += [truth(deceit, folder) for _ in range(1 if deceit.figure == "compiles" else 2)]
    finally:
        forget(deceit, folder)
    return Trial(deceit, said, truths)


def write(deceit: Deceit, folder: Path) -> None:
    """Write the program into its folder."""
    for name, text in {"subject.py": deceit.source, **deceit.files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(filled(text, folder), encoding="utf-8")


def by_command(deceit: Deceit, folder: Path) -> Said:
    """Measure it with ``coldwarm bench``, or the command that it names."""
    out = folder / "out"
    usual = ("bench", f"subject.py:{deceit.target}", *_effort(deceit))
    arguments = [*(deceit.command or usual), *deceit.options]
    for name, what in deceit.inputs.items():
        arguments += ["--input", f"{name}={what}"]
    if not deceit.command:
        for name, value in given(deceit.variables, folder).items():
            arguments += ["--env", f"{name}={value}"]
    command = ["-m", "coldwarm", *arguments, "--format", "json", "--out", str(out)]
    variables = given(deceit.variables, folder) if deceit.command else {}
    status, _, text = _ran(command, folder, variables)
    cases = [json.loads(file.read_bytes()) for file in sorted(out.glob("cases/*.json"))]
    if not cases:
        return Said(status, None, text=text)
    return Said(status, _figure(deceit, cases[0]), frozenset(_codes_of(cases[0])), text)


def _effort(deceit: Deceit) -> list[str]:
    """Return the options of ``bench`` that measure no more than what is at stake."""
    regime = "--warm-only" if deceit.figure in {"warm", "compiles"} else "--cold-only"
    processes = "1" if deceit.quick or deceit.figure == "compiles" else "2"
    effort = [regime, "--rounds", processes, "--max-rounds", processes]
    return [*effort, *(["--time-budget", f"{_BUDGET_S}s"] if deceit.figure == "compiles" else [])]


def in_process(deceit: Deceit, folder: Path) -> Said:
    """Measure its warm calls with ``coldwarm.bench`` in a program of the user's."""
    made = f"subject.{deceit.target}"
    made = f"{made}()" if deceit.factory else f"{made}, {deceit.arguments}"
    program = textwrap.dedent(_HERE).format(made=made)
    variables = given(deceit.variables, folder)
    status, said, text = _ran(["-c", program], folder, variables)
    last = json.loads(said.splitlines()[-1]) if said.strip() else {}
    if "refused" in last:  # after which what the program left behind may still end it
        return Said(2, None, text=last["refused"])
    if status or not last:
        return Said(status or 70, None, text=text)
    figure = last["figure"] and last["figure"][0]
    if deceit.figure == "compiles":
        figure = _counted(last["compiles"]) if figure else None
    return Said(status, figure, frozenset(last["codes"]), text)


def _ran(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[int, str, str]:
    """Run Python and return its status, its output, and the last line on standard error."""
    variables = {**plain_variables(), **variables}
    if command[0] == "-m":
        try:
            done = started.python(
                [sys.executable, *command], cwd=folder, env=variables, timeout_s=LIMIT_S
            )
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL, "", f"no answer within {LIMIT_S} s"
        return done.returncode, done.stdout.decode(), _last_line(done.stderr.decode())
    with subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, error = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return -signal.SIGKILL, "", f"no answer within {LIMIT_S} s"
    return process.returncode, out, _last_line(error)


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _figure(deceit: Deceit, case: dict[str, Any]) -> float | None:
    if deceit.figure in _MODES:
        mode, name = _MODES[deceit.figure]
        found = [one for one in case["cold"] if one["cache_mode"] == mode and one["n_ok"]]
        if not found:
            return None
        # Of filled caches: with a folder alone, as the truth has it, where that is published too.
        beside = found[0].get("framework_default")
        return float((beside or found[0])["seconds"][name]["median"])
    warm = case["warm"] and case["warm"]["call_s"]
    if not warm:
        return None
    if deceit.figure == "warm":
        return float(warm["median"])
    valid = [one for one in case["observations"] if one["status"] == "ok"]
    return _counted([block["compiles"] for one in valid for block in one["blocks"]])


def _counted(counts: list[int | None]) -> float | None:
    """Return the programs that were counted; ``None``: nobody watched, and that is said."""
    known = [count for count in counts if count is not None]
    return float(sum(known)) if len(known) == len(counts) else None


def _codes_of(value: Any) -> Iterator[str]:
    """Yield the codes of every reason of a case but those inside single observations."""
    if isinstance(value, dict):
        if isinstance(value.get("code"), str):
            yield value["code"]
        for name, part in value.items():
            if name != "observations":
                yield from _codes_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from _codes_of(part)
