"""Every verdict that a claim's rule names is reached by some evidence, and no other is."""

from __future__ import annotations

import ast
import inspect
import random
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest

from coldwarm.catalogue.spec import ClaimSpec, claims
from coldwarm.catalogue.verdict import Evidence, NotSeenError, _by_rule
from coldwarm.contracts.catalogue import Bound, FactSheet, PatternResult, PatternVerdict
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Sequence

CLAIMS = list(claims().values())
VERDICTS = ("confirmed", "refuted", "outdated", "depends", "inconclusive")
VERDICTS_OF_PATTERNS = [one for one in get_args(PatternVerdict) if one != "not_tested"]
TRIALS = 200_000
"""Most claims have shown all their verdicts after some dozens."""


class Drawn(dict[str, Any]):
    """Facts that are drawn when they are asked for, and then stay."""

    def __init__(self, draw: random.Random, pool: Sequence[Any]) -> None:
        """Remember what to draw from."""
        super().__init__()
        self._draw, self._pool = draw, pool

    def __missing__(self, name: str) -> Any:
        """Draw a fact."""
        self[name] = self._draw.choice(self._pool)
        return self[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a fact, which there always is."""
        return self[name]


class Synthetic(Evidence):
    """Evidence that is drawn from the numbers and words that a rule asks about."""

    def __init__(
        self, draw: random.Random, numbers: Sequence[float], others: Sequence[Any]
    ) -> None:
        """Remember what to draw from."""
        super().__init__()
        self._draw, self._numbers, self._others = draw, numbers, others
        self._sheets: dict[str, Drawn] = {}
        self._counts: dict[str, Drawn] = {}

    def facts(self, function: str) -> Drawn:
        """Draw facts of any kind."""
        pool = [*self._others, *self._numbers]
        return self._sheets.setdefault(function, Drawn(self._draw, pool))

    def fact(self, function: str, name: str) -> float:
        """Draw a number."""
        counts = self._counts.setdefault(function, Drawn(self._draw, self._numbers))
        value = float(counts[name])
        self.asked.append(Bound(name=f"{function}: {name}", value=value, low=value, high=value))
        return value

    def _bound(self, name: str) -> Bound:
        low, value, high = sorted(self._draw.choices(self._numbers, k=3))
        return Bound(name=name, value=value, low=low, high=high, confidence=0.97)

    def over_processes(self, function: str, name: str) -> Bound:
        """Draw a number with bounds."""
        return self._bound(f"{function}: {name}")

    def ratio(self, candidate: str, reference: str, figure: str, *, bench: str = "") -> Bound:
        """Draw a ratio with bounds."""
        return self._bound(f"{figure} of {candidate} over {reference}")

    def over_grid(
        self, candidate: str, reference: str, figure: str, *, bench: str = ""
    ) -> list[Bound]:
        """Draw ratios with bounds."""
        return [self.ratio(candidate, reference, figure, bench=bench) for _ in range(3)]

    def over_points(self, name: str) -> list[Bound]:
        """Draw ratios of a pattern."""
        return [self._bound(name) for _ in range(3)]

    def pattern(self, name: str) -> PatternResult:
        """Draw the verdict of a pattern."""
        return PatternResult(
            id=name,
            sha256="0" * 64,
            measures="facts",
            verdict=self._draw.choice(VERDICTS_OF_PATTERNS),
            reason=because("facts_as_stated"),
            measured_at="",
        )


def _constants(spec: ClaimSpec) -> tuple[list[float], list[str]]:
    """Return the numbers and the words of a rule."""
    found = [
        node.value
        for node in ast.walk(ast.parse(inspect.getsource(spec.judge)))
        if isinstance(node, ast.Constant)
    ]
    numbers = {float(one) for one in found if isinstance(one, int | float)}
    return sorted(numbers | {0.0, 1.0}), sorted({one for one in found if isinstance(one, str)})


def _named(spec: ClaimSpec) -> set[str]:
    """Return the verdicts that the rule names in words."""
    return {verdict for verdict in VERDICTS if verdict in spec.rule.lower()}


def _reached(spec: ClaimSpec, wanted: set[str]) -> set[str]:
    draw = random.Random(0)  # noqa: S311 - to repeat it, not to hide it
    exact, words = _constants(spec)
    # On, below and above each limit; then only on it, where counts have to be met; then two of
    # them, where facts have to be the same.
    around = sorted({one * by for one in exact for by in (0.5, 0.99, 1.0, 1.01, 2.0)} | {-1.0})
    reached: set[str] = set()
    for trial in range(TRIALS):
        numbers = (around, exact, draw.sample(exact, 2))[trial % 3]
        seen = Synthetic(draw, numbers, [True, False, None, *words])
        try:
            reached.add(_by_rule(spec.judge, seen)[0])
        except (TypeError, ZeroDivisionError, NotSeenError):
            continue  # such facts nobody shows: a word where a number is due
        if reached >= wanted:
            break
    return reached


@pytest.mark.parametrize("spec", CLAIMS, ids=lambda spec: spec.id)
def test_evidence_can_lead_to_every_verdict_that_the_rule_names(spec: ClaimSpec) -> None:
    wanted = _named(spec)
    assert len(wanted) >= 2, "a rule names what confirms and what does not"
    assert _reached(spec, wanted) == wanted


@pytest.mark.parametrize("spec", CLAIMS, ids=lambda spec: spec.id)
def test_without_evidence_there_is_no_verdict(spec: ClaimSpec) -> None:
    verdict, reason = _by_rule(spec.judge, Evidence())
    assert verdict == "inconclusive"
    assert reason is not None


def test_a_rule_can_ask_for_a_fact_that_is_true_or_false() -> None:
    sheet = FactSheet(function="f", facts={"kept": True}, call_s=1.0, programs=0, versions={})
    evidence = Evidence(sheets=[sheet])
    assert evidence.fact("f", "kept") == 1.0
    (asked,) = evidence.asked
    assert msgspec.convert(msgspec.to_builtins(asked), Bound) == asked
