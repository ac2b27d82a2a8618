"""What only other programs know: thread pools, compiler, GPUs, ``ptxas``, git.

All are started at once and read afterwards. Each has a time limit, after which it is
killed and its answer is missing with that reason.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple

import coldwarm
from coldwarm.contracts.environment import Compiler, Gpu, Harness, Ptxas, ThreadPool
from coldwarm.runner.machine.variables import redact

PtxasKind = Literal["path", "toolkit", "wheel", "triton"]
TIMEOUT_S = 10.0
"""Longest wait for one answer, seconds; a driver that wakes up may take a few."""
_PACKAGE = Path(coldwarm.__file__).resolve().parent
_MIB = 2**20

_POOLS = "import json, numpy, threadpoolctl; print(json.dumps(threadpoolctl.threadpool_info()))"
_GPU_FIELDS = "name,driver_version,memory.total,compute_cap,persistence_mode,mig.mode.current"


class _Inquiry:
    """A program that was asked something and answers on its standard output."""

    def __init__(self, command: list[str]) -> None:
        self._name = Path(command[0]).name
        self._problem = ""
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
            self._problem = f"no {self._name} on PATH"
        except OSError as error:
            self._problem = f"{self._name} cannot be run: {error.strerror}"

    @functools.cached_property
    def answer(self) -> tuple[str | None, str]:
        """What it said, or ``None`` and why; waits for its end."""
        if self._process is None:
            return None, self._problem
        try:
            out, err = self._process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            # Its children too: they would hold the pipe open.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            return None, f"{self._name} did not answer within {TIMEOUT_S:g} s"
        if self._process.returncode != 0:
            last = (err.strip().splitlines() or [f"exit status {self._process.returncode}"])[-1]
            return None, f"{self._name} failed: {redact(last[:200], str(Path.home()))}"
        return out.strip(), ""


class Inquiries(NamedTuple):
    """What was asked at once."""

    pools: _Inquiry
    compiler: _Inquiry
    compiler_command: str
    gpus: _Inquiry
    driver: _Inquiry
    commit: _Inquiry
    changes: _Inquiry
    tracked: _Inquiry

    def wait(self) -> None:
        """Wait for every answer, asked for or not, so that no process is left behind."""
        for inquiry in self:
            if isinstance(inquiry, _Inquiry):
                _ = inquiry.answer


def start() -> Inquiries:
    """Ask everything at once."""
    command = _compiler_command()
    gpu = [f"--query-gpu={_GPU_FIELDS}", "--format=csv,noheader,nounits"]
    git = ["git", "-C", str(_PACKAGE)]
    return Inquiries(
        pools=_Inquiry([sys.executable, "-c", _POOLS]),
        compiler=_Inquiry([*command, "--version"]),
        compiler_command=" ".join(command),
        gpus=_Inquiry(["nvidia-smi", *gpu]),
        driver=_Inquiry(["nvidia-smi"]),
        commit=_Inquiry([*git, "rev-parse", "--show-toplevel", "HEAD"]),
        changes=_Inquiry([*git, "status", "--porcelain", "--", str(_PACKAGE)]),
        tracked=_Inquiry([*git, "ls-files", "--error-unmatch", "__init__.py"]),
    )


def answer(command: list[str]) -> str | None:
    """Return what a program says, ``None`` where it says nothing or is not there."""
    return _Inquiry(command).answer[0] or None


def thread_pools(asked: Inquiries, reasons: dict[str, str]) -> list[ThreadPool] | None:
    """Return the BLAS and OpenMP pools that come with NumPy."""
    text, why = asked.pools.answer
    try:
        return None if text is None else [_pool(found) for found in json.loads(text)]
    except (ValueError, KeyError, TypeError) as error:
        why = f"the answer of threadpoolctl was not understood: {error!r}"
        return None
    finally:
        if why:
            reasons["thread_pools"] = why


def compiler(asked: Inquiries, reasons: dict[str, str]) -> Compiler | None:
    """Return the C++ compiler that ``torch.compile`` would use."""
    text, why = asked.compiler.answer
    if not text:
        reasons["compiler"] = why or "the compiler does not give its version"
        return None
    command = redact(asked.compiler_command, str(Path.home()))
    return Compiler(command=command, version=text.splitlines()[0])


def gpus(asked: Inquiries, reasons: dict[str, str]) -> list[Gpu] | None:
    """Return the GPUs as the driver lists them; ``None`` where there is no driver."""
    text, why = asked.gpus.answer
    overview, no_overview = asked.driver.answer
    if text is None:
        reasons["gpus"] = why
        return None
    cuda = re.search(r"CUDA Version:\s*([\d.]+)", overview or "")
    why = "" if cuda else no_overview or "nvidia-smi does not state a CUDA version"
    return [_gpu(line, cuda[1] if cuda else None, why) for line in text.splitlines() if line]


def ptxas(asked: Inquiries, reasons: dict[str, str]) -> list[Ptxas] | None:
    """Return each ``ptxas`` there is; not looked for on a machine without a GPU."""
    if asked.gpus.answer[0] is None:
        reasons["ptxas"] = "not looked for: no NVIDIA driver here"
        return None
    found = []
    for kind, file in ptxas_files():
        text, why = _Inquiry([str(file), "--version"]).answer
        version = re.search(r"release [\d.]+, V([\d.]+)", text or "")
        missing = {} if version else {"version": why or "its answer names no version"}
        found.append(
            Ptxas(kind=kind, version=version[1] if version else None, null_reasons=missing)
        )
    return found


def harness(asked: Inquiries) -> Harness:
    """Return this coldwarm's version, and its commit where it runs from a checkout."""
    commit, why = asked.commit.answer
    changes, why_not = asked.changes.answer
    tracked, _ = asked.tracked.answer
    if tracked is None:
        # Installed somewhere inside another project's checkout: that one's commit says
        # nothing about this code.
        commit, changes = None, None
        why = why_not = why or "coldwarm does not run from a checkout of its own"
    reasons = {}
    if commit is None:
        reasons["git_commit"] = why
    if changes is None:
        reasons["git_dirty"] = why_not
    return Harness(
        version=coldwarm.__version__,
        git_commit=None if commit is None else commit.splitlines()[-1],
        git_dirty=None if changes is None else bool(changes),
        null_reasons=reasons,
    )


