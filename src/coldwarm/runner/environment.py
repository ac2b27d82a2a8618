"""The environment of a run, which stays the same while it measures.

Everything is best effort: what cannot be found out is ``None`` with the reason, and
nothing here raises because a machine is unusual. What only other programs know (thread pools,
compiler, GPUs, ``ptxas``, git) is asked of all of them at once and read afterwards, so that this
process never loads NumPy and the whole takes a fraction of a second. Each has a time limit, after
which it is killed and its answer is missing with that reason.

Linux answers through files, read below a root that tests replace; elsewhere psutil and ``sysctl``
know a part.
"""

from __future__ import annotations

import datetime as dt
import functools
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import psutil

import coldwarm
from coldwarm.contracts import codec
from coldwarm.contracts.environment import (
    Compiler,
    Cpu,
    CpuCache,
    Environment,
    Frequency,
    Gpu,
    Harness,
    Limits,
    Ptxas,
    Python,
    System,
    ThreadPool,
)
from coldwarm.contracts.reasons import Reason, because, missing
from coldwarm.runner.telemetry import control_groups as of_this_process
from coldwarm.runner.user_input import allowed

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_UNLIMITED = 2**60
_CPU = "sys/devices/system/cpu"
_NOT_TOLD = because("not_told", by="the system")


def _read_cpu(root: Path) -> Cpu:
    """Return the processor of this machine."""
    has_affinity = hasattr(os, "sched_getaffinity")
    values: dict[str, Any] = {
        "model": _cpu_model(root),
        "physical_cores": psutil.cpu_count(logical=False),
        "logical_cores": psutil.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if has_affinity else None,
        "caches": _caches(root),
    }
    return Cpu(
        **values,
        architecture=platform.machine(),
        frequency=_frequency(root),
        null_reasons=missing(values, _NOT_TOLD),
    )


def _read_limits(root: Path) -> Limits:
    """Return the processor and memory limits of the control group, whichever version.

    A group is bound by every group above it too, so the lowest of them counts.
    """
    groups = of_this_process(root)
    if groups is None:
        names = ("cgroup_version", "cpu_quota", "memory_bytes")
        return Limits(null_reasons=dict.fromkeys(names, because("no_control_groups")))
    quotas = [q for q in map(_quota, groups.processor) if q is not None]
    memories = [m for m in map(_memory, groups.memory) if m is not None]
    reasons = {}
    if not quotas:
        reasons["cpu_quota"] = because("unlimited" if groups.processor else "group_unseen")
    if not memories:
        reasons["memory_bytes"] = because("unlimited" if groups.memory else "group_unseen")
    return Limits(
        cgroup_version=groups.version,
        cpu_quota=min(quotas, default=None),
        memory_bytes=min(memories, default=None),
        null_reasons=reasons,
    )


def _read_system(root: Path) -> System:
    """Return the operating system, its memory, its clock and what it runs on."""
    source = root / "sys/devices/system/clocksource/clocksource0/current_clocksource"
    values: dict[str, Any] = {
        "libc": _libc(),
        "virtualization": _virtualization(root),
        "steal_share": _steal_share(),
        "clock_source": _read(source),
    }
    return System(
        **values,
        os=_os_name(),
        kernel=platform.release(),
        ram_bytes=psutil.virtual_memory().total,
        swap_bytes=psutil.swap_memory().total,
        container=_container(root),
        clock_resolution_s=time.get_clock_info("monotonic").resolution,
        null_reasons=missing(values, _NOT_TOLD),
    )


