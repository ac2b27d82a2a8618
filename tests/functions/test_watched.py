"""Functions that hide what they load and compile: each cost is in a figure, or there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.runner import isolation

if TYPE_CHECKING:
    from tests.functions.conftest import Desk

pytestmark = pytest.mark.slow

X = ("--input", "x=f32[64]")
COLD, WARM = "--cold-only", "--warm-only"


@pytest.fixture(autouse=True)
def _frameworks(request: pytest.FixtureRequest) -> None:
    for name in ("jax", "numba", "torch"):
        if name in request.node.name:
            pytest.importorskip(name)


def judged(desk: Desk, label: str, mode: str) -> list[dict[str, Any]]:
    """Return the evidence's reasons against a mode; a process that has it leaves none."""
    found = []
    for seen in desk.case(label)["observations"]:
        judgement = seen["judgements"].get(mode)
        if judgement and not judgement["proved"]:
            found.append(judgement["reason"])
    return found


def test_jax_imported_by_a_factory_is_in_the_first_result(desk: Desk) -> None:
    desk.write(
        "late.py",
        """
        def make():
            import jax
            import jax.numpy as jnp

            return jax.jit(lambda x: (x * 2).sum()), (jnp.ones(64),)
        """,
    )
    code, report = desk.report("late.py:make", COLD)
    assert code == 0, report.candidates[0].reason
    for seen in desk.case("make")["observations"]:
        spans = {phase["name"]: phase["duration_s"] for phase in seen["phases"]}
        assert spans["build"] > 10 * spans["import"], "the module itself imports nothing"
        assert spans["build"] > 10 * spans["setup"], "and the inputs are the factory's"
        whole = spans["import"] + spans["build"] + spans["first_call"]
        assert seen["ttfr_s"] == pytest.approx(whole)
        (of_jax,) = [one for one in seen["evidence"] if one["owner"] == "jax"]
        assert "jit(<lambda>)" in of_jax["raw"]["programs"]
    case = desk.case("make")
    assert all("build" in mode["seconds"] for mode in case["cold"])
    said = desk.command("show", str(desk.out), "--verbose").out
    assert "build" in said


def test_jax_imported_and_compiled_in_each_call_is_no_warm_call(desk: Desk) -> None:
    desk.write(
        "each.py",
        """
        def fit(x):
            import jax

            return jax.jit(lambda v: (v * 2).sum())(x)
        """,
    )
    code, report = desk.report("each.py:fit", *X, WARM)
    assert (code, report.candidates[0].call) == (4, None)
    assert {one["code"] for one in judged(desk, "fit", "warm_process")} == {"every_call_compiled"}


def test_jax_without_its_listeners_has_no_count(desk: Desk) -> None:
    desk.write(
        "cleared.py",
        """
        import jax
        from jax import monitoring

        def fit(x):
            monitoring.clear_event_listeners()
            return jax.jit(lambda v: (v * 2).sum())(x)
        """,
    )
    code, report = desk.report("cleared.py:fit", *X, WARM)
    assert (code, report.candidates[0].call) == (4, None)
    (first, *_) = judged(desk, "fit", "warm_process")
    assert first["code"] == "blocks_uncounted"
    assert first["parts"] == [{"code": "listeners_removed", "values": {"framework": "jax"}}]
    blocks = desk.case("fit")["observations"][0]["blocks"]
    assert all(one["compiles"] is None for one in blocks)
    assert all(one["null_reasons"]["compiles"]["code"] == "listeners_removed" for one in blocks)


def test_torch_that_is_reset_in_each_call_is_no_warm_call(desk: Desk) -> None:
    desk.write(
        "reset.py",
        """
        import torch

        def fit(x):
            torch._dynamo.reset()
            return torch.compile(lambda v: v.sin() + 1, backend="aot_eager")(x)
        """,
    )
    code, report = desk.report("reset.py:fit", *X, WARM, "--inputs-as", "torch")
    assert (code, report.candidates[0].call) == (4, None)
    assert {one["code"] for one in judged(desk, "fit", "warm_process")} == {"every_call_compiled"}


