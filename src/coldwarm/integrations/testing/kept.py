"""What the tests of a session have measured, as plain values that workers send; as a file. Pure."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from coldwarm import __version__
from coldwarm.contracts.base import WARM
from coldwarm.integrations import telling
from coldwarm.integrations.figures import exported
from coldwarm.integrations.formats import pyperf
from coldwarm.report.sentences import counted
from coldwarm.report.units import duration
from coldwarm.stats.selection import warm_processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import Measured
    from coldwarm.inprocess.result import BenchResult


@dataclass
class Kept:
    """What was measured in one process, or in several."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    """Of each measurement the test, and what came out of it."""
    benchmarks: list[dict[str, Any]] = field(default_factory=list)
    """As pyperf has them."""

    def add(self, test: str, line: str, found: list[dict[str, Any]]) -> None:
        """Keep what a test has measured."""
        self.lines.append((test, line))
        self._take(found)

    def add_calls(self, test: str, line: str, found: list[dict[str, Any]]) -> None:
        """Keep warm calls: those of a test that have one name are numbered, in their order."""
        names = {one["metadata"]["name"] for one in self.benchmarks}
        for one in found:
            name, number = one["metadata"]["name"], 1
            while one["metadata"]["name"] in names:
                number += 1
                one["metadata"]["name"] = f"{name} ({number})"
        self.add(test, line, found)

    def merge(self, values: Mapping[str, Any]) -> None:
        """Add what another process has sent."""
        self.lines += [(test, line) for test, line in values["lines"]]
        self._take(values["benchmarks"])

    def _take(self, found: Iterable[dict[str, Any]]) -> None:
        """Take figures; what has been measured several times has the processes of all."""
        known = {one["metadata"]["name"]: one for one in self.benchmarks}
        for one in found:
            same = known.get(one["metadata"]["name"])
            if same is None:
                self.benchmarks.append(one)
            else:
                same["runs"] += one["runs"]

    def plain(self) -> dict[str, Any]:
        """Return plain values."""
        return {"lines": [list(one) for one in self.lines], "benchmarks": self.benchmarks}


def starts(measured: Measured, called: str) -> list[dict[str, Any]]:
    """Return the figures of fresh processes of the one function that was measured."""
    found = list(pyperf.document(exported(measured))["benchmarks"])
    for one in found:
        rest = one["metadata"]["name"].partition("/")[2]
        one["metadata"]["name"] = telling.told(f"{called}/{rest}")
    return found


def told(result: BenchResult) -> str:
    """Return the figure of warm calls in this process, in words."""
    if result.warm is None or result.warm.call_s is None:
        return f"{result.name}, warm call: {result.reasons.get('warm', 'not measured')}"
    taken = result.warm.call_s
    steady = "" if result.warm.steady.steady else ", not steady"
    samples = counted(taken.n_samples, "sample")
    return f"{result.name}, warm call: {duration(taken.median)} ({samples} of 1 process{steady})"


def calls(test: str, result: BenchResult) -> list[dict[str, Any]]:
    """Return the warm calls of one process; none where none could be measured."""
    seen = result.in_process
    if seen is None or result.warm is None:
        return []
    date = str(datetime.fromisoformat(seen.started_at).replace(tzinfo=None))
    found = []
    for process in warm_processes([seen]):
        name = telling.told(f"{test} {result.name}/{WARM}/call")
        metadata = {"name": name, "unit": "second", "coldwarm_cache_mode": WARM}
        if not process.steadiness.steady:
            metadata["coldwarm_note"] = "calls were not steady"
        run = {
            "values": list(process.steadiness.samples),
            "metadata": {"loops": process.blocks[0].batch, "date": date},
        }
        found.append({"metadata": metadata, "runs": [run]})
    return found


def document(kept: Kept, place: Environment) -> dict[str, Any]:
    """Return a file of pyperf: ``coldwarm compare`` reads it, and so does pyperf."""
    metadata = {
        "coldwarm_version": __version__,
        "python_implementation": platform.python_implementation().lower(),
        "python_version": platform.python_version(),
        "cpu_model_name": telling.told(place.cpu.model or ""),
        "platform": telling.told(place.platform),
    }
    return {
        "version": "1.0",
        "metadata": {name: value for name, value in metadata.items() if value},
        "benchmarks": kept.benchmarks,
    }
