"""Patterns or claims measured one after the other into a folder: each is written as it ends."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from coldwarm import __version__
from coldwarm.catalogue import verdict as judge
from coldwarm.catalogue.spec import ClaimSpec, PatternSpec, called, patterns
from coldwarm.clock import Clock
from coldwarm.contracts import codec
from coldwarm.contracts.catalogue import (
    INDEXES,
    PATTERNS_OF_CLAIMS,
    RECORDS,
    ClaimResult,
    FactSheet,
    PatternResult,
    Raised,
)
from coldwarm.contracts.environment import ENVIRONMENT, Environment, differences
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ResumeError, RunDirectoryError, storage_error
from coldwarm.runner import environment, replies, temporary
from coldwarm.runner.functions import candidates, targets
from coldwarm.runner.functions.targets import Request, options
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.spawn import Guard, terminable
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from coldwarm.catalogue.spec import Bench, Calls, Spec
    from coldwarm.contracts.catalogue import Kind, Result, Results
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult

    Measure = Callable[[Request, Path], "_Ended"]
    """Measures functions side by side, as ``runner.functions.bench.run`` does."""

_THRESHOLD = 0.02
_CALL_S = 3.0
"""Usual time of one call, with its process and the imports of a framework."""
_RUNS: dict[str, tuple[int | None, int | None]] = {
    "time": (None, None),
    "memory": (FEWEST_FOR_CONFIDENCE, FEWEST_FOR_CONFIDENCE),
    "none": (1, 2),
}
"""Processes, fewest and most, by how what decides scatters."""


class _Ended(Protocol):
    """The end of a bench."""

    @property
    def cases(self) -> list[CaseResult]:
        """Cases of each candidate."""

    @property
    def interrupted(self) -> bool:
        """Whether it was ended before its time."""


@dataclass
class Session:
    """Patterns or claims that are measured together into one folder."""

    folder: Path
    kind: Kind
    run_bench: Measure
    told: Callable[[Result], None] = lambda _: None
    """Is given each result."""
    begun: Callable[[str, int, int, float], None] = lambda *_: None
    """Is told what is measured next: its name, its number, of how many, and how many seconds all
    that is missing takes, as far as that is known."""
    clock: Clock = field(default_factory=Clock)
    _results: dict[str, Result] = field(default_factory=dict)
    _started_at: str = ""
    _before_s: float = 0.0
    _began_s: float = field(default_factory=time.perf_counter)

    def measure(self, specs: Sequence[Spec], *, resume: bool) -> tuple[Results, bool]:
        """Measure what is missing, and write the index after each.

        Returns all that there is now, and whether measuring was interrupted.

        Raises:
            RunDirectoryError: the folder holds something else, or has results and is not resumed.
            ResumeError: it was begun on another machine, or with other packages.
            ContractError: the index does not keep its contract.
            StorageError: a file could not be written.
        """
        self._begin(resume=resume)
        left = {one.id: _planned_s(one) for one in specs if self._is_missing(one)}
        planned_s = took_s = 0.0
        finished = False
        try:
            for number, spec in enumerate(specs, start=1):
                if spec.id in left:
                    pace = took_s / planned_s if planned_s else 1.0
                    self.begun(spec.id, number, len(specs), sum(left.values()) * pace)
                    began_s = time.perf_counter()
                    self._results[spec.id] = self._one(spec)
                    took_s += time.perf_counter() - began_s
                    planned_s += left.pop(spec.id)
                    self._write(finished=False)
                self.told(self._results[spec.id])
            finished = True
        except KeyboardInterrupt:
            pass
        return self._write(finished=finished), not finished

    def _begin(self, *, resume: bool) -> None:
        """Take up what is there, or begin."""
        index = self.folder / INDEXES[self.kind]
        self._started_at = self.clock.date()
        if index.exists():
            if not resume:
                text = f"{self.folder} holds results; give --resume, or another folder"
                raise RunDirectoryError(text)
            self._refuse_elsewhere()
            earlier: Results = codec.load_as(RECORDS[self.kind], index)
            self._started_at, self._before_s = earlier.started_at, earlier.wall_s
            self._results = {one.id: one for one in earlier.results}
        elif not resume and self.folder.exists() and any(self.folder.iterdir()):
            text = f"{self.folder} is not empty; give another folder"
            raise RunDirectoryError(text)

    def _refuse_elsewhere(self) -> None:
        """Refuse to go on where results would be of two environments."""
        file = self.folder / ENVIRONMENT
        if not file.exists():
            return
        before = codec.load_as(Environment, file)
        changed = [
            f"{d.name}: {d.a} became {d.b}" for d in differences(before, environment.collect())
        ]
        if changed:
            text = f"this cannot be resumed: {'; '.join(changed[:4])} since it was begun;"
            raise ResumeError(f"{text} put it back, or begin in another --out")

    def _is_missing(self, spec: Spec) -> bool:
        """Say whether it was not measured, or of another file, or rests on patterns of others."""
        one = self._results.get(spec.id)
        return one is None or one.sha256 != spec.sha256 or not all(map(_is_current, one.patterns))

    def _write(self, *, finished: bool) -> Results:
        """Write the index and return it."""
        every: list[Any] = list(self._results.values())
        made: Results = RECORDS[self.kind](
            started_at=self._started_at,
            finished_at=self.clock.date() if finished else None,
            complete=finished,
            harness_version=__version__,
            harness_sha256=harness_sha256(),
            results=every,
            wall_s=self._before_s + time.perf_counter() - self._began_s,
        )
        path = self.folder / INDEXES[self.kind]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_bytes(codec.encode(made))
            path.with_suffix(".part").replace(path)
            surroundings = self.folder / ENVIRONMENT
            if not surroundings.exists():
                surroundings.write_bytes(codec.encode(environment.collect()))
        except OSError as error:
            raise storage_error(path, error) from error
        return made

    def _one(self, spec: Spec) -> Result:
        """Measure one pattern or claim, and judge it."""
        if isinstance(spec, ClaimSpec) and spec.withdrawn:
            return self._result(spec, "withdrawn", because("rule_withdrawn"))
        against = _reason_against(spec.needs)
        if against is not None:
            return self._result(spec, "not_tested", against)
        try:
            cases = {one.name: self._cases(spec, one) for one in spec.benches}
            sheets = [sheet for one in spec.calls for sheet in _called(spec, one)]
            beside = [self._pattern(name) for name in spec.patterns]
        except RefusedError as error:
            return self._result(spec, "failed", error.reason)
        evidence: dict[str, Any] = {"sheets": sheets}
        if isinstance(spec, PatternSpec):
            evidence["path"] = spec.id if cases else None
        else:
            evidence["paths"] = {name: f"{spec.id}/{name}" for name in cases}
            evidence["patterns"] = beside
        unjudged = self._result(spec, "failed", because("unstated"), **evidence)
        return judge.judged(spec, unjudged, cases)

    def _result(self, spec: Spec, verdict: Any, reason: Reason, **evidence: Any) -> Result:  # noqa: ANN401 - the fields of a record
        at = self.clock.date()
        known: dict[str, Any] = {"id": spec.id, "sha256": spec.sha256, "measured_at": at}
        known |= {"verdict": verdict, "reason": reason, **evidence}
        if isinstance(spec, PatternSpec):
            return PatternResult(**known, measures=spec.measures)
        return ClaimResult(**known)

    def _cases(self, spec: Spec, bench: Bench) -> dict[str, CaseResult]:
        """Run a bench into a folder of its own; return its cases by candidate."""
        folder = self.folder / spec.id / bench.name
        if folder.exists():  # of a part that was interrupted in it
            shutil.rmtree(folder)
        outcome = self.run_bench(_request_of(spec, bench), folder)
        if outcome.interrupted:
            raise KeyboardInterrupt
        return {case.candidate: case for case in outcome.cases}

    def _pattern(self, name: str) -> PatternResult:
        """Return a pattern that claims rest on: it is measured once for all that rest on it."""
        session = Session(self.folder / PATTERNS_OF_CLAIMS, "patterns", self.run_bench)
        made, interrupted = session.measure([patterns()[name]], resume=True)
        if interrupted:
            raise KeyboardInterrupt
        return next(o for o in made.results if isinstance(o, PatternResult) and o.id == name)


def _is_current(one: PatternResult) -> bool:
    """Say whether a pattern was measured by the file that it has now."""
    spec = patterns().get(one.id)
    return spec is not None and spec.sha256 == one.sha256


def _reason_against(needs: str | None) -> Reason | None:
    """Return why something cannot be tested here; ``None``: it can."""
    if needs == "tpu":
        return because("tpu_unavailable")
    if needs in {"gpu", "gpus"} and not environment.gpu_may_be_used():
        return because("gpu_unavailable")
    return None


def _planned_s(spec: Spec) -> float:
    """Return the seconds that measuring is planned to take."""
    if _reason_against(spec.needs) is not None:
        return 0.0
    calls = sum(one.processes * len(one.functions) for one in spec.calls)
    benches = sum(one.seconds for one in spec.benches)
    return calls * _CALL_S + benches + sum(_planned_s(patterns()[name]) for name in spec.patterns)


def _request_of(spec: Spec, bench: Bench) -> Request:
    """Return what a bench of a pattern or a claim measures."""
    file, (fewest, most) = spec.file_of(bench), _RUNS[bench.noise]
    asked = options(
        cold=bench.regime != "warm",
        warm=bench.regime in {"warm", "both"},
        time_budget_s=bench.seconds,
        min_runs=fewest,
        max_runs=most,
        threshold=_THRESHOLD,
    )
    if bench.regime == "empty_caches":
        asked = replace(asked, cache_modes=(judge.COLD,))
    return Request(
        targets=[f"{called(name)}={file}:{name}" for name in bench.candidates],
        reference=called(bench.candidates[0]),
        check=bench.checks,
        tolerance=bench.tolerance,
        inputs=[f"{name}={value}" for name, value in bench.given.items()],
        variables=[f"{name}={value}" for name, value in bench.variables.items()],
        name="_".join(filter(None, (spec.id, bench.name))).replace("-", "_"),
        options=asked,
    )


def _called(spec: Spec, calls: Calls) -> list[FactSheet]:
    """Call functions of a file, each in a fresh process with empty caches.

    Raises:
        RefusedError: a process could not be started, or did not answer.
    """
    file = spec.file_of(calls)
    found = []
    for _ in range(calls.processes):
        with terminable(), temporary.made() as folder, Guard() as guard:
            found += [_sheet(file, name, calls, guard, folder) for name in calls.functions]
    return found


def _sheet(file: Path, name: str, calls: Calls, guard: Guard, work: Path) -> FactSheet:
    label = called(name)
    target = targets.Target(label, file.stem, file, name, variables=calls.variables)
    setting = candidates.Setting("facts", [], None, True, None, None, 0, 180.0, guard, work)  # noqa: FBT003 - its fields in order
    told, _ = candidates.ask(replies.Facts, target, setting, setting.caches(target))
    raised = told.raised
    return FactSheet(
        function=label,
        facts=told.facts,
        raised=None if raised is None else Raised(error=raised.error, text=raised.text),
        call_s=told.call_s,
        programs=told.programs,
        versions=told.versions,
        null_reasons={}
        if told.programs is not None
        else {"programs": because("not_told", by="it")},
    )