def _read(path: Path) -> str | None:
    """Return a file's text without blanks around it; ``None`` where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0 \t\r\n") or None
    except OSError:
        return None


def _integer(path: Path, factor: int = 1) -> int | None:
    text = _read(path)
    return int(text) * factor if text is not None and text.isdecimal() else None


def _kind_of_processor(name: str, text: str) -> str:
    """Return what tells processors of one name apart: a hypervisor may hide what comes behind it.

    Of two that are called ``AMD EPYC``, one may have AVX-512 and the other not.
    """
    keys = ("cpu family", "model", "stepping")
    found = [re.search(rf"^{key}\s*:\s*(\d+)$", text, re.MULTILINE) for key in keys]
    if re.search(r"\d", name) or not all(found):
        return ""
    family, model, stepping = (one[1] for one in found if one)
    return f" (family {family}, model {model}, stepping {stepping})"


def _cpu_model(root: Path) -> str | None:
    text = _read(root / "proc/cpuinfo") or ""
    named = re.search(r"^(?:model name|Processor|cpu model|cpu)\s*:\s*(.+)$", text, re.MULTILINE)
    if named is not None:
        return named[1].strip() + _kind_of_processor(named[1], text)
    board = _read(root / "proc/device-tree/model") or _read(
        root / "sys/firmware/devicetree/base/model"
    )
    if board is not None:
        return board
    arm = {
        name: found[1]
        for name in ("implementer", "part")
        if (found := re.search(rf"^CPU {name}\s*:\s*(\S+)$", text, re.MULTILINE))
    }
    if arm:
        return ", ".join(f"ARM {name} {value}" for name, value in arm.items())
    if sys.platform == "darwin":
        return _answer(["sysctl", "-n", "machdep.cpu.brand_string"])
    return platform.processor() or None


def _caches(root: Path) -> list[CpuCache] | None:
    if sys.platform == "darwin":
        return _darwin_caches()
    found = []
    for folder in sorted((root / _CPU / "cpu0/cache").glob("index*")):
        level, kind, size = (_read(folder / name) for name in ("level", "type", "size"))
        sized = re.fullmatch(r"(\d+)([KMG]?)", size or "")
        if level is not None and level.isdecimal() and kind is not None and sized is not None:
            size_bytes = int(sized[1]) * _UNITS[sized[2]]
            found.append(CpuCache(level=int(level), kind=kind.lower(), size_bytes=size_bytes))
    return found or None


def _darwin_caches() -> list[CpuCache] | None:
    kinds = {
        "hw.l1dcachesize": (1, "data"),
        "hw.l1icachesize": (1, "instruction"),
        "hw.l2cachesize": (2, "unified"),
        "hw.l3cachesize": (3, "unified"),
    }
    found = []
    for name, (level, kind) in kinds.items():
        size = _answer(["sysctl", "-n", name])
        if size is not None and size.isdecimal() and int(size) > 0:
            found.append(CpuCache(level=level, kind=kind, size_bytes=int(size)))
    return found or None


def _frequency(root: Path) -> Frequency:
    policy = root / _CPU / "cpu0/cpufreq"
    values: dict[str, Any] = {
        "governor": _read(policy / "scaling_governor"),
        "driver": _read(policy / "scaling_driver"),
        "min_hz": _integer(policy / "scaling_min_freq", 1000),
        "max_hz": _integer(policy / "scaling_max_freq", 1000),
        "boost": _boost(root),
    }
    return Frequency(**values, null_reasons=missing(values, because("no_frequency_policy")))


def _boost(root: Path) -> bool | None:
    allowed = _read(root / _CPU / "cpufreq/boost")
    if allowed is not None:
        return allowed == "1"
    forbidden = _read(root / _CPU / "intel_pstate/no_turbo")
    return None if forbidden is None else forbidden == "0"


def _quota(folder: Path) -> float | None:
    """Return the processor quota of one group in processors; ``None``: no bound here."""
    quota, _, period = (_read(folder / "cpu.max") or "").partition(" ")
    if not period:
        quota = _read(folder / "cpu.cfs_quota_us") or ""
        period = _read(folder / "cpu.cfs_period_us") or ""
    if not (quota.isdecimal() and period.isdecimal() and int(period) > 0):
        return None
    return int(quota) / int(period)


def _memory(folder: Path) -> int | None:
    """Return the memory limit of one group in bytes; ``None``: no bound here."""
    limit = _integer(folder / "memory.max")
    if limit is None:
        limit = _integer(folder / "memory.limit_in_bytes")
    return limit if limit is not None and limit < _UNLIMITED else None


def _os_name() -> str:
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def _libc() -> str | None:
    if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {}):
        try:
            return os.confstr("CS_GNU_LIBC_VERSION")
        except (OSError, ValueError):
            return None
    return None


def _virtualization(root: Path) -> str | None:
    """Name the hypervisor by what it shows of itself."""
    product = " ".join(
        text
        for name in ("sys_vendor", "product_name")
        if (text := _read(root / "sys/class/dmi/id" / name)) is not None
    )
    kind = _read(root / "sys/hypervisor/type")
    text = _read(root / "proc/cpuinfo")
    if text is None:
        return None
    if kind is not None or re.search(r"^flags\s*:.*\bhypervisor\b", text, re.MULTILINE):
        return kind or product or "virtual machine, hypervisor not named"
    return "none"


def _container(root: Path) -> str:
    marks = {".dockerenv": "docker", "run/.containerenv": "podman"}
    return next((name for mark, name in marks.items() if (root / mark).exists()), "none")


def _steal_share() -> float | None:
    times = psutil.cpu_times()
    steal: float | None = getattr(times, "steal", None)
    total = sum(times)
    return None if steal is None or total <= 0 else steal / total


_NODES = ("nvidia[0-9]*", "dxg", "kfd")
"""Device nodes of NVIDIA's driver, of Windows' for Linux, of AMD's."""


