"""Two results judged: never on their own scatter, mirrored when exchanged, refused by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts import samples
from tests.stats import results

from coldwarm.contracts.base import Difference
from coldwarm.contracts.comparison import SideDifference
from coldwarm.contracts.environment import Cpu, Frequency
from coldwarm.contracts.observation import Gate, Telemetry
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Measured
from coldwarm.errors import NothingComparableError, UsageError
from coldwarm.report import comparison_text
from coldwarm.report.comparison_text import nothing_valid, refused
from coldwarm.stats.comparable import FIELDS as COMPARED
from coldwarm.stats.compared_results import IncomparableError, NothingValidError, compare_results

if TYPE_CHECKING:
    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult

MIRRORED = {
    "faster": "slower",
    "slower": "faster",
    "less": "more",
    "more": "less",
    "same": "same",
    "undecided": "undecided",
}


def side(*cases: CaseResult, environment: Environment | None = None, sha256: str = "a") -> Measured:
    return Measured(
        path="out/x",
        suite=None,
        cases={made.case: made for made in cases},
        files={},
        environment_sha256=sha256 * 64,
        environment=environment or samples.environment(),
    )


def judged(a: CaseResult, b: CaseResult, allow: tuple[str, ...] = ()) -> RunComparison:
    return compare_results([side(a)], [side(b)], Policy(), allow)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.integers(2, 9), st.sampled_from([0.001, 0.05, 0.5]))
def test_a_result_is_never_faster_or_slower_than_itself(seed: int, n: int, scatter: float) -> None:
    made = results.case(seed, n=n, scatter=scatter)
    verdicts = {item.verdict for item in judged(made, made).metrics}
    assert verdicts <= {"same", "undecided"}
    assert all(item.ratio == 1 for item in judged(made, made).metrics)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.integers(0, 10_000),
    st.integers(2, 8),
    st.integers(2, 8),
    st.sampled_from([0.7, 1.0, 1.08, 1.5]),
)
def test_exchanging_the_two_mirrors_every_verdict(seed: int, n: int, m: int, speed: float) -> None:
    a, b = results.case(seed, n=n), results.case(seed + 1, speed, n=m)
    one, other = judged(a, b).metrics, judged(b, a).metrics
    assert [item.metric for item in one] == [item.metric for item in other]
    for forth, back in zip(one, other, strict=True):
        assert back.verdict == MIRRORED[forth.verdict]
        assert forth.ratio is not None
        assert back.ratio == pytest.approx(1 / forth.ratio)
        assert back.smallest_detectable == pytest.approx(forth.smallest_detectable)


def test_a_clear_difference_is_judged_and_the_rest_is_the_same() -> None:
    made = judged(results.case(1), results.case(2, 1.5))
    found = {item.metric: (item.verdict, item.unit) for item in made.metrics}
    assert found == {
        "cold_process_cold_cache.ttfr_s": ("slower", "s"),
        "cold_process_cold_cache.ttfr_process_s": ("slower", "s"),
        "cold_process_cold_cache.peak_rss_bytes": ("same", "bytes"),
        "warm.call_s": ("slower", "s"),
    }
    assert all(
        item.reason.parts[0].values == {"n_processes": 6, "n_baseline": 6} for item in made.metrics
    )
    unknown = because("noise_unknown", kind_names=["cold", "warm"])
    assert made.warnings == [because("sides_apart"), unknown]


def test_one_process_is_undecided_with_what_to_do() -> None:
    other = results.case(3, case="numpy_matmul_512_f32")
    b = side(results.case(2, n=1), other)
    found = compare_results([side(results.case(1), other)], [b], Policy()).metrics[0]
    assert (found.verdict, found.ratio) == ("undecided", None)
    assert found.reason == because("few_processes_of", side="B", n_processes=1, n_needed=2)
    with pytest.raises(NothingValidError) as nothing:
        judged(results.case(1), results.case(2, n=1))
    assert "B has 1 valid process; a comparison needs at least 2" in nothing_valid(nothing.value)


FIELDS: list[tuple[str, dict[str, Any], str]] = [
    ("workload", {"protocol_workload_sha256": "1" * 64}, "workload_sha256"),
    ("backend", {"protocol_backend_sha256": "1" * 64}, "backend_sha256"),
    ("identity", {"dtype": "f64"}, "dtype: A has f32, B has f64"),
    ("identity", {"size": 1024}, "size: A has 512, B has 1024"),
    ("dataset", {"dataset_sha256": "1" * 64}, "dataset_sha256"),
    ("data_layout", {"protocol_data_layout": "column-major"}, "column-major"),
    ("windows", {"protocol_windows": {"steady": "all"}}, "steady: A has none, B has all"),
    ("sync_policy", {"protocol_sync_policy": "never"}, "sync_policy: A has on the outputs"),
    ("warmup_policy", {"protocol_warmup_policy": "dropped"}, "B has dropped"),
    ("interleaving", {"protocol_interleaving": "none"}, "interleaving"),
    ("process", {"protocol_process": {results.EMPTY: "persistent"}}, "B has persistent"),
    ("threads", {"protocol_threads": 1}, "threads: A has none, B has 1"),
    ("affinity", {"protocol_affinity": [0]}, "affinity: A has [0,1], B has [0]"),
    ("seed", {"protocol_seed": 7, "dataset_sha256": "1" * 64}, "seed: A has 0, B has 7"),
    (
        "environment_variables",
        {"protocol_environment_variables": {"X": "1"}},
        "X: A has none, B has 1",
    ),
]


@pytest.mark.parametrize(("field", "changes", "text"), FIELDS)
def test_what_must_agree_is_refused_by_name_and_can_be_allowed(
    field: str, changes: dict[str, Any], text: str
) -> None:
    a, b = results.case(1), results.case(2, **changes)
    with pytest.raises(IncomparableError) as error:
        judged(a, b)
    told = refused(error.value)
    assert f"  {field}: " in told
    assert text in told
    assert f"to mend {field}: " in told
    assert f"--allow {field} compares all the same" in told
    assert results.NAME in told
    allowed = judged(a, b, (field,))
    assert [item.field for item in allowed.allowed] == [field]
    assert allowed.metrics


def test_every_field_says_what_to_do() -> None:
    assert tuple(comparison_text._WAYS_ON) == COMPARED
    for field in COMPARED:
        one = SideDifference(field=field, name=field, a="1", b="2", cases=["c"])
        assert f"to mend {field}: " in refused(IncomparableError([one], []))


def another_machine() -> Environment:
    cpu = Cpu(model="B CPU", architecture="x86_64", physical_cores=8, frequency=Frequency())
    return samples.environment(cpu=cpu, distributions={"numpy": "2.1.0", "jax": "0.9.0"})


def test_another_machine_is_refused_with_the_fields_that_differ() -> None:
    a = side(results.case(1))
    b = side(results.case(2), environment=another_machine(), sha256="b")
    with pytest.raises(IncomparableError) as error:
        compare_results([a], [b], Policy())
    told = refused(error.value)
    assert 'cpu.model: "A CPU" became "B CPU"' in told
    assert "cpu.physical_cores: null became 8" in told
    assert "numpy" not in told
    assert "--allow machine" in told
    made = compare_results([a], [b], Policy(), ("machine",))
    assert [item.field for item in made.allowed] == ["machine", "machine"]


def test_another_library_is_told_and_not_refused() -> None:
    environment = samples.environment(distributions={"aaa": "1", "jax": "0.9.1", "numpy": "2.1.0"})
    b = side(results.case(2), environment=environment, sha256="b")
    made = compare_results([side(results.case(1))], [b], Policy())
    # What the measured processes loaded comes first.
    assert made.software == [
        Difference(name="jax", a="absent", b='"0.9.1"'),
        Difference(name="aaa", a="absent", b='"1"'),
        Difference(name="numpy", a='"2.0.0"', b='"2.1.0"'),
    ]


def test_a_single_case_without_its_run_has_no_known_machine() -> None:
    a = side(results.case(1))
    b = Measured("x.json", None, {results.NAME: results.case(2)}, {}, "b" * 64, None)
    with pytest.raises(IncomparableError) as error:
        compare_results([a], [b], Policy())
    assert "B lies in no run" in refused(error.value)


def test_another_harness_is_a_warning() -> None:
    made = judged(results.case(1), results.case(2, protocol_harness_sha256="1" * 64))
    assert any(reason.code == "harness_differs" for reason in made.warnings)


def test_disturbed_processes_are_told() -> None:
    quiet = results.case(1)
    flagged = msgspec.structs.replace(
        quiet.observations[0], telemetry=Telemetry(flags=[because("steal", steal_share=0.05)])
    )
    noisy = msgspec.structs.replace(quiet, observations=[flagged, *quiet.observations[1:]])
    disturbed = because("disturbed", side="B", n_disturbed=1, n_processes=6)
    assert disturbed in judged(quiet, noisy).warnings


@pytest.mark.parametrize("how", ["status", "gate"])
def test_a_failed_case_is_refused_and_can_be_left_out(how: str) -> None:
    good = results.case(2)
    other = results.case(3, case="numpy_matmul_512_f32")
    if how == "status":
        bad = msgspec.structs.replace(good, status="failed", reason=because("correctness_gate"))
    else:
        gate = Gate(
            passed=False, max_abs_error=9.0, max_relative_error=9.0, tolerance=1e-5, checked=[]
        )
        seen = [*good.observations, samples.observation(gate=gate, status="failed")]
        bad = msgspec.structs.replace(good, observations=seen)
    a, b = side(results.case(1), other), side(bad, other)
    with pytest.raises(IncomparableError) as error:
        compare_results([a], [b], Policy())
    told = refused(error.value)
    assert f"failed: in B: its answer is wrong ({results.NAME})" in told
    assert "--allow failed leaves failed cases out" in told
    made = compare_results([a], [b], Policy(), ("failed",))
    assert {item.case for item in made.metrics} == {other.case}
    assert [(item.case, item.side) for item in made.left_out] == [(results.NAME, "B")]
    with pytest.raises(NothingValidError):
        compare_results([side(results.case(1))], [side(bad)], Policy(), ("failed",))


def test_nothing_in_common_names_the_field_that_keeps_them_apart() -> None:
    double = results.case(2, case="jax_jit_cpu_matmul_512_f64", dtype="f64")
    with pytest.raises(NothingComparableError, match="dtype: A has f32, B has f64"):
        judged(results.case(1), double)
    with pytest.raises(NothingComparableError, match="measure the same cases"):
        judged(results.case(1), results.case(2, case="x", dtype="f64", size=3))


def test_cases_of_one_side_are_told_but_not_those_that_nobody_measured() -> None:
    shared = results.case(1)
    more = results.case(2, case="only_here")
    absent = results.case(3, case="gpu", status="warn", reason=because("gpu_unavailable"), n=0)
    gone = results.case(
        3, case="jax", status="warn", reason=because("missing_dependency", name="jax"), n=0
    )
    measured = results.case(3, case="jax")
    made = compare_results([side(shared, more, absent, measured)], [side(shared, gone)], Policy())
    assert [(item.case, item.side, item.reason) for item in made.left_out] == [
        ("only_here", "B", because("only_in", side="A")),
        ("jax", "B", because("missing_dependency", name="jax")),
    ]


def test_an_unknown_field_to_allow_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean machine"):
        judged(results.case(1), results.case(2), ("machin",))
