"""The real command under settings that change what it measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from tests.functions.conftest import Desk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.lab import Done

ONE = ("--rounds", "1", "--max-rounds", "1")
NAMES = ("JAX_", "XLA_", "NUMBA_", "TORCH", "OPENBLAS_")
MATMUL = ("--case", "matmul_512_f32")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in [name for name in os.environ if name.startswith(NAMES)]:
        monkeypatch.delenv(name)
    return Desk(tmp_path)


def measured(desk: Desk, backend: str) -> Done:
    out = ("--out", desk.out)
    return desk.command("run", "--backend", backend, *MATMUL, *ONE, *out, timeout_s=300)


@pytest.mark.parametrize(
    ("backend", "setting"),
    [
        ("jax_jit", "JAX_DISABLE_JIT=1"),
        ("jax_jit", "XLA_FLAGS=--xla_backend_optimization_level=0"),
        ("numba", "NUMBA_DISABLE_JIT=1"),
        ("numba", "NUMBA_OPT=0"),
        ("torch_compile", "TORCH_COMPILE_DISABLE=1"),
        ("numpy", "PYTHONDEVMODE=1"),
    ],
)
def test_a_run_is_refused_before_anything_is_measured(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, backend: str, setting: str
) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    done = measured(desk, backend)
    assert done.code == 2, done.err
    assert not desk.out.exists()
    said = " ".join(done.err.split())
    assert f"{setting} changes what {backend} does" in said
    assert "unset it; coldwarm bench measures a function of your own" in said


def test_a_file_of_numbas_in_the_working_directory_is_refused(desk: Desk) -> None:
    desk.write(".numba_config.yaml", "opt: 0\n")
    done = measured(desk, "numba")
    assert done.code == 2
    assert "NUMBA_OPT=0 changes what numba does" in " ".join(done.err.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "lines", "setting"),
    [
        ("numba", "import numba; numba.config.DISABLE_JIT = 1", "DISABLE_JIT=1"),
        ("numba", "import numba; numba.config.BOUNDSCHECK = 1", "BOUNDSCHECK=1"),
        ("numba", "os.environ['NUMBA_OPT'] = '0'", "NUMBA_OPT=0"),
        ("jax_jit", "import jax; jax.config.update('jax_disable_jit', True)", "jit=True"),
        ("jax_jit", "os.environ['JAX_DEBUG_NANS'] = '1'", "JAX_DEBUG_NANS=1"),
        ("numpy", "sys.settrace(lambda *_: None)", "sys.settrace=function"),
    ],
)
def test_what_is_set_inside_the_process_is_refused_as_well(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    backend: str,
    lines: str,
    setting: str,
) -> None:
    pytest.importorskip(backend.partition("_")[0])
    desk.write(
        "site/sitecustomize.py",
        f"import os, sys\nif 'COLDWARM_RUN' in os.environ:\n    {lines}\n",
    )
    desk.sites.append(desk.path / "site")
    done = measured(desk, backend)
    assert done.code == 3, done.err
    (case,) = [one for one in (desk.out / "cases").glob("*.json") if f"{backend}_" in one.name][:1]
    reason = json.loads(case.read_text())["reason"]
    assert reason["code"] == "setting_changes"
    assert any(one.endswith(setting) for one in reason["values"]["setting_names"])
    assert "changes what " in " ".join(done.out.split())


@pytest.mark.slow
def test_what_tunes_a_backend_stands_in_the_record_and_in_the_table(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_LOOP_VECTORIZE", "0")
    done = measured(desk, "numba")
    assert done.code == 0, done.err
    case = desk.case("numba_matmul_512_f32")
    for one in case["observations"]:
        assert one["settings"]["NUMBA_LOOP_VECTORIZE"] == "0"
        assert one["settings"]["OMP_NUM_THREADS"] == "1"  # which these tests set
    assert [one["kind"] for one in case["warnings"]].count("settings") == 1
    shown = desk.command("show", desk.out, "--verbose").out
    told = "numba: measured with NUMBA_LOOP_VECTORIZE=0, OMP_NUM_THREADS=1"
    assert told in " ".join(shown.split())


MODULE = """
    import os
    os.environ["XLA_FLAGS"] = "--xla_cpu_enable_fast_math=true"
    import jax, numba
    jax.config.update("jax_disable_jit", True)
    numba.config.DISABLE_JIT = 1

    @numba.njit
    def total(x):
        s = 0.0
        for v in x:
            s += v
        return s

    @jax.jit
    def fast(x):
        return x.sum()