def gpu_may_be_used(devices: Path = Path("/dev")) -> bool:
    """Say whether there is a GPU that the environment does not hide."""
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}
    return not hidden and any(True for node in _NODES for _ in devices.glob(node))


def collect(root: Path = Path("/")) -> Environment:
    """Return the environment of this process, its interpreter and its machine.

    ``root``: where the machine's files are.
    """
    asked = _inquiries()
    try:
        return codec.without_secrets(_gather(asked, root))
    finally:
        for one in asked.values():  # so that no process is left behind
            _ = one.answer


def _gather(asked: _Asked, root: Path) -> Environment:
    reasons: dict[str, Reason] = {}
    variables = allowed(os.environ)
    return Environment(
        collected_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        cpu=_read_cpu(root),
        limits=_read_limits(root),
        system=_read_system(root),
        python=_interpreter(),
        distributions=_distributions(),
        variables=variables.values,
        withheld_variables=variables.withheld,
        harness=_harness(asked),
        compiler=_compiler(asked, reasons),
        thread_pools=_thread_pools(asked, reasons),
        gpus=_gpus(asked, reasons),
        ptxas=_ptxas(asked, reasons),
        null_reasons=reasons,
    )


def _distributions() -> dict[str, str]:
    """Return every distribution installed for this interpreter, with its version.

    Names are in lower case with ``-``, sorted. Where a distribution is found twice on the
    path, the first one counts, as it does for an import.
    """
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name, version = _name_and_version(distribution)
        if name:
            found.setdefault(name.lower().replace("_", "-"), version or "unknown")
    return dict(sorted(found.items()))


def _interpreter() -> Python:
    """Return what is known of the running interpreter; no path of its own."""
    options = {"optimized": "--enable-optimizations", "link_time_optimized": "--with-lto"}
    arguments = sysconfig.get_config_var("CONFIG_ARGS")
    built = {
        name: text in arguments if isinstance(arguments, str) else None
        for name, text in options.items()
    }
    return Python(
        version=platform.python_version(),
        implementation=platform.python_implementation(),
        build=" ".join(platform.python_build()),
        compiler=platform.python_compiler(),
        executable_kind=_executable_kind(),
        **built,
        debug=hasattr(sys, "gettotalrefcount"),
        free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        null_reasons=missing(built, because("not_told", by="the interpreter")),
    )


def _name_and_version(distribution: metadata.Distribution) -> tuple[str | None, str | None]:
    """Read the two headers alone: a whole description takes twenty times as long."""
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    headers = text.partition("\n\n")[0].splitlines()
    values: dict[str, str] = {}
    for line in headers:
        key, separator, value = line.partition(":")
        if separator and key in {"Name", "Version"}:
            values.setdefault(key, value.strip())
    return values.get("Name"), values.get("Version")


def _executable_kind() -> str:
    if (Path(sys.prefix) / "conda-meta").is_dir():
        return "conda"
    if sys.prefix != sys.base_prefix:
        return "virtual environment"
    return "system" if sys.prefix in {"/usr", "/usr/local"} else "standalone"


_PtxasKind = Literal["path", "toolkit", "wheel", "triton"]
_TIMEOUT_S = 10.0
"""Longest wait for one answer, seconds; a driver that wakes up may take a few."""
_PACKAGE = Path(coldwarm.__file__).resolve().parent
_MIB = 2**20

_POOLS = "import json, numpy, threadpoolctl; print(json.dumps(threadpoolctl.threadpool_info()))"
_GPU_FIELDS = "name,driver_version,memory.total,compute_cap,persistence_mode,mig.mode.current"


