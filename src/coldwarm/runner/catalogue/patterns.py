"""Measures patterns one after the other; what has been measured is kept, whatever happens then."""

from __future__ import annotations

import hashlib
import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm import __version__
from coldwarm.catalogue.patterns import FACTS, SIDES, TIMED
from coldwarm.clock import Clock
from coldwarm.contracts.catalogue import PatternResult, PatternResults
from coldwarm.contracts.files import codec
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import RunDirectoryError, storage_error
from coldwarm.runner.catalogue import facts
from coldwarm.runner.functions import bench, request
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.machine import gpus
from coldwarm.stats.catalogue import patterns as judging
from coldwarm.stats.catalogue.patterns import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from coldwarm.catalogue.patterns import PatternSpec
    from coldwarm.contracts.catalogue import FactSheet
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.runner.listener import Listener

INDEX = "patterns.json"
THRESHOLD = 0.02


@dataclass
class Session:
    """Patterns that are measured together into one folder."""

    folder: Path
    listener: Callable[[], Listener | None]
    """Makes what is told of one bench's progress."""
    told: Callable[[PatternResult], None]
    clock: Clock = field(default_factory=Clock)
    results: dict[str, PatternResult] = field(default_factory=dict)
    started_at: str = ""

    def begin(self, *, resume: bool) -> None:
        """Take up what is there, or begin.

        Raises:
            RunDirectoryError: the folder holds something else, or has results and is not resumed.
        """
        index = self.folder / INDEX
        self.started_at = self.clock.date()
        if index.exists():
            if not resume:
                text = f"{self.folder} holds results of patterns; give --resume, or another folder"
                raise RunDirectoryError(text)
            earlier = codec.load(index)
            if not isinstance(earlier, PatternResults):
                text = f"{index} holds no results of patterns; give another folder"
                raise RunDirectoryError(text)
            self.started_at = earlier.started_at
            self.results = {one.pattern: one for one in earlier.results}
        elif self.folder.exists() and any(self.folder.iterdir()):
            text = f"{self.folder} is not empty; give another folder"
            raise RunDirectoryError(text)

    def measure(self, specs: Sequence[PatternSpec]) -> tuple[PatternResults, bool]:
        """Measure what is missing, and write the index after each.

        Returns all that there is now, and whether measuring was interrupted.

        Raises:
            StorageError: a file could not be written.
        """
        began_s = time.perf_counter()
        try:
            for spec in specs:
                known = self.results.get(spec.id)
                if known is None or known.pattern_sha256 != _sha256(spec):
                    self.results[spec.id] = self._one(spec)
                    self._write(began_s, finished=False)
                self.told(self.results[spec.id])
        except KeyboardInterrupt:
            return self._write(began_s, finished=False), True
        return self._write(began_s, finished=True), False

    def _write(self, began_s: float, *, finished: bool) -> PatternResults:
        made = PatternResults(
            started_at=self.started_at,
            finished_at=self.clock.date() if finished else None,
            complete=finished,
            harness_version=__version__,
            harness_sha256=harness_sha256(),
            results=list(self.results.values()),
            wall_s=time.perf_counter() - began_s,
        )
        path = self.folder / INDEX
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_bytes(codec.encode(made))
            path.with_suffix(".part").replace(path)
        except OSError as error:
            raise storage_error(path, error) from error
        return made

    def _one(self, spec: PatternSpec) -> PatternResult:
        against = _against(spec)
        if against is not None:
            return self._result(spec, Shown("not_tested", against))
        try:
            if spec.measures == FACTS:
                return self._of_facts(spec)
            return self._of_bench(spec)
        except RefusedError as error:
            return self._result(spec, Shown("failed", error.reason))

    def _of_facts(self, spec: PatternSpec) -> PatternResult:
        if spec.holds is None:
            raise TypeError(spec.id)
        sheets = facts.gather(spec.source.path, SIDES, spec.variables)
        shown = judging.of_facts(sheets[0], sheets[1], spec.holds)
        return self._result(spec, shown, sheets=sheets, versions=sheets[0].versions)

    def _of_bench(self, spec: PatternSpec) -> PatternResult:
        folder = self.folder / spec.id
        if folder.exists():  # of a run that was interrupted in it
            shutil.rmtree(folder)
        outcome = bench.run(asked(spec), folder, listener=self.listener())
        if outcome.interrupted:
            raise KeyboardInterrupt
        cases = {case.candidate: case for case in outcome.cases}
        shown = judging.of_cases(spec.measures, cases["do"], cases["dont"])
        return self._result(spec, shown, path=spec.id, versions=_versions(outcome.cases))

    def _result(
        self,
        spec: PatternSpec,
        shown: Shown,
        *,
        sheets: Sequence[FactSheet] = (),
        path: str | None = None,
        versions: dict[str, str] | None = None,
    ) -> PatternResult:
        return PatternResult(
            pattern=spec.id,
            pattern_sha256=_sha256(spec),
            measures=spec.measures,
            **vars(shown),
            sheets=list(sheets),
            path=path,
            measured_at=self.clock.date(),
            versions=versions or {},
        )


def asked(spec: PatternSpec) -> request.Request:
    """Return the bench of a pattern: both sides, the DO as the reference."""
    cold = spec.measures != "warm_call_s"
    warm = spec.measures == "warm_call_s"
    return request.Request(
        targets=[spec.target(side) for side in SIDES],
        reference="do",
        check=spec.checks,
        tolerance=spec.tolerance,
        variables=[f"{name}={value}" for name, value in spec.variables.items()],
        name=spec.id.replace("-", "_"),
        options=request.options(
            cold=cold,
            warm=warm,
            time_budget_s=spec.seconds,
            min_runs=None if spec.measures in TIMED else 1,
            max_runs=None if spec.measures in TIMED else 2,
            threshold=THRESHOLD,
        ),
    )


def _sha256(spec: PatternSpec) -> str:
    return hashlib.sha256(spec.source.read()).hexdigest()


def _against(spec: PatternSpec) -> Reason | None:
    """Return why a pattern cannot be tested here; ``None``: it can."""
    if spec.needs == "tpu":
        return because("tpu_unavailable")
    if spec.needs in {"gpu", "gpus"} and not gpus.may_be_used():
        return because("gpu_unavailable")
    return None


def _versions(cases: Sequence[CaseResult]) -> dict[str, str]:
    found: dict[str, str] = {}
    for case in cases:
        for seen in case.observations:
            found |= seen.versions
    return found