"""


@pytest.mark.slow
def test_a_users_function_is_measured_as_it_is_and_told_how(desk: Desk) -> None:
    pytest.importorskip("jax")
    pytest.importorskip("numba")
    desk.write("mine.py", MODULE)
    x = ("--input", "x=f32[50]", "--env", "NUMBA_CPU_NAME=generic")
    done = desk.bench("mine.py:total", "mine.py:fast", *x, "--cold-only")
    assert done.code == 0, done.err
    expected = {
        "XLA_FLAGS": "--xla_cpu_enable_fast_math=true",
        "jax_disable_jit": "True",
        "numba.config.DISABLE_JIT": "1",
        "NUMBA_CPU_NAME": "generic",
    }
    for label in ("total", "fast"):
        for one in desk.case(label)["observations"]:
            assert expected.items() <= one["settings"].items()
    said = " ".join(desk.command("show", desk.out, "--verbose").out.split())
    for name, value in expected.items():
        assert f"{name}={value}" in said


@pytest.mark.slow
def test_a_users_torch_without_its_compiler_is_told(desk: Desk) -> None:
    pytest.importorskip("torch")
    desk.write(
        "mine.py",
        """
        import torch
        torch._dynamo.config.disable = True
        torch.set_float32_matmul_precision("high")
        torch.compiler.set_stance("force_eager")
        double = torch.compile(lambda x: x * 2)
        """,
    )
    done = desk.bench("mine.py:double", "--input", "x=f32[50]", "--cold-only", timeout_s=300)
    assert done.code == 0, done.err
    seen = desk.case("double")["observations"][0]["settings"]
    assert seen["torch._dynamo.config.disable"] == "True"
    assert seen["torch.get_float32_matmul_precision"] == "high"
    assert seen["torch.compiler.set_stance"] == "force_eager"
    shown = desk.command("show", desk.out, "--verbose").out
    assert "torch._dynamo.config.disable=True" in " ".join(shown.split())


@pytest.mark.slow
def test_the_process_that_calls_bench_is_told_of_its_own(desk: Desk) -> None:
    pytest.importorskip("numba")
    program = desk.write(
        "program.py",
        """
        import coldwarm, numba, numpy as np
        numba.config.LOOP_VECTORIZE = 0

        def f(x):
            return x + 1

        result = coldwarm.Benchmark(cold=False)(f, np.ones(3))
        print(repr(result))
        """,
    )
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=True,
        env=desk.environment(),
        timeout=120,
    )
    assert "numba.config.LOOP_VECTORIZE=0" in textwrap.dedent(done.stdout)


@pytest.mark.slow
def test_frameworks_as_they_come_have_nothing_to_tell(desk: Desk) -> None:
    """What frameworks set by themselves, also after they have compiled, is nobody's setting."""
    for name in ("jax", "numba", "torch"):
        pytest.importorskip(name)
    program = desk.write(
        "plain.py",
        """
        import json
        import jax, numba, torch
        jax.jit(lambda x: x + 1)(1.0)
        numba.njit(lambda x: x + 1)(1.0)
        torch.compile(lambda x: x + 1)(torch.ones(3))
        from coldwarm.frameworks import settings
        print(json.dumps(settings.found()))
        """,
    )
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=True,
        env={**desk.environment(), "PYTHONPATH": ""},
        timeout=300,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["configured"] == {}
    assert sorted(found["loaded"]) == ["jax", "numba", "torch"]
