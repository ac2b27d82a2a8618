"""A grid that was declared beforehand: where a pattern or a claim holds, and where it does not."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace as changed
from tests.stats import results

from coldwarm.catalogue.spec import ClaimSpec, claim_of, claims, patterns
from coldwarm.catalogue.verdict import Evidence, NotSeenError, judged
from coldwarm.contracts.answer import Comparison
from coldwarm.contracts.catalogue import Bound, ClaimResult, PatternResult, point_name
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.result import CaseResult

SIZES = (8, 64, 512)
NOT_MEASURED = PatternResult(
    id="a",
    sha256="0" * 64,
    measures="warm_call_s",
    verdict="failed",
    reason=because("unstated"),
    path="a",
    measured_at="2026-01-01T00:00:00Z",
)


def run(low: float, high: float) -> dict[str, CaseResult]:
    """Return a bench of both sides, of which DON'T over DO has these bounds."""
    verdict = "slower" if low > 1 else "faster" if high < 1 else "undecided"
    told = Comparison(
        metric="warm.call_s",
        baseline="do",
        ratio=(low * high) ** 0.5,
        low=low,
        high=high,
        threshold=0.02,
        smallest_detectable=0.01,
        verdict=verdict,  # type: ignore[arg-type]
        reason=because("unstated"),
    )
    do, dont = (results.case(case=name, candidate=name) for name in ("do", "dont"))
    return {"do": do, "dont": changed(dont, comparisons=[told])}


def over_grid(*bounds: tuple[float, float]) -> PatternResult:
    """Return a pattern judged by what was measured at each size."""
    spec = replace(patterns()["jit-outermost"], measures="warm_call_s", grid={"n": SIZES})
    cases = {one.name: run(*each) for one, each in zip(spec.benches, bounds, strict=True)}
    made = judged(spec, NOT_MEASURED, cases)
    assert isinstance(made, PatternResult)
    return made


def test_each_point_has_a_bench_of_its_own_that_gives_its_number() -> None:
    spec = replace(patterns()["jit-outermost"], measures="warm_call_s", grid={"n": SIZES})
    assert [one.given for one in spec.benches] == [{"n": size} for size in SIZES]
    assert [one.name for one in spec.benches] == ["n_8", "n_64", "n_512"]


def test_a_pattern_that_holds_at_every_point_is_as_stated() -> None:
    made = over_grid((2.0, 2.2), (1.5, 1.6), (1.1, 1.2))
    assert made.verdict == "as_stated"
    assert [one.given["n"] for one in made.points] == [*SIZES]
    assert made.ratio is None
    assert [*made.runs] == ["n_8", "n_64", "n_512"]
    assert made.runs["n_64"] == "a/n_64"


def test_one_that_holds_at_some_depends_and_says_where() -> None:
    made = over_grid((2.0, 2.2), (1.5, 1.6), (0.7, 0.8))
    assert made.verdict == "depends"
    assert made.reason.values["point_names"] == ["n = 8", "n = 64"]


def test_a_difference_that_does_not_matter_is_none() -> None:
    """A difference of less than 2 % is told apart by enough processes, and changes nothing."""
    assert over_grid((1.003, 1.01), (1.004, 1.012), (1.001, 1.015)).verdict == "same"
    assert over_grid((1.01, 1.3), (1.01, 1.4), (1.005, 1.5)).verdict == "undecided"
    assert over_grid((1.03, 1.3), (1.01, 1.4), (1.03, 1.5)).verdict == "as_stated"


def test_where_few_points_are_decided_nothing_is_said_of_the_whole() -> None:
    assert over_grid((2.0, 2.2), (0.9, 1.6), (0.7, 1.8)).verdict == "undecided"


def bounds(*ends: tuple[float, float]) -> list[Bound]:
    return [
        Bound(name="ratio", given={"n": size}, value=low, low=low, high=high)
        for size, (low, high) in zip(SIZES, ends, strict=True)
    ]


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        (((2.1, 2.5), (2.2, 2.8), (5.0, 6.0)), "confirmed"),
        (((2.1, 2.5), (1.5, 2.8), (5.0, 6.0)), "depends"),
        (((2.1, 2.5), (1.5, 2.8), (2.5, 6.0)), "inconclusive"),
        (((0.1, 0.5), (1.5, 2.8), (5.0, 6.0)), "refuted"),
        (((0.1, 0.5), (1.5, 2.8), (2.5, 6.0)), "inconclusive"),
    ],
)
def test_a_claim_holds_where_most_of_its_grid_does(
    ends: Sequence[tuple[float, float]], verdict: str
) -> None:
    seen = Evidence()
    assert seen.mostly(bounds(*ends), 2.0, 3.0) == verdict
    assert (seen.depends is not None) == (verdict == "depends")


