"""What the options choose, and what is said of names that nobody has."""

from __future__ import annotations

import pytest

from coldwarm.errors import UsageError
from coldwarm.runner import case_list
from coldwarm.runner.case_list import SUITES, Options


def ids(**options: object) -> list[str]:
    return [case.id for case in case_list.choose(Options(**options))]  # type: ignore[arg-type]  # of one test each


def test_every_case_has_a_name_of_its_own_and_can_be_chosen_by_it() -> None:
    every = case_list.every_case()
    names = [case.id for case in every]
    assert len(set(names)) == len(names)
    assert ids(cases=(names[-1], names[0])) == [names[-1], names[0]]


def test_a_case_may_be_of_any_suite_and_is_chosen_once() -> None:
    assert ids(suite="quick", cases=("numpy_matmul_1024_f64",)) == ["numpy_matmul_1024_f64"]
    group = ids(cases=("matmul_512_f32",))
    assert ids(cases=("numpy_matmul_512_f32", "matmul_512_f32", "matmul_512_f32")) == group
    assert all(name.endswith("_matmul_512_f32") for name in group)


def test_a_backend_may_be_named_with_or_without_its_device() -> None:
    both = ids(backends=("jax_jit",))
    assert {name.split("_matmul")[0].split("_mlp")[0] for name in both} == {
        "jax_jit_cpu",
        "jax_jit_gpu",
    }
    assert set(ids(backends=("jax_jit_cpu",))) < set(both)
    assert ids(backends=("jax_jit_cpu", "jax_jit_gpu")) == both


def test_the_suites_name_groups_that_there_are() -> None:
    groups = case_list.groups(case_list.every_case())
    for suite in SUITES.values():
        assert set(suite.groups or ()) <= groups.keys()
        assert 1 <= suite.min_runs <= suite.max_runs
        assert case_list.choose(Options(suite=suite.name))
    assert {case.id for case in case_list.choose(Options(suite="full"))} == {
        case.id for case in case_list.every_case()
    }


def test_variants_are_in_the_full_suite_and_where_they_are_asked_for() -> None:
    kinds = {case.id: case.backend for case in case_list.every_case()}
    for name in ("quick", "ml"):
        assert not any(kinds[case].variant for case in ids(suite=name))
    asked = ids(suite="quick", backends=("jax_aot_cpu", "torch_compile_dynamic_cpu"))
    assert asked == [
        "jax_aot_cpu_matmul_512_f32",
        "torch_compile_dynamic_cpu_matmul_512_f32",
        "jax_aot_cpu_mlp_train_step_128_f32",
        "torch_compile_dynamic_cpu_mlp_train_step_128_f32",
    ]
    for options in ({"suite": "full"}, {"cases": ("matmul_512_f32",)}):
        chosen = {kinds[case].name for case in ids(**options)}
        assert chosen >= {
            *("jax_export", "jax_aot"),
            *("torch_compile_dynamic", "torch_compile_reduce_overhead"),
            *("torch_aot", "torch_megacache"),
        }


def test_what_loads_one_program_has_no_case_of_a_whole_scenario() -> None:
    loops = {case.workload.name for case in case_list.every_case() if case.workload.scenario}
    seen = {case.workload.name for case in case_list.every_case() if case.backend.name == "jax_aot"}
    jitted = {
        case.workload.name for case in case_list.every_case() if case.backend.name == "jax_jit"
    }
    assert seen == jitted - loops


def test_the_order_is_that_of_the_suite() -> None:
    groups = list(case_list.groups(case_list.choose(Options(suite="ml"))))
    assert groups == list(SUITES["ml"].groups or ())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"suite": "fast"}, "no suite is called 'fast'"),
        ({"cases": ("jax_jit_cpu_matmul_521_f32",)}, "did you mean jax_jit_cpu_matmul_512_f32"),
        ({"cases": ("matmul_512_f16",)}, "did you mean matmul_512_f"),
        ({"backends": ("nmpy",)}, "no backend is called 'nmpy'; did you mean numpy"),
        ({"backends": ("numpy_gpu",)}, "no backend is called 'numpy_gpu'"),
        ({"cache_modes": ("warm_proces",)}, "did you mean warm_process"),
        ({"cache_modes": ("zzz",)}, "known: cold_process_cold_cache, "),
        (
            {"backends": ("numpy",), "cases": ("numba_matmul_512_f32",)},
            "these options leave nothing to run; see 'coldwarm cases'",
        ),
    ],
)
def test_a_name_that_nobody_has(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        case_list.choose(Options(**options))  # type: ignore[arg-type]  # of one test each
    assert said in str(caught.value)
