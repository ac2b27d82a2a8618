"""Tests claims one after the other; what has been tested is kept, whatever happens then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.catalogue.claims import called
from coldwarm.catalogue.patterns import pattern
from coldwarm.contracts.catalogue import CLAIMS, PATTERNS_OF_CLAIMS, ClaimResult, ClaimResults
from coldwarm.contracts.reasons import RefusedError
from coldwarm.runner.catalogue import facts, measuring, patterns
from coldwarm.runner.catalogue.kept import Kept, Wanted
from coldwarm.runner.functions import request
from coldwarm.stats import catalogue
from coldwarm.stats.catalogue import versions_of, versions_told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from coldwarm.catalogue.claims import BenchOf, ClaimSpec
    from coldwarm.contracts.catalogue import ClaimVerdict, FactSheet, PatternResult
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.runner.catalogue.kept import Begun


@dataclass
class Session:
    """Claims that are tested together into one folder."""

    folder: Path
    told: Callable[[ClaimResult], None]
    bench: measuring.Bench
    """What measures functions side by side."""
    begun: Callable[[Begun], None] = lambda _: None
    """Is told what is measured next."""

    def measure(self, specs: Sequence[ClaimSpec], *, resume: bool) -> tuple[ClaimResults, bool]:
        """Test what is missing, and write the index after each.

        Returns all that there is now, and whether it was interrupted.

        Raises:
            RunDirectoryError: the folder cannot be used.
            StorageError: a file could not be written.
        """
        self.kept: Kept[ClaimResult, ClaimResults] = Kept(
            self.folder, CLAIMS, ClaimResults, self.begun
        )
        self.kept.begin(lambda one: one.claim, resume=resume)
        by_id = {spec.id: spec for spec in specs}
        return self.kept.fill(
            {
                name: Wanted(measuring.sha256(spec.source), _planned_s(spec))
                for name, spec in by_id.items()
            },
            _measured_as,
            lambda name: self._one(by_id[name]),
            self.told,
        )

    def _one(self, spec: ClaimSpec) -> ClaimResult:
        against = measuring.reason_against(spec.needs)
        if against is not None:
            return self._result(spec, catalogue.Seen(), "not_tested", against)
        try:
            seen = catalogue.Seen(
                cases={one.name: self._bench(spec, one) for one in spec.benches},
                sheets=self._sheets(spec),
                patterns={name: self._pattern(name) for name in spec.patterns},
            )
            return self._result(spec, seen, *catalogue.judged(spec.judge, seen))
        except RefusedError as error:
            return self._result(spec, catalogue.Seen(), "failed", error.reason)

    def _bench(self, spec: ClaimSpec, one: BenchOf) -> dict[str, CaseResult]:
        return measuring.measured(self.bench, _asked(spec, one), self.folder / spec.id / one.name)

    def _sheets(self, spec: ClaimSpec) -> list[FactSheet]:
        return [
            sheet
            for one in spec.facts
            for _ in range(one.processes)
            for sheet in facts.gather(spec.file_of(one), one.functions, one.variables)
        ]

    def _pattern(self, name: str) -> PatternResult:
        """Measure a pattern that a claim rests on, once for all claims of the folder."""
        for one in self.kept.results.values():
            for known in one.patterns:
                now = measuring.sha256(pattern(name).source)
                if (known.pattern, known.pattern_sha256) == (name, now):
                    return known
        session = patterns.Session(self.folder / PATTERNS_OF_CLAIMS, lambda _: None, self.bench)
        made, interrupted = session.measure([pattern(name)], resume=True)
        if interrupted:
            raise KeyboardInterrupt
        return next(one for one in made.results if one.pattern == name)

    def _result(
        self,
        spec: ClaimSpec,
        seen: catalogue.Seen,
        verdict: ClaimVerdict,
        reason: Reason | None,
    ) -> ClaimResult:
        versions = versions_told(seen.sheets)
        for cases in seen.cases.values():
            versions |= versions_of(cases.values())
        for one in seen.patterns.values():
            versions |= one.versions
        return ClaimResult(
            claim=spec.id,
            claim_sha256=measuring.sha256(spec.source),
            verdict=verdict,
            reason=reason,
            figures=seen.asked,
            sheets=list(seen.sheets),
            paths={name: f"{spec.id}/{name}" for name in seen.cases},
            patterns=list(seen.patterns.values()),
            measured_at=self.kept.clock.date(),
            versions=versions,
        )


def _measured_as(one: ClaimResult) -> str:
    """Return the hash of the file that a result is of; of stale patterns below it, none."""
    stale = any(
        measuring.sha256(pattern(known.pattern).source) != known.pattern_sha256
        for known in one.patterns
    )
    return "" if stale else one.claim_sha256


def _planned_s(spec: ClaimSpec) -> float:
    if measuring.reason_against(spec.needs) is not None:
        return 0.0
    calls = sum(one.processes * len(one.functions) for one in spec.facts)
    benches = sum(one.seconds for one in spec.benches)
    beside = sum(patterns.planned_s(pattern(name)) for name in spec.patterns)
    return calls * facts.PLANNED_S + benches + beside


def _asked(spec: ClaimSpec, one: BenchOf) -> request.Request:
    file = spec.file_of(one)
    return request.Request(
        targets=[f"{called(name)}={file}:{name}" for name in one.candidates],
        reference=called(one.candidates[0]),
        check=one.checks,
        tolerance=one.tolerance,
        variables=[f"{name}={value}" for name, value in one.variables.items()],
        name=f"{spec.id}_{one.name}".replace("-", "_"),
        options=request.options(
            cold=one.regime != "warm",
            warm=one.regime != "cold",
            time_budget_s=one.seconds,
            threshold=measuring.THRESHOLD,
        ),
    )
