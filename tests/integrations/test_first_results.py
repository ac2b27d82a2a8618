"""A first result fails a test where its whole interval lies above the limit, and only there."""

from __future__ import annotations

import msgspec
import pytest
from tests.contracts import samples
from tests.stats import results

from coldwarm.contracts.answer import Summary
from coldwarm.contracts.result import Benchmarks, Measured, OwnCandidate
from coldwarm.errors import UsageError
from coldwarm.integrations import opening, pytest_first_results, pytest_session
from coldwarm.integrations.pytest_first_results import (
    Against,
    FirstResultRequest,
    Rules,
    StoredName,
)
from coldwarm.runner import recompute

TARGET = "job:fit"


def summary(low: float | None, n: int = 6) -> Summary:
    return Summary(
        n_processes=n, n_samples=n, median=1.0, minimum=0.9, maximum=1.1, low=low, high=1.1
    )


@pytest.mark.parametrize(
    ("low", "n", "limit", "fails"),
    [(0.95, 6, 0.9, True), (0.95, 6, 0.97, False), (0.95, 4, 0.9, False), (None, 6, 0.9, False)],
)
def test_seconds_fail_by_their_interval(
    low: float | None, n: int, limit: float, *, fails: bool
) -> None:
    assert pytest_first_results.is_above(summary(low, n), limit) is fails


def run(speed: float, seed: int, scatter: float = 0.002) -> Measured:
    made = results.case(seed, speed, scatter=scatter)
    described = OwnCandidate(
        target=TARGET,
        kind="function",
        python="python",
        variables={},
        placement=None,
        arguments=[],
        outputs=["float64[]"],
        renewed=False,
        checked="not checked",
        last_checked=False,
    )
    protocol = msgspec.structs.replace(made.protocol, own=described)
    case = msgspec.structs.replace(made, protocol=protocol)
    case = recompute.computed(case, case.observations)
    return Measured(f"run-{seed}", None, {case.case: case}, {}, "0" * 64, samples.environment())


ASKED = StoredName(TARGET, (), "cold_process_cold_cache")


def named(measured: Measured) -> Benchmarks:
    return pytest_session.by_target(opening.of_run(measured), measured)


def held(now: Measured, base: Measured | Benchmarks, below: float) -> Against:
    return pytest_first_results.against(now, base, ASKED, Rules(below), opening.of_run(now))


@pytest.mark.parametrize(
    ("speed", "below", "late"), [(1.5, 1.1, True), (1.5, 1.6, False), (1.0, 1.1, False)]
)
def test_a_ratio_fails_by_its_interval(speed: float, below: float, *, late: bool) -> None:
    base, now = run(1.0, 1), run(speed, 2)
    found = held(now, base, below)
    assert found.too_late is late
    assert found.metric.ratio == pytest.approx(speed, rel=0.05)
    seconds = now.cases[results.NAME].cold[0].seconds["ttfr"]
    told = pytest_first_results.later(FirstResultRequest(TARGET), seconds, found)
    assert "97 % interval" in told
    assert "6 processes" in told
    assert f"below={below:g}" in told


def test_a_scattered_ratio_does_not_fail() -> None:
    base, now = run(1.0, 1, 0.8), run(1.5, 2, 0.8)
    assert not held(now, base, 1.1).too_late


def test_a_stored_run_is_searched_by_target() -> None:
    base = run(1.0, 1)
    assert pytest_first_results.label_in(base, ASKED) == results.NAME
    with pytest.raises(UsageError, match="has no result of job:other; it has job:fit"):
        pytest_first_results.label_in(base, StoredName("job:other", (), ASKED.mode))
    assert f"{TARGET}/cold_process_cold_cache/first_result" in named(base).benchmarks


def test_other_inputs_are_another_figure() -> None:
    file = named(run(1.0, 1))
    assert pytest_first_results.label_in(file, ASKED) is None
    with pytest.raises(UsageError, match=r"has no result of job:fit\(x=f32\[8\]\)"):
        pytest_first_results.label_in(file, StoredName(TARGET, ("x=f32[8]",), ASKED.mode))


def test_a_saved_file_is_held_against_too() -> None:
    base, now = run(1.0, 1), run(1.5, 2)
    found = held(now, named(base), 1.1)
    assert found.too_late
    assert opening.of_run(now).benchmarks.keys() != named(now).benchmarks.keys()