class _Inquiry:
    """A program that was asked something and answers on its standard output."""

    def __init__(self, command: list[str]) -> None:
        self._name = Path(command[0]).name
        self._problem: Reason | None = None
        self._process: subprocess.Popen[str] | None = None
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
                env={**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
            )
        except FileNotFoundError:
            self._problem = because("not_on_path", program=self._name)
        except OSError as error:
            self._problem = self._failed(error.strerror or str(error))

    def _failed(self, text: str) -> Reason:
        return because("program_failed", program=self._name, text=text)

    @property
    def silent(self) -> Reason:
        """Why something is missing in its answer, or all of it."""
        return self.answer[1] or because("not_told", by=self._name)

    @functools.cached_property
    def answer(self) -> tuple[str | None, Reason | None]:
        """Return its answer, or ``None`` and why; waits for its end."""
        if self._process is None:
            return None, self._problem
        try:
            out, err = self._process.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            # Its children too: they would hold the pipe open.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            return None, because("no_answer", program=self._name, limit_s=_TIMEOUT_S)
        if self._process.returncode != 0:
            last = (err.strip().splitlines() or [f"exit status {self._process.returncode}"])[-1]
            return None, self._failed(last[:200])
        return out.strip(), None


def _inquiries() -> dict[str, _Inquiry]:
    """Ask everything at once."""
    gpu = [f"--query-gpu={_GPU_FIELDS}", "--format=csv,noheader,nounits"]
    git = ["git", "-C", str(_PACKAGE)]
    commands = {
        "pools": [sys.executable, "-c", _POOLS],
        "compiler": [*_compiler_command(), "--version"],
        "gpus": ["nvidia-smi", *gpu],
        "driver": ["nvidia-smi"],
        "commit": [*git, "rev-parse", "--show-toplevel", "HEAD"],
        "changes": [*git, "status", "--porcelain", "--", str(_PACKAGE)],
        "tracked": [*git, "ls-files", "--error-unmatch", "__init__.py"],
    }
    return {name: _Inquiry(command) for name, command in commands.items()}


_Asked = dict[str, _Inquiry]


def _answer(command: list[str]) -> str | None:
    """Return what a program says, ``None`` where it says nothing or is not there."""
    return _Inquiry(command).answer[0] or None


def _thread_pools(asked: _Asked, reasons: dict[str, Reason]) -> list[ThreadPool] | None:
    """Return the BLAS and OpenMP pools that come with NumPy."""
    text, problem = asked["pools"].answer
    try:
        if text is not None:
            return [_pool(pool) for pool in json.loads(text)]
    except (ValueError, KeyError, TypeError) as error:
        problem = because("not_understood", program="threadpoolctl", text=repr(error))
    reasons["thread_pools"] = problem or asked["pools"].silent
    return None


def _compiler(asked: _Asked, reasons: dict[str, Reason]) -> Compiler | None:
    """Return the C++ compiler that ``torch.compile`` would use."""
    text, _ = asked["compiler"].answer
    if not text:
        reasons["compiler"] = asked["compiler"].silent
        return None
    return Compiler(command=" ".join(_compiler_command()), version=text.splitlines()[0])


def _gpus(asked: _Asked, reasons: dict[str, Reason]) -> list[Gpu] | None:
    """Return the GPUs as the driver lists them; ``None`` where there is no driver."""
    text, _ = asked["gpus"].answer
    if text is None:
        reasons["gpus"] = asked["gpus"].silent
        return None
    stated = re.search(r"CUDA Version:\s*([\d.]+)", asked["driver"].answer[0] or "")
    cuda = stated[1] if stated else None
    return [_gpu(line, cuda, asked["driver"].silent) for line in text.splitlines() if line]


def _ptxas(asked: _Asked, reasons: dict[str, Reason]) -> list[Ptxas] | None:
    """Return each ``ptxas`` there is; not looked for on a machine without a GPU."""
    if asked["gpus"].answer[0] is None:
        reasons["ptxas"] = because("no_driver")
        return None
    found = []
    for kind, file in _ptxas_files():
        version, silent = _ptxas_version(file)
        missing = {} if version else {"version": silent}
        found.append(Ptxas(kind=kind, version=version, null_reasons=missing))
    return found


