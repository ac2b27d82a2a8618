"""Settings that make a backend another thing are refused; what tunes it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from coldwarm import registry
from coldwarm.contracts.reasons import RefusedError
from coldwarm.masking import cleaned
from coldwarm.report.sentences import with_advice
from coldwarm.runner import case_list, machine_settings, suite
from coldwarm.runner.case_list import Options

if TYPE_CHECKING:
    from pathlib import Path

FLAGS = "XLA_FLAGS"
REFUSED = [
    ("jax_jit", "JAX_DISABLE_JIT", "1"),
    ("jax_eager", "JAX_DISABLE_JIT", "True"),
    ("jax_aot", "JAX_DISABLE_JIT", "yes"),
    ("jax_jit", "JAX_DISABLE_MOST_OPTIMIZATIONS", "1"),
    ("jax_jit", "JAX_DEBUG_NANS", "1"),
    ("jax_jit", "JAX_CHECK_TRACER_LEAKS", "true"),
    ("jax_jit", "JAX_ENABLE_CHECKS", "1"),
    ("jax_jit", "JAX_OPTIMIZATION_LEVEL", "O0"),
    ("jax_jit", "JAX_EXEC_TIME_OPTIMIZATION_EFFORT", "-1.0"),
    ("jax_jit", FLAGS, "--xla_backend_optimization_level=0"),
    (
        "jax_eager",
        FLAGS,
        "--xla_cpu_enable_fast_math=true --xla_force_host_platform_device_count=2",
    ),
    ("jax_jit", FLAGS, "--xla_cpu_enable_fast_math"),
    ("jax_jit", FLAGS, "--xla_cpu_enable_fast_min_max=1"),
    ("jax_jit", FLAGS, "--xla_disable_hlo_passes=fusion"),
    ("jax_jit", FLAGS, "--xla_disable_all_hlo_passes=true"),
    ("jax_jit", FLAGS, "--xla_llvm_disable_expensive_passes=true"),
    ("jax_jit", FLAGS, "--xla_dump_to=/tmp/x"),
    ("jax_jit", FLAGS, "--xla_backend_optimization_level=3 --xla_backend_optimization_level=1"),
    ("numba", "NUMBA_DISABLE_JIT", "1"),
    ("numba", "NUMBA_OPT", "0"),
    ("numba", "NUMBA_OPT", "1"),
    ("numba", "NUMBA_DEBUG", "1"),
    ("numba", "NUMBA_DEBUGINFO", "1"),
    ("numba", "NUMBA_BOUNDSCHECK", "1"),
    ("numba", "NUMBA_ENABLE_CUDASIM", "1"),
    ("numba", "NUMBA_DUMP_ASSEMBLY", "1"),
    ("torch_compile", "TORCH_COMPILE_DISABLE", "1"),
    ("torch_compile", "TORCHDYNAMO_DISABLE", "1"),
    ("torch_compile", "TORCHDYNAMO_SUPPRESS_ERRORS", "0"),  # anything but nothing is yes
    ("torch_compile", "TORCH_COMPILE_OVERRIDE_BACKENDS", ">=0:eager"),
    ("torch_compile", "TORCH_COMPILE_DEBUG", "1"),
    ("torch_aot", "TORCH_COMPILE_DEBUG", "1"),
    ("numpy", "PYTHONDEVMODE", "1"),
    ("numpy", "PYTHONMALLOC", "debug"),
    ("numpy", "PYTHONTRACEMALLOC", "5"),
    ("jax_jit", "PYTHONPROFILEIMPORTTIME", "1"),
]
NAMED = [
    ("jax_jit", "JAX_ENABLE_X64", "1"),
    ("jax_jit", "JAX_DEFAULT_MATMUL_PRECISION", "bfloat16"),
    ("jax_jit", FLAGS, "--xla_force_host_platform_device_count=2"),
    ("jax_jit", FLAGS, "--xla_backend_optimization_level=3 --xla_cpu_enable_fast_math=false"),
    ("numba", "NUMBA_LOOP_VECTORIZE", "0"),
    ("numba", "NUMBA_ENABLE_AVX", "0"),
    ("numba", "NUMBA_CPU_NAME", "generic"),
    ("numba", "NUMBA_OPT", "max"),
    ("torch_compile", "TORCHINDUCTOR_MAX_AUTOTUNE", "1"),
    ("torch_compile", "TORCHINDUCTOR_CPP_WRAPPER", "1"),
    ("torch_compile", "TORCH_COMPILE_DISABLE", "0"),
    ("torch_eager", "ATEN_CPU_CAPABILITY", "default"),
    ("torch_eager", "TORCH_COMPILE_DISABLE", "1"),
    ("torch_eager", "PYTORCH_JIT", "0"),
    ("numpy", "OMP_NUM_THREADS", "1"),
    ("numpy", "MKL_NUM_THREADS", "1"),
    ("numpy", "OPENBLAS_NUM_THREADS", "1"),
    ("numpy", "NPY_DISABLE_CPU_FEATURES", "AVX2"),
    ("numpy", "PYTHONOPTIMIZE", "2"),
    ("numpy", "PYTHONMALLOC", "malloc"),
    ("numpy", "LD_PRELOAD", "libjemalloc.so"),
    ("numpy", "MALLOC_ARENA_MAX", "1"),
    ("numpy", "GLIBC_TUNABLES", "glibc.malloc.check=3"),
]
NEITHER = [
    ("numpy", "NUMBA_OPT", "0"),
    ("numpy", FLAGS, "--xla_backend_optimization_level=0"),
    ("jax_jit", "TORCH_COMPILE_DISABLE", "1"),
    ("jax_jit", "JAX_LOGGING_LEVEL", "DEBUG"),
    ("numpy", "HOME", "/home/user"),
    ("numpy", "MY_API_KEY", "1"),
]


def in_force(backend: str, name: str, value: str) -> dict[str, str]:
    spec = registry.backends()[backend]
    given = machine_settings.of_user({name: value}, {name: value})
    return machine_settings.relevant(given, machine_settings.frameworks_of(spec))


@pytest.mark.parametrize(("backend", "name", "value"), REFUSED)
def test_what_makes_a_backend_another_thing_is_refused(backend: str, name: str, value: str) -> None:
    case = case_list.choose(Options(suite="full", backends=(backend,)))[0]
    with pytest.raises(RefusedError) as refused:
        suite._refuse_settings([case], {name: value})
    assert refused.value.reason.values["setting_names"] == [f"{name}={value}"]
    said = with_advice(refused.value.reason)
    assert f"{name}={value} changes what {backend} does" in said
    assert "; unset it; " in said
    assert in_force(backend, name, value)  # a user's function is measured so, and it is named


@pytest.mark.parametrize(("backend", "name", "value"), NAMED)
def test_what_tunes_a_backend_is_named(backend: str, name: str, value: str) -> None:
    case = case_list.choose(Options(suite="full", backends=(backend,)))[0]
    suite._refuse_settings([case], {name: value})
    assert in_force(backend, name, value) == {name: value}


@pytest.mark.parametrize(("backend", "name", "value"), NEITHER)
def test_what_does_not_concern_a_backend_is_not_named(backend: str, name: str, value: str) -> None:
    case = case_list.choose(Options(suite="full", backends=(backend,)))[0]
    suite._refuse_settings([case], {name: value})
    assert in_force(backend, name, value) == {}


def test_flags_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "flags"
    file.write_text("--xla_backend_optimization_level=0\n")
    case = case_list.choose(Options(suite="full", backends=("jax_jit",)))[0]
    with pytest.raises(RefusedError):
        suite._refuse_settings([case], {FLAGS: str(file)})


def test_what_coldwarm_sets_itself_is_not_the_users(tmp_path: Path) -> None:
    theirs = {"JAX_PLATFORMS": "cuda", "OMP_NUM_THREADS": "7"}
    built = {"JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "7"}
    assert machine_settings.of_user(theirs, built, tmp_path) == {"OMP_NUM_THREADS": "7"}


def test_a_file_of_numbas_is_obeyed_as_variables_are(tmp_path: Path) -> None:
    (tmp_path / ".numba_config.yaml").write_text("# mine\nopt: 0  # slow\nloop_vectorize: '0'\n")
    assert machine_settings.of_user({}, {}, tmp_path) == {
        "NUMBA_OPT": "0",
        "NUMBA_LOOP_VECTORIZE": "0",
    }
    given = {"NUMBA_OPT": "3"}  # a variable comes before the file
    assert machine_settings.of_user(given, given, tmp_path)["NUMBA_OPT"] == "3"


def test_no_home_and_no_password_is_in_a_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = machine_settings.relevant({"LD_PRELOAD": f"{tmp_path}/lib.so"}, ["jax"])
    assert cleaned(shown) == {"LD_PRELOAD": "~/lib.so"}


def test_what_is_noted_in_images_for_gpus_is_no_setting() -> None:
    noted = ("CUDA_VERSION", "CUDA_PKG_VERSION", "CUDNN_VERSION", "NCCL_VERSION")
    set_ = {"CUDA_LAUNCH_BLOCKING": "1", "NCCL_DEBUG": "INFO"}
    assert machine_settings.known({**dict.fromkeys(noted, "13.0.2"), **set_}) == set_
