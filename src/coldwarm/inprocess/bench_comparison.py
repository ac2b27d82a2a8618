"""What ``coldwarm.bench`` of several functions returns: the answer, and tables to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.contracts import codec
from coldwarm.contracts.policy import Policy
from coldwarm.report import answer_text, bench, html, markdown, terminal
from coldwarm.stats.bench_report import bench_report

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Answer, Lead, Plan
    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.report.document import Document
    from coldwarm.runner.suite import Outcome

_COMPARISON_WIDTH = 88


@dataclass(frozen=True, repr=False)
class BenchComparison:
    """What ``coldwarm.bench`` of several functions has found out, by the names of candidates.

    Attributes:
        report: Figures, verdicts with their intervals and break-even: what ``coldwarm bench
            --json`` prints. Its first candidate is the reference.
        suite: The run as a whole, in seconds and in the order of its processes.
        cases: Everything about each candidate, the observations of its processes too.
        plan: What the break-even is from; ``None``: not all of it was measured.
    """

    report: BenchReport
    suite: SuiteResult
    cases: dict[str, CaseResult]
    plan: Plan | None = None

    @property
    def answered(self) -> Answer:
        """The answer as data: ranges of calls, who leads, what would change it."""
        return self.report.answers[0]

    @property
    def answer(self) -> list[str]:
        """The answer in words, at most three lines."""
        return [f"{one.label}: {one.text}" for one in answer_text.lines(self.answered)]

    @property
    def leads(self) -> list[Lead]:
        """For each cache mode who is the fastest, and all verdicts: part of the answer."""
        return self.answered.leads

    def __repr__(self) -> str:
        """Return the answer and the tables as text."""
        return terminal.text(self._document(), _COMPARISON_WIDTH)

    def _repr_markdown_(self) -> str:
        """Return the same as Markdown."""
        return markdown.text(self._document(ratios=True))

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        return html.fragment(self._document())

    def _document(self, *, ratios: bool = False) -> Document:
        cases = list(self.cases.values())
        return bench.document(self.report, self.suite, cases, self.plan, ratios=ratios)


def comparison_of(outcome: Outcome) -> BenchComparison:
    """Return what a run of several functions has found out."""
    path = str(outcome.path)
    report, plan = bench_report(outcome.suite, outcome.cases, path, Policy())
    cases = {case.candidate: case for case in outcome.cases}
    return BenchComparison(codec.without_secrets(report), outcome.suite, cases, plan)
