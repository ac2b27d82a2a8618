"""What is tried: kinds of functions, effects of known size, and the tools that can be asked."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HERE = Path(__file__).resolve().parent.parent / "trial"
"""The subjects."""
Neighbours = Literal["none", "bursty"]


@dataclass(frozen=True)
class Kind:
    """A subject: a file with functions ``units_N``, each of which does N times the same work."""

    file: str
    base: int
    """Units of the side without more work."""
    more: Mapping[float, int]
    """Units of the other, by the effect."""
    shape: str
    framework: str = "numpy"
    cold: bool = False

    @property
    def given(self) -> str:
        """Its input, as ``coldwarm bench`` takes it."""
        return f"x={'f64' if self.framework == 'numpy' else 'f32'}[{self.shape}]"


_WARM = {0.025: 205, 0.03: 206, 0.05: 210, 0.08: 216}
KINDS: dict[str, Kind] = {
    "numpy": Kind("work_numpy.py", 200, _WARM, "1024"),
    "threads": Kind("work_threads.py", 200, _WARM, "112,112"),
    "jax": Kind("work_jax.py", 200, _WARM, "4096", "jax"),
    "torch": Kind("work_torch.py", 200, _WARM, "2048", "torch"),
    "numba": Kind("work_numba.py", 200, _WARM, "1024"),
    "start": Kind("start.py", 40, {0.1: 45}, "64", cold=True),
    "start_jax": Kind("start_jax.py", 60, {0.1: 70}, "64", "jax", cold=True),
    "start_torch": Kind("start_torch.py", 160, {0.1: 290}, "64", "torch", cold=True),
    "start_numba": Kind("start_numba.py", 10, {0.1: 12}, "64", cold=True),
}
"""Warm effects are exact: N units take N / 200 of the base. Those of starts are measured."""


@dataclass(frozen=True)
class Tool:
    """Who is asked, about which kinds and effects, and the most seconds that a trial takes."""

    kinds: tuple[str, ...]
    effects: tuple[float, ...] = (0.0, 0.025, 0.03, 0.05, 0.1)
    equal_twice: bool = False
    """Whether a round has two trials of equal sides: a false one is rare, and has to be."""
    one_sided: bool = False
    """Whether it never calls B faster."""
    seconds: Mapping[bool, float] = field(default_factory=lambda: {False: 20.0, True: 60.0})
    """Of a warm trial, and of a cold one (``True``)."""


_WARM_KINDS = tuple(name for name, kind in KINDS.items() if not kind.cold)
_PEER = (0.0, 0.03, 0.05, 0.08, 0.1)
"""Peers have thresholds of 2 % and 5 %: an effect of 8 % is beyond both."""
TOOLS: dict[str, Tool] = {
    "coldwarm bench": Tool(tuple(KINDS), equal_twice=True),
    "coldwarm run": Tool(("numpy", "start")),
    "pyperf": Tool(_WARM_KINDS, _PEER, seconds={False: 60.0}),
    "pytest-benchmark": Tool(_WARM_KINDS, _PEER, one_sided=True),
    "hyperfine": Tool(("start",), _PEER, seconds={True: 40.0}),
}


@dataclass(frozen=True)
class Setting:
    """One row of what is tried: everything but the number of the trial."""

    tool: str
    kind: str
    effect: float
    neighbours: Neighbours = "none"

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Setting:
        """Return the setting of a trial that was written down."""
        return cls(line["tool"], line["kind"], line["effect"], line["neighbours"])

    @property
    def seconds(self) -> float:
        """The most that a trial takes."""
        return TOOLS[self.tool].seconds[KINDS[self.kind].cold]

    def sides(self, index: int) -> tuple[int, int]:
        """Return the units of A and B in the trial of this number; which has more is drawn."""
        kind = KINDS[self.kind]
        if not self.effect:
            return kind.base, kind.base
        more = kind.more[self.effect]
        drawn = random.Random(f"{self} {index}").random()  # noqa: S311 - a side, not a secret
        if TOOLS[self.tool].one_sided or drawn < 0.5:
            return kind.base, more
        return more, kind.base


def possible(
    tools: Sequence[str] | None,
    kinds: Sequence[str] | None,
    effects: Sequence[float] | None,
    neighbours: Sequence[Neighbours],
) -> list[Setting]:
    """Return what can be tried of what is asked for; ``None`` is all."""
    return [
        Setting(tool, kind, effect, beside)
        for tool in tools or TOOLS
        if tool != "hyperfine" or shutil.which(tool)
        for kind in TOOLS[tool].kinds
        if not kinds or kind in kinds
        for effect in TOOLS[tool].effects
        if not effect or effect in KINDS[kind].more
        if effects is None or effect in effects
        for beside in neighbours
    ]


def plan(
    lines: Iterable[Mapping[str, Any]], settings: Iterable[Setting], count: int
) -> list[tuple[Setting, int]]:
    """Return the trials that are missing, in rounds, each in an order of its own.

    A round has one trial of each setting, and two where sides are equal and the tool is tried so
    twice. Failed ones are not repeated, which would hide how often a tool fails; those that were
    thrown away are.
    """
    seen = {
        (Setting.of(line), line["index"])
        for line in lines
        if line["record"] == "trial" and not line["thrown_away"]
    }
    chosen = sorted(settings, key=str)
    found: list[tuple[Setting, int]] = []
    for turn in range(count):
        asked = [(one, index) for one in chosen for index in _numbers(one, turn)]
        left = [one for one in asked if one not in seen]
        random.Random(turn).shuffle(left)  # noqa: S311 - an order, not a secret
        found += left
    return found


def _numbers(setting: Setting, turn: int) -> tuple[int, ...]:
    twice = TOOLS[setting.tool].equal_twice and not setting.effect
    return (2 * turn, 2 * turn + 1) if twice and not KINDS[setting.kind].cold else (turn,)
