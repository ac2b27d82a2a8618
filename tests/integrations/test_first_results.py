"""A first result fails a test where its whole interval lies above the limit, and only there."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.contracts import samples
from tests.stats import results

from coldwarm.contracts.answer import Summary
from coldwarm.contracts.result import Benchmarks, Measured, OwnCandidate
from coldwarm.errors import UsageError
from coldwarm.integrations import formats
from coldwarm.integrations.pytest_measured import FirstResultRequest, base, judge
from coldwarm.runner import recompute

if TYPE_CHECKING:
    from pathlib import Path

TARGET = "job:fit"


def summary(low: float | None, n: int = 6) -> Summary:
    return Summary(
        n_processes=n, n_samples=n, median=1.0, minimum=0.9, maximum=1.1, low=low, high=1.1
    )


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


def asked(below: float | None = None, inputs: tuple[str, ...] = ()) -> FirstResultRequest:
    return FirstResultRequest(TARGET, inputs, below=below, baseline="base")


@pytest.mark.parametrize(
    ("low", "n", "limit", "fails"),
    [(0.95, 6, 0.9, True), (0.95, 6, 0.97, False), (0.95, 4, 0.9, False), (None, 6, 0.9, False)],
)
def test_seconds_fail_by_their_interval(
    low: float | None, n: int, limit: float, *, fails: bool
) -> None:
    now = run(1.0, 1)
    case = now.cases[results.NAME]
    cold = msgspec.structs.replace(case.cold[0], seconds={"ttfr": summary(low, n)})
    case = msgspec.structs.replace(case, cold=[cold])
    now = dataclasses.replace(now, cases={results.NAME: case})
    assert bool(judge(asked(limit), now, None).late) is fails


def saved(measured: Measured, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Benchmarks:
    """Return a run as it is read to be compared with a session."""
    with monkeypatch.context() as patch:
        patch.setattr(formats, "read", lambda _: measured)
        return base(str(folder))


@pytest.mark.parametrize(
    ("speed", "below", "late"), [(1.5, 1.1, True), (1.5, 1.6, False), (1.0, 1.1, False)]
)
def test_a_ratio_fails_by_its_interval(speed: float, below: float, *, late: bool) -> None:
    stored, now = run(1.0, 1), run(speed, 2)
    found = judge(asked(below), now, stored)
    assert bool(found.late) is late
    (ratio,) = re.findall(r"([\d.]+) times that of run-1", found.text)
    assert float(ratio) == pytest.approx(speed, rel=0.05)
    assert "97 % interval" in found.text
    assert "6 processes" in found.text
    assert not late or f"below={below:g}" in found.late


def test_a_scattered_ratio_does_not_fail() -> None:
    assert not judge(asked(1.1), run(1.5, 2, 0.8), run(1.0, 1, 0.8)).late


def test_a_stored_run_is_searched_by_target() -> None:
    now, stored = run(1.0, 2), run(1.0, 1)
    other = dataclasses.replace(asked(), target="job:other")
    with pytest.raises(UsageError, match="has no result of job:other; it has job:fit"):
        judge(other, now, stored)


def test_a_saved_file_is_held_against_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, file = run(1.5, 2), saved(run(1.0, 1), tmp_path, monkeypatch)
    assert f"{TARGET}/cold_process_cold_cache/first_result" in file.benchmarks
    assert formats.benchmarks_of(now).benchmarks.keys() != file.benchmarks.keys()
    assert judge(asked(1.1), now, file).late
    with pytest.raises(UsageError, match=r"has no result of job:fit\(x=f32\[8\]\)"):
        judge(asked(1.1, ("x=f32[8]",)), now, file)