def _compiler_command() -> list[str]:
    default = "clang++" if sys.platform == "darwin" else "g++"
    try:
        return shlex.split(os.environ.get("CXX", "")) or [default]
    except ValueError:
        return [os.environ["CXX"]]


def _pool(found: dict[str, Any]) -> ThreadPool:
    reasons = {
        name: "the library does not say"
        for name in ("version", "threading_layer", "architecture")
        if not found.get(name)
    }
    return ThreadPool(
        user_api=found["user_api"],
        internal_api=found["internal_api"],
        library=Path(found["filepath"]).name,
        version=found.get("version"),
        threads=found["num_threads"],
        threading_layer=found.get("threading_layer"),
        architecture=found.get("architecture"),
        null_reasons=reasons,
    )


def _gpu(line: str, cuda: str | None, no_cuda: str) -> Gpu:
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
    reasons = {name: "the driver does not say" for name, value in values.items() if value is None}
    if cuda is None:
        reasons["cuda"] = no_cuda
    return Gpu(model=model, driver=driver, **values, null_reasons=reasons)


def ptxas_files() -> list[tuple[PtxasKind, Path]]:
    """Return each ``ptxas`` in the order in which a framework would come across them."""
    on_path = shutil.which("ptxas")
    found: list[tuple[PtxasKind, Path]] = [] if on_path is None else [("path", Path(on_path))]
    toolkit = Path(os.environ.get("CUDA_HOME") or "/usr/local/cuda") / "bin/ptxas"
    found.append(("toolkit", toolkit))
    found.extend(("wheel", file) for file in _in_package("nvidia", "*/bin/ptxas"))
    found.extend(("triton", file) for file in _in_package("triton", "backends/nvidia/bin/ptxas*"))
    once = {file.resolve(): (kind, file) for kind, file in reversed(found) if file.is_file()}
    return list(reversed(once.values()))


def _in_package(package: str, pattern: str) -> list[Path]:
    """Find files of an installed package without importing it."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    return [file for folder in folders or () for file in sorted(Path(folder).glob(pattern))]
