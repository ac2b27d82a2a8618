"""The environment: what is collected from machines of every kind, and what never is."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import msgspec
import pytest
from click.testing import CliRunner
from tests.contracts import samples

from coldwarm.cli.main import cli
from coldwarm.contracts.codec import decode, encode
from coldwarm.contracts.environment import (
    Cpu,
    CpuCache,
    Environment,
    Frequency,
    Gpu,
    differences,
    fingerprint,
)
from coldwarm.contracts.reasons import because
from coldwarm.runner import environment
from coldwarm.runner.environment import collect
from coldwarm.runner.user_input import allowed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def collected() -> Environment:
    return collect()


def plant(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def nulls_without_reason(value: object, name: str = "") -> list[str]:
    if isinstance(value, dict):
        reasons = value.get("null_reasons", {})
        missing = [f"{name}.{k}" for k, v in value.items() if v is None and not reasons.get(k)]
        return missing + [
            found for k, v in value.items() for found in nulls_without_reason(v, f"{name}.{k}")
        ]
    if isinstance(value, list):
        return [found for item in value for found in nulls_without_reason(item, name)]
    return []


def test_it_is_collected_whole_and_survives_the_round_trip(collected: Environment) -> None:
    assert decode(encode(collected)) == collected
    assert collected.distributions["msgspec"] == msgspec.__version__
    assert collected.cpu.logical_cores
    assert collected.system.ram_bytes
    assert collected.thread_pools is not None
    assert collected.platform.startswith(collected.system.os)


def test_every_missing_value_has_its_reason(collected: Environment) -> None:
    assert nulls_without_reason(msgspec.to_builtins(collected)) == []


@pytest.mark.measures
def test_it_is_quick(collected: Environment) -> None:
    start = time.perf_counter()
    again = collect()
    assert time.perf_counter() - start < 3.0  # 0.2 s on a machine that does nothing else
    assert differences(collected, again) == []
    assert fingerprint(collected) == fingerprint(again)


def test_the_collecting_process_loads_no_numpy() -> None:
    code = (
        "import sys; from coldwarm.runner.environment import collect; collect(); "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_fingerprint_leaves_out_what_changes_by_itself() -> None:
    before = samples.environment()
    system = msgspec.structs.replace(before.system, steal_share=0.5, ram_bytes=2**34 + 2**20)
    base = msgspec.structs.replace(before.system, ram_bytes=2**34)
    one = samples.environment(system=base)
    other = samples.environment(
        system=system, collected_at="later", null_reasons={"gpus": because("no_driver")}
    )
    assert fingerprint(one) == fingerprint(other)


def test_differences_are_named() -> None:
    before = samples.environment()
    after = samples.environment(
        distributions={"numpy": "2.1.0", "jax": "1"}, variables={"OMP_NUM_THREADS": "1"}
    )
    assert fingerprint(before) != fingerprint(after)
    assert [(d.name, d.a, d.b) for d in differences(before, after)] == [
        ("distributions.jax", "absent", '"1"'),
        ("distributions.numpy", '"2.0.0"', '"2.1.0"'),
        ("variables", "{}", "absent"),
        ("variables.OMP_NUM_THREADS", "absent", '"1"'),
    ]


def test_variables_are_an_allow_list_without_secrets() -> None:
    variables = {
        "OMP_NUM_THREADS": "2",
        "XLA_FLAGS": "--xla_x=/home/me/dump --y=1",
        "JAX_COMPILATION_CACHE_DIR": "https://user:pa/ss@host/cache",
        "TORCHINDUCTOR_API_KEY": "s3cret",
        "JAX_TOKEN": "s3cret",
        "MKL_PASSWORD": "s3cret",
        "TORCH_AUTH": "s3cret",
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "HOME": "/home/me",
        "LD_PRELOAD": "/home/me/lib.so:/home/me2/lib.so",
        "CFLAGS": "-DTOKEN=s3cret -O2",
    }
    assert allowed(variables) == (
        {
            "CFLAGS": "-DTOKEN=*** -O2",
            "LD_PRELOAD": "~/lib.so:~/lib.so",
            "OMP_NUM_THREADS": "2",
            "XLA_FLAGS": "--xla_x=~/dump --y=1",
        },
        [
            "JAX_COMPILATION_CACHE_DIR",
            "JAX_TOKEN",
            "MKL_PASSWORD",
            "TORCHINDUCTOR_API_KEY",
            "TORCH_AUTH",
        ],
    )


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert allowed({"JAX_X\udcff": "a", "OMP_X": "a\udcffb"}) == ({"JAX_X?": "a"}, ["OMP_X"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("XLA_FLAGS", "--xla_x=1 --y=~/d"),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:128,expandable_segments:True"),
        ("KMP_AFFINITY", "granularity=fine,compact,1,0"),
        ("OMP_PLACES", "{0:4},{4:4}"),
        ("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=123:glibc.malloc.x=4"),
        ("LD_PRELOAD", "/usr/lib/libjemalloc.so.2"),
        ("NUMBA_CPU_NAME", "haswell"),
        ("TORCH_LOGS", "+dynamo,recompiles"),
        ("JAX_PLATFORMS", "cpu"),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", ".75"),
        ("MKL_CBWR", "AVX2"),
        ("TORCH_CUDA_ARCH_LIST", "8.0;9.0+PTX"),
        ("JAX_DEFAULT_MATMUL_PRECISION", "bfloat16_3x"),
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:8"),
        ("JAX_DEBUG_LOG_MODULES", "jax._src.compiler"),
        ("CXXFLAGS", "-std=c++17 -O3 -march=native"),
        ("CUDA_VISIBLE_DEVICES", ""),
        ("CUDA_VISIBLE_DEVICES", "0,1"),
    ],
)
def test_settings_that_change_a_measurement_are_told(name: str, value: str) -> None:
    assert allowed({name: value}) == ({name: value}, [])


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("JAX_ANYTHING", "s3cr3tXyz99", None),
        ("CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", None),
        ("TORCH_X", "Authorization: Bearer abcdefgh1234567", None),
        ("TORCH_PAT", "1", None),
        ("XLA_FLAGS", "--xla_x=1 --y=Qx7-99Zz8_1 -Qx7$1", "--xla_x=1 --y=*** ***"),
    ],
)
def test_what_is_no_setting_is_not_told(name: str, value: str, told: str | None) -> None:
    values = {} if told is None else {name: told}
    assert allowed({name: value}) == (values, [] if values else [name])


def test_distributions_are_those_installed() -> None:
    found = collect().distributions
    assert "rich-click" in found
    assert list(found) == sorted(found)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("AMD EPYC", "AMD EPYC (family 25, model 1, stepping 1)"),
        ("AMD EPYC 7R13 Processor", "AMD EPYC 7R13 Processor"),
    ],
)
def test_processors_of_one_name_are_told_apart(tmp_path: Path, name: str, shown: str) -> None:
    told = f"model name\t: {name}\ncpu family\t: 25\nmodel\t\t: 1\nstepping\t: 1\n"
    assert collect(plant(tmp_path, {"proc/cpuinfo": told})).cpu.model == shown


def test_the_processor_is_read_from_a_servers_files(tmp_path: Path) -> None:
    cache = "sys/devices/system/cpu/cpu0/cache/index"
    policy = "sys/devices/system/cpu/cpu0/cpufreq/scaling_"
    root = plant(
        tmp_path,
        {
            "proc/cpuinfo": "processor : 0\nmodel name\t: Some CPU @ 2 GHz\n",
            f"{cache}0/level": "1\n",
            f"{cache}0/type": "Data\n",
            f"{cache}0/size": "48K\n",
            f"{cache}3/level": "3\n",
            f"{cache}3/type": "Unified\n",
            f"{cache}3/size": "36M\n",
            f"{policy}governor": "powersave\n",
            f"{policy}min_freq": "800000\n",
            "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
        },
    )
    cpu = collect(root).cpu
    assert cpu.model == "Some CPU @ 2 GHz"
    assert cpu.caches == [
        CpuCache(level=1, kind="data", size_bytes=48 * 2**10),
        CpuCache(level=3, kind="unified", size_bytes=36 * 2**20),
    ]
    assert (cpu.frequency.governor, cpu.frequency.min_hz) == ("powersave", 800_000_000)
    assert cpu.frequency.boost is False
    assert cpu.frequency.null_reasons.keys() == {"driver", "max_hz"}


def test_an_arm_board_is_named_by_what_it_gives(tmp_path: Path) -> None:
    info = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
    assert collect(plant(tmp_path, {"proc/cpuinfo": info})).cpu.model == (
        "ARM implementer 0x41, ARM part 0xd0c"
    )
    board = plant(tmp_path, {"proc/device-tree/model": "Raspberry Pi 5\0"})
    assert collect(board).cpu.model == "Raspberry Pi 5"


def test_limits_of_control_groups_version_2(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/a/b/memory.max": "1073741824\n",
            "sys/fs/cgroup/a/memory.max": "max\n",
        },
    )
    limits = collect(root).limits
    assert (limits.cgroup_version, limits.cpu_quota, limits.memory_bytes) == (2, 1.5, 2**30)


def test_limits_of_control_groups_version_1(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n",
            "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
    )
    limits = collect(root).limits
    assert (limits.cgroup_version, limits.cpu_quota, limits.memory_bytes) == (1, 0.5, None)
    assert limits.null_reasons == {"memory_bytes": because("unlimited")}


def test_a_machine_without_any_of_it_gives_reasons(tmp_path: Path) -> None:
    seen = collect(tmp_path)
    for record in (seen.cpu, seen.limits, seen.system):
        assert nulls_without_reason(msgspec.to_builtins(record)) == []


def test_hypervisors_and_containers_are_named(tmp_path: Path) -> None:
    root = plant(tmp_path, {"proc/cpuinfo": "flags : fpu sse\n"})
    assert collect(root).system.virtualization == "none"
    plant(tmp_path, {"proc/cpuinfo": "flags\t: fpu hypervisor\n", ".dockerenv": ""})
    plant(tmp_path, {"sys/class/dmi/id/sys_vendor": "QEMU\n"})
    seen = collect(root).system
    assert (seen.virtualization, seen.container) == ("QEMU", "docker")


def fake(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_gpus_and_ptxas_are_read_from_the_drivers_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = "NVIDIA H100, 550.54.15, 81559, 9.0, Enabled, [N/A]"
    header = "| Driver Version: 550.54.15   CUDA Version: 12.4 |"
    fake(tmp_path / "bin", "nvidia-smi", f'[ $# -gt 0 ] && echo "{row}" || echo "{header}"')
    fake(tmp_path / "bin", "ptxas", "echo 'Cuda compilation tools, release 12.4, V12.4.99'")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    seen = collect()
    assert seen.gpus is not None
    assert seen.gpus == [
        Gpu(
            model="NVIDIA H100",
            driver="550.54.15",
            cuda="12.4",
            memory_bytes=81559 * 2**20,
            compute_capability="9.0",
            persistence=True,
            mig=None,
            null_reasons={"mig": because("not_told", by="the driver")},
        )
    ]
    assert seen.ptxas is not None
    assert (seen.ptxas[0].kind, seen.ptxas[0].version) == ("path", "12.4.99")


def test_a_program_that_fails_or_hangs_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path / "bin", "nvidia-smi", "echo 'No devices were found' >&2; exit 6")
    fake(tmp_path / "bin", "slow++", "exec sleep 60")
    monkeypatch.setattr(environment, "_TIMEOUT_S", 0.3)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("CXX", "slow++ -v")
    found = collect()
    assert (found.gpus, found.compiler) == (None, None)
    reasons = found.null_reasons
    assert reasons["gpus"] == because(
        "program_failed", program="nvidia-smi", text="No devices were found"
    )
    assert reasons["compiler"] == because("no_answer", program="slow++", limit_s=0.3)


def test_another_projects_checkout_is_not_taken_for_the_harnesss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "venv/coldwarm"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@x"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "c", "--no-verify"], check=True)
    monkeypatch.setattr(environment, "_PACKAGE", package)
    foreign = collect().harness
    assert foreign.git_commit is None
    assert foreign.null_reasons["git_commit"] == because("no_checkout")
    subprocess.run([*git, "add", "venv"], check=True)
    own = collect().harness
    assert own.git_commit is not None
    assert (len(own.git_commit), own.git_dirty) == (40, True)


def test_env_shows_a_table_within_80_columns(collected: Environment) -> None:
    result = CliRunner().invoke(cli, ["env"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    assert str(collected.cpu.model) in result.output


def test_env_shows_an_unusual_machine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = Cpu(
        architecture="riscv64",
        frequency=Frequency(),
        null_reasons={"model": because("not_told", by="nobody")},
    )
    odd = samples.environment(cpu=cpu, gpus=[], variables={"XLA_FLAGS": "[bold]x[/]"})
    monkeypatch.setattr("coldwarm.runner.environment.collect", lambda: odd)
    output = CliRunner().invoke(cli, ["env"]).output
    assert "nobody does not report it" in output
    assert "[bold]x[/]" in output


def test_env_prints_json() -> None:
    output = CliRunner().invoke(cli, ["env", "--json"]).output
    assert isinstance(decode(output.encode()), Environment)