def test_torch_in_a_script_that_runpy_runs_has_its_parts(desk: Desk) -> None:
    desk.write(
        "script.py",
        """
        import torch

        @torch.compile(backend="aot_eager")
        def first(x):
            return x.cos() * 2

        out = first(torch.ones(16))
        """,
    )
    desk.write(
        "runs.py",
        f"""
        import runpy

        def main():
            return runpy.run_path({str(desk.path / "script.py")!r})["out"]
        """,
    )
    code, report = desk.report("runs.py:main", COLD)
    assert code == 0, report.candidates[0].reason
    for seen in desk.case("main")["observations"]:
        parts = seen["first_call_parts"]
        assert parts["trace_s"] > 0
        assert parts["lower_s"] > 0


def test_numba_vectorize_in_each_call_is_no_warm_call(desk: Desk) -> None:
    desk.write(
        "vectorized.py",
        """
        import numba

        def fit(x):
            return numba.vectorize(lambda a: a * 2)(x)

        @numba.vectorize(cache=True)
        def kept(a):
            return a * 2
        """,
    )
    code, report = desk.report("vectorized.py:fit", *X, WARM)
    assert (code, report.candidates[0].call) == (4, None)
    assert {one["code"] for one in judged(desk, "fit", "warm_process")} == {"every_call_compiled"}
    # No counter speaks of its cache; the files do.
    desk.write("again.py", "from vectorized import kept\n\ndef call(x):\n    return kept(x)\n")
    code, report = desk.report("again.py:call", *X, COLD, "--out", str(desk.path / "two"))
    assert code == 0, report.candidates[0].reason
    assert not any(reason.code == "not_kept" for reason in report.candidates[0].limitations)


def test_a_clock_that_the_program_replaced_measures_nothing(desk: Desk) -> None:
    desk.write(
        "slow_clock.py",
        """
        import time

        wait = time.sleep
        for name in ("perf_counter", "monotonic", "time", "process_time", "thread_time"):
            vars(time)[name] = lambda: 0.0
            vars(time)[f"{name}_ns"] = lambda: 0

        def fit():
            wait(0.02)
            return 1.0
        """,
    )
    code, report = desk.report("slow_clock.py:fit")
    assert code == 0, report.candidates[0].reason
    (case,) = [desk.case("fit")]
    assert case["warm"]["call_s"]["minimum"] >= 0.02
    for seen in case["observations"]:
        spans = {phase["name"]: phase["duration_s"] for phase in seen["phases"]}
        assert spans["first_call"] >= 0.02


def test_jax_compiled_at_import_with_a_cache_of_its_own_is_never_called_cold(desk: Desk) -> None:
    desk.write(
        "early.py",
        f"""
        import jax
        import jax.numpy as jnp

        given = jax.config.jax_compilation_cache_dir
        jax.config.update("jax_compilation_cache_dir", {str(desk.path / "mine")!r})
        work = jax.jit(lambda x: jnp.tanh(x @ x).sum())
        work(jnp.ones((32, 32)))
        jax.config.update("jax_compilation_cache_dir", given)

        def fit(x):
            return work(x)
        """,
    )
    code, report = desk.report("early.py:fit", "--input", "x=f32[32,32]", COLD)
    assert (code, report.candidates[0].ttfr) == (4, {})
    reasons = judged(desk, "fit", "cold_process_cold_cache")
    parts = [part for one in reasons for part in one.get("parts") or [one]]
    assert {one["code"] for one in parts} <= {"foreign_hits", "kept_elsewhere", "files_of_earlier"}
    assert reasons


