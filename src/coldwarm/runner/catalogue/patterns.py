"""Measures patterns one after the other; what has been measured is kept, whatever happens then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coldwarm.catalogue.patterns import COUNTED, FACTS, SIDES
from coldwarm.contracts.catalogue import PATTERNS, PatternResult, PatternResults
from coldwarm.contracts.reasons import RefusedError
from coldwarm.runner.catalogue import facts, measuring
from coldwarm.runner.catalogue.kept import Kept, Wanted
from coldwarm.runner.functions import request
from coldwarm.stats import catalogue
from coldwarm.stats.catalogue import Shown, versions_of
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from coldwarm.catalogue.patterns import PatternSpec
    from coldwarm.contracts.catalogue import FactSheet
    from coldwarm.runner.catalogue.kept import Begun

_RUNS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(COUNTED, (1, 2)),
    "peak_rss_bytes": (FEWEST_FOR_CONFIDENCE, FEWEST_FOR_CONFIDENCE),
}
"""Processes, fewest and most, of what is counted; memory is counted too, but scatters."""


@dataclass
class Session:
    """Patterns that are measured together into one folder."""

    folder: Path
    told: Callable[[PatternResult], None]
    bench: measuring.Bench
    """What measures functions side by side."""
    begun: Callable[[Begun], None] = lambda _: None
    """Is told what is measured next."""

    def measure(self, specs: Sequence[PatternSpec], *, resume: bool) -> tuple[PatternResults, bool]:
        """Measure what is missing, and write the index after each.

        Returns all that there is now, and whether measuring was interrupted.

        Raises:
            RunDirectoryError: the folder cannot be used.
            StorageError: a file could not be written.
        """
        self.kept: Kept[PatternResult, PatternResults] = Kept(
            self.folder, PATTERNS, PatternResults, self.begun
        )
        self.kept.begin(lambda one: one.pattern, resume=resume)
        by_id = {spec.id: spec for spec in specs}
        return self.kept.fill(
            {
                name: Wanted(measuring.sha256(spec.source), planned_s(spec))
                for name, spec in by_id.items()
            },
            lambda known: known.pattern_sha256,
            lambda name: self.one(by_id[name]),
            self.told,
        )

    def one(self, spec: PatternSpec) -> PatternResult:
        """Measure one pattern.

        Raises:
            KeyboardInterrupt: measuring was interrupted.
            StorageError: a file could not be written.
        """
        against = measuring.reason_against(spec.needs)
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
        shown = catalogue.of_facts(sheets[0], sheets[1], spec.holds)
        return self._result(spec, shown, sheets=sheets, versions=sheets[0].versions)

    def _of_bench(self, spec: PatternSpec) -> PatternResult:
        cases = measuring.measured(self.bench, asked(spec), self.folder / spec.id)
        shown = catalogue.of_cases(spec.measures, cases["do"], cases["dont"])
        return self._result(spec, shown, path=spec.id, versions=versions_of(cases.values()))

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
            pattern_sha256=measuring.sha256(spec.source),
            measures=spec.measures,
            **vars(shown),
            sheets=list(sheets),
            path=path,
            measured_at=self.kept.clock.date(),
            versions=versions or {},
        )


def planned_s(spec: PatternSpec) -> float:
    """Return the seconds that measuring a pattern is planned to take."""
    if measuring.reason_against(spec.needs) is not None:
        return 0.0
    return len(SIDES) * facts.PLANNED_S if spec.measures == FACTS else spec.seconds


def asked(spec: PatternSpec) -> request.Request:
    """Return the bench of a pattern: both sides, the DO as the reference."""
    runs = _RUNS.get(spec.measures)
    warm = spec.measures == "warm_call_s"
    options = request.options(
        cold=not warm,
        warm=warm,
        time_budget_s=spec.seconds,
        min_runs=runs[0] if runs else None,
        max_runs=runs[1] if runs else None,
        threshold=measuring.THRESHOLD,
    )
    if not warm:  # nothing is judged by starts with filled caches: the budget is for the others
        options = replace(options, cache_modes=(catalogue.COLD,))
    return request.Request(
        targets=[spec.target(side) for side in SIDES],
        reference="do",
        check=spec.checks,
        tolerance=spec.tolerance,
        variables=[f"{name}={value}" for name, value in spec.variables.items()],
        name=spec.id.replace("-", "_"),
        options=options,
    )