def _ptxas_version(file: Path) -> tuple[str | None, Reason]:
    """Return the version of a ``ptxas``, or ``None`` and why it does not tell one."""
    inquiry = _Inquiry([str(file), "--version"])
    version = re.search(r"release [\d.]+, V(\d+(?:\.\d+)*)", inquiry.answer[0] or "")
    return (version[1] if version else None), inquiry.silent


def _harness(asked: _Asked) -> Harness:
    """Return this coldwarm's version, and its commit where it runs from a checkout."""
    commit, problem = asked["commit"].answer
    changes, _ = asked["changes"].answer
    reasons = {}
    if asked["tracked"].answer[0] is None:
        # Installed somewhere inside another project's checkout: that one's commit says
        # nothing about this code.
        commit, changes = None, None
        reasons = dict.fromkeys(("git_commit", "git_dirty"), problem or because("no_checkout"))
    if commit is None:
        reasons.setdefault("git_commit", asked["commit"].silent)
    if changes is None:
        reasons.setdefault("git_dirty", asked["changes"].silent)
    return Harness(
        version=coldwarm.__version__,
        git_commit=None if commit is None else commit.splitlines()[-1],
        git_dirty=None if changes is None else bool(changes),
        null_reasons=reasons,
    )


def _compiler_command() -> list[str]:
    try:
        return shlex.split(os.environ.get("CXX", "")) or ["g++"]
    except ValueError:
        return [os.environ["CXX"]]


def _pool(found: dict[str, Any]) -> ThreadPool:
    known = {n: found.get(n) or None for n in ("version", "threading_layer", "architecture")}
    return ThreadPool(
        user_api=found["user_api"],
        internal_api=found["internal_api"],
        library=Path(found["filepath"]).name,
        threads=found["num_threads"],
        **known,
        null_reasons=missing(known, because("not_told", by="the library")),
    )


def _gpu(line: str, cuda: str | None, no_cuda: Reason) -> Gpu:
    """Read one line of ``nvidia-smi``; ``[N/A]`` and the like are missing values."""
    model, driver, *rest = [field.strip() for field in line.split(",")]
    memory, capability, persistence, mig = (*rest, "", "", "", "")[:4]
    values: dict[str, Any] = {
        "cuda": cuda,
        "memory_bytes": int(memory) * _MIB if memory.isdecimal() else None,
        "compute_capability": capability if re.fullmatch(r"[\d.]+", capability) else None,
        "persistence": {"Enabled": True, "Disabled": False}.get(persistence),
        "mig": {"Enabled": True, "Disabled": False}.get(mig),
    }
    reasons = missing(values, because("not_told", by="the driver"))
    if cuda is None:
        reasons["cuda"] = no_cuda
    return Gpu(model=model, driver=driver, **values, null_reasons=reasons)


def _ptxas_files() -> list[tuple[_PtxasKind, Path]]:
    """Return each ``ptxas`` in the order in which a framework would come across them.

    Triton's ``ptxas-blackwell`` is none: it is called by that name, for one kind of GPU, and the
    ``ptxas`` beside it is an older one.
    """
    on_path = shutil.which("ptxas")
    found: list[tuple[_PtxasKind, Path]] = [] if on_path is None else [("path", Path(on_path))]
    toolkit = Path(os.environ.get("CUDA_HOME") or "/usr/local/cuda") / "bin/ptxas"
    found.append(("toolkit", toolkit))
    found.extend(("wheel", file) for file in _in_package("nvidia", "*/bin/ptxas"))
    found.extend(("triton", file) for file in _in_package("triton", "backends/nvidia/bin/ptxas"))
    once = {file.resolve(): (kind, file) for kind, file in reversed(found) if file.is_file()}
    return list(reversed(once.values()))


def _in_package(package: str, pattern: str) -> list[Path]:
    """Find files of an installed package without importing it."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    return [file for folder in folders or () for file in sorted(Path(folder).glob(pattern))]


def ptxas_search_path(path: str) -> str:
    """Return PATH with the newest ``ptxas`` first; unchanged where it is first already.

    Searched are PATH, the CUDA toolkit, and what the installed packages bring along.
    """
    versions = [(_ptxas_version(file)[0], file) for _, file in _ptxas_files()]
    known = [(tuple(map(int, v.split("."))), file) for v, file in versions if v is not None]
    if not known:
        return path
    newest = max(version for version, _ in known)
    chosen = next(file for version, file in known if version == newest)
    return path if chosen == known[0][1] else f"{chosen.parent}{os.pathsep}{path}"
