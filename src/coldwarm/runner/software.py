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
from coldwarm.contracts.reasons import Reason, because, missing

_PtxasKind = Literal["path", "toolkit", "wheel", "triton"]
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
        """What it said, or ``None`` and why; waits for its end."""
        if self._process is None:
            return None, self._problem
        try:
            out, err = self._process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            # Its children too: they would hold the pipe open.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            return None, because("no_answer", program=self._name, limit_s=TIMEOUT_S)
        if self._process.returncode != 0:
            last = (err.strip().splitlines() or [f"exit status {self._process.returncode}"])[-1]
            return None, self._failed(last[:200])
        return out.strip(), None


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


def thread_pools(asked: Inquiries, reasons: dict[str, Reason]) -> list[ThreadPool] | None:
    """Return the BLAS and OpenMP pools that come with NumPy."""
    text, problem = asked.pools.answer
    try:
        if text is not None:
            return [_pool(pool) for pool in json.loads(text)]
    except (ValueError, KeyError, TypeError) as error:
        problem = because("not_understood", program="threadpoolctl", text=repr(error))
    reasons["thread_pools"] = problem or asked.pools.silent
    return None


def compiler(asked: Inquiries, reasons: dict[str, Reason]) -> Compiler | None:
    """Return the C++ compiler that ``torch.compile`` would use."""
    text, _ = asked.compiler.answer
    if not text:
        reasons["compiler"] = asked.compiler.silent
        return None
    return Compiler(command=asked.compiler_command, version=text.splitlines()[0])


def gpus(asked: Inquiries, reasons: dict[str, Reason]) -> list[Gpu] | None:
    """Return the GPUs as the driver lists them; ``None`` where there is no driver."""
    text, _ = asked.gpus.answer
    if text is None:
        reasons["gpus"] = asked.gpus.silent
        return None
    stated = re.search(r"CUDA Version:\s*([\d.]+)", asked.driver.answer[0] or "")
    cuda = stated[1] if stated else None
    return [_gpu(line, cuda, asked.driver.silent) for line in text.splitlines() if line]


def ptxas(asked: Inquiries, reasons: dict[str, Reason]) -> list[Ptxas] | None:
    """Return each ``ptxas`` there is; not looked for on a machine without a GPU."""
    if asked.gpus.answer[0] is None:
        reasons["ptxas"] = because("no_driver")
        return None
    found = []
    for kind, file in ptxas_files():
        version, silent = _ptxas_version(file)
        missing = {} if version else {"version": silent}
        found.append(Ptxas(kind=kind, version=version, null_reasons=missing))
    return found


def _ptxas_version(file: Path) -> tuple[str | None, Reason]:
    """Return the version of a ``ptxas``, or ``None`` and why it does not tell one."""
    inquiry = _Inquiry([str(file), "--version"])
    version = re.search(r"release [\d.]+, V(\d+(?:\.\d+)*)", inquiry.answer[0] or "")
    return (version[1] if version else None), inquiry.silent


def harness(asked: Inquiries) -> Harness:
    """Return this coldwarm's version, and its commit where it runs from a checkout."""
    commit, problem = asked.commit.answer
    changes, _ = asked.changes.answer
    reasons = {}
    if asked.tracked.answer[0] is None:
        # Installed somewhere inside another project's checkout: that one's commit says
        # nothing about this code.
        commit, changes = None, None
        reasons = dict.fromkeys(("git_commit", "git_dirty"), problem or because("no_checkout"))
    if commit is None:
        reasons.setdefault("git_commit", asked.commit.silent)
    if changes is None:
        reasons.setdefault("git_dirty", asked.changes.silent)
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


def ptxas_files() -> list[tuple[_PtxasKind, Path]]:
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
    versions = [(_ptxas_version(file)[0], file) for _, file in ptxas_files()]
    known = [(tuple(map(int, v.split("."))), file) for v, file in versions if v is not None]
    if not known:
        return path
    newest = max(version for version, _ in known)
    chosen = next(file for version, file in known if version == newest)
    return path if chosen == known[0][1] else f"{chosen.parent}{os.pathsep}{path}"