def test_a_rule_asks_for_a_ratio_at_every_point() -> None:
    points = {point_name({"n": size}, "chain"): {"n": size} for size in SIZES}
    cases = {name: run(2.0, 2.2) for name in [*points][:2]}
    seen = Evidence(cases=cases, points=points)
    found = seen.over_grid("dont", "do", "warm_call", bench="chain")
    assert [one.given for one in found] == [{"n": 8}, {"n": 64}, {"n": 512}]
    assert [one.label for one in seen.asked][-1] == "warm_call of dont over do, n = 64"
    assert seen.mostly(found[:2], 1.5) == "confirmed"
    assert seen.mostly(found[1:], 1.5) == "inconclusive", "the largest was not measured"
    with pytest.raises(NotSeenError):
        seen.over_grid("dont", "do", "warm_call", bench="other")


def claim(tmp_path: Path, **declared: Any) -> ClaimSpec:
    path = tmp_path / "a_claim.py"
    path.write_text("", "utf-8")
    module = ModuleType("a_claim", "It is so.")
    module.__file__ = str(path)
    texts = dict.fromkeys(("QUANTITY", "PROTOCOL", "RULE"), "Some.")
    article = {"article": "001", "place": "Here"}
    vars(module).update(texts, ARTICLE=article, **declared)
    return claim_of(module)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("confirmed", "transferred_holds"),
        ("refuted", "transferred_differs"),
        ("inconclusive", "transferred_undecided"),
    ],
)
def test_what_a_source_says_of_a_gpu_is_not_refuted_by_a_cpu(
    tmp_path: Path, said: str, code: str
) -> None:
    spec = claim(tmp_path, judge=lambda _: said, MADE_FOR="gpu", FACTS=({"functions": ()},))
    result = ClaimResult(
        id="a-claim", sha256="0" * 64, verdict="failed", measured_at="2026-01-01T00:00:00Z"
    )
    made = judged(spec, result, {})
    assert isinstance(made, ClaimResult)
    assert made.verdict == "transferred"
    assert made.reason is not None
    assert made.reason.code == code


def test_a_bench_of_a_claim_is_tried_at_every_point_of_its_grid(tmp_path: Path) -> None:
    bench: Mapping[str, Any] = {
        "name": "chain",
        "candidates": ("a", "b"),
        "grid": {"n": (1, 2), "k": (3,)},
    }
    spec = claim(tmp_path, judge=lambda _: "confirmed", BENCHES=(bench,))
    assert [one.name for one in spec.benches] == ["chain_n_1_k_3", "chain_n_2_k_3"]
    assert [one.given for one in spec.benches] == [{"n": 1, "k": 3}, {"n": 2, "k": 3}]


def test_claims_that_rest_on_a_pattern_with_a_grid_follow_it() -> None:
    made = over_grid((2.0, 2.2), (1.5, 1.6), (0.7, 0.8))
    seen = Evidence(patterns={"a": made})
    assert seen.of_patterns(["a"]) == "depends"
    assert seen.depends == made.reason
    assert [one.given["n"] for one in seen.over_points("a")] == [*SIZES]


def test_no_claim_of_a_gpu_can_be_refuted_here() -> None:
    """Its own name would say so: a claim that is tried on a CPU alone says what it is made for."""
    of_cpu = [one for one in claims().values() if one.id.endswith("-cpu")]
    twins = {one.id.removesuffix("-gpu") for one in claims().values() if one.id.endswith("-gpu")}
    made = [one for one in of_cpu if one.id.removesuffix("-cpu") in twins]
    assert made
    assert all(one.made_for == "gpu" for one in made)


def test_what_is_transferred_to_a_cpu_runs_on_one_wherever_it_is_measured() -> None:
    for spec in (one for one in claims().values() if one.made_for == "gpu"):
        runs = [(one.candidates, one.variables) for one in spec.benches]
        runs += [(one.functions, one.variables) for one in spec.calls]
        for functions, variables in runs:
            on_cpu = all(name.startswith("on_cpu.") for name in functions)
            assert on_cpu or variables.get("JAX_PLATFORMS") == "cpu", spec.id