@pytest.mark.parametrize(
    ("line", "setting"),
    [
        ('os.environ["NUMBA_CACHE_DIR"] = mine', "NUMBA_CACHE_DIR"),
        ('os.environ["TORCH_EXTENSIONS_DIR"] = mine', "TORCH_EXTENSIONS_DIR"),
        ("tempfile.tempdir = mine", "tempfile.tempdir"),
        ('os.environ["TMPDIR"] = mine', "TMPDIR"),
    ],
)
def test_a_module_that_moves_a_cache_is_refused_before_it_is_measured(
    desk: Desk, line: str, setting: str
) -> None:
    text = f"""
    import os
    import tempfile

    mine = {str(desk.path)!r}
    {line}

    def fit():
        return 1.0
    """
    desk.write("moves.py", text)
    said = desk.refused("moves.py:fit", COLD)
    assert said.startswith(f"fit: moves sets {setting} by itself")
    code, _ = desk.report("moves.py:fit", WARM)
    assert code == 0


def test_a_cache_that_moves_only_while_it_is_measured_is_no_known_state(desk: Desk) -> None:
    # The first process is the inspection; a later one finds its mark and moves.
    desk.write(
        "later.py",
        f"""
        import os
        import tempfile

        mark = {str(desk.path / "mark")!r}
        if os.path.exists(mark):
            tempfile.tempdir = {str(desk.path)!r}
        open(mark, "w").close()

        def fit():
            return 1.0
        """,
    )
    code, report = desk.report("later.py:fit", COLD)
    assert (code, report.candidates[0].ttfr) == (4, {})
    (first, *_) = judged(desk, "fit", "cold_process_cold_cache")
    assert first == {"code": "caches_moved", "values": {"setting_names": ["tempfile.tempdir"]}}


def test_what_a_function_keeps_by_itself_is_told(desk: Desk) -> None:
    desk.write(
        "memo.py",
        f"""
        import os
        import time

        def fit():
            if not os.path.exists({str(desk.path / "kept")!r}):
                time.sleep(0.5)
                open({str(desk.path / "kept")!r}, "w").close()
            return 1.0
        """,
    )
    code, report = desk.report("memo.py:fit", COLD)
    assert code == 0
    valid = [one for one in desk.case("fit")["observations"] if one["status"] == "ok"]
    assert [one.get("loop") for one in valid] == [None] * len(valid), "it is no scenario"
    cold = [one for one in valid if one["cache_mode"] == "cold_process_cold_cache"]
    if isolation.can_hide([str(desk.path / "kept")]):
        kept = judged(desk, "fit", "cold_process_cold_cache")
        assert {one["code"] for one in kept} == {"files_left_by_earlier"}
        assert [str(desk.path / "kept")] == kept[0]["values"]["file_names"]
        assert all(one["ttfr_s"] >= 0.5 for one in cold)
    else:
        cautions = [one for one in desk.case("fit")["warnings"] if one["kind"] == "kept"]
        assert [one["reason"]["code"] for one in cautions] == ["faster_than_inspected"]
    codes = {reason.code for reason in report.candidates[0].limitations}
    assert {"own_memo", "caches_controlled", "files_unseen"} <= codes


def test_only_the_programs_of_the_function_are_evidence_for_jax(desk: Desk) -> None:
    desk.write(
        "one.py",
        """
        import functools
        import jax

        @functools.partial(jax.jit, donate_argnums=0)
        def donated(x):
            return x * 2

        def lazy(x):
            return 1.0
        """,
    )
    code, _ = desk.report(
        "one.py:donated", "one.py:lazy", *X, COLD, "--inputs-as", "jax", "--no-check"
    )
    assert code == 0
    for seen in desk.case("donated")["observations"]:
        (of_jax,) = [one for one in seen["evidence"] if one["owner"] == "jax"]
        assert of_jax["raw"]["programs"] == "jit(donated)"
    seen = desk.case("lazy")["observations"][0]["evidence"]
    assert "jax" not in {one["owner"] for one in seen}, "it has no program, nor a cache"
