"""Begins to record in this process, and goes on in those that are forked from it."""

import atexit
import os
import sys
import threading
from functools import partial

from coldwarm.doctor import imports, sites
from coldwarm.doctor.calls import Calls
from coldwarm.doctor.failures import failed
from coldwarm.doctor.journal import Journal
from coldwarm.frameworks.awaited import Awaited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_begun: "list[Any]" = []
LOOKED_FOR = "COLDWARM_DOCTOR_PASS"
"""The variable that says what is looked for; without it, where the time goes."""


def begin(folder: str) -> None:
    """Record into a folder, from now until the process ends. A second call does nothing.

    Raises:
        OSError: the folder cannot be written to.
    """
    if _begun:
        return
    journal = Journal(folder)
    recorder = Recorder(journal)
    _begun.append(recorder)
    recorder.begin()


class Recorder:
    """What follows this process."""

    def __init__(self, journal: Journal) -> None:
        """Write into ``journal``."""
        self.journal = journal
        self.stages: Any = None
        self._calls = Calls(journal, lambda: self.stages)
        self._sees_calls = False

    def begin(self) -> None:
        """Follow imports, calls, and each framework from when it is there."""
        self._sees_calls = self._calls.begin()
        self._tell()
        imports.follow(self.journal)
        told = {"jax": self._jax, "torch._dynamo": self._torch, "numba": self._numba}
        if self._sees_calls:
            told["timeit"] = self._calls.timeit_is_here
        Awaited(
            {name: partial(_quietly, self.journal, tell) for name, tell in told.items()}
        ).begin()
        atexit.register(_quietly, self.journal, self._end)
        os.register_at_fork(after_in_child=self._forked)

    def _tell(self) -> None:
        self.journal.write(
            "process",
            pid=os.getpid(),
            parent=os.getppid(),
            thread=threading.get_ident(),
            argv=sys.orig_argv,
            folder=os.getcwd(),
            python=sys.version.split()[0],
            sees_calls=self._sees_calls,
        )

    def _jax(self) -> None:
        from coldwarm.doctor.jax_stages import JaxStages
        from coldwarm.frameworks.base import versions

        self.stages = JaxStages(self.journal)
        self.stages.begin()
        if os.environ.get(LOOKED_FOR) == "keys":
            from coldwarm.doctor.keys import Keys

            Keys(self.journal).begin()
        if self._sees_calls:
            self._calls.jax_is_here()
            self.stages.compiled = self._calls.ask_again
        self.journal.write("framework", name="jax", versions=versions("jax", "jaxlib", "numpy"))

    def _torch(self) -> None:
        from coldwarm.doctor.torch_compiles import TorchCompiles
        from coldwarm.frameworks.base import versions

        TorchCompiles(self.journal).begin()
        self.journal.write("framework", name="torch", versions=versions("torch"))

    def _numba(self) -> None:
        from coldwarm.doctor.numba_compiles import NumbaCompiles
        from coldwarm.frameworks.base import versions

        NumbaCompiles(self.journal).begin()
        self.journal.write("framework", name="numba", versions=versions("numba", "llvmlite"))

    def _forked(self) -> None:
        try:
            self.journal.reopen()
            self._calls.forget()
            if self.stages is not None:
                self.stages.forget()
            self._tell()
        except Exception as error:
            failed(self.journal, error)

    def _end(self) -> None:
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if error is not None:
            self.journal.write("error", **told(error))
        spent_ns = self.stages.spent_ns if self.stages else 0
        self.journal.write("end", doctor_s=spent_ns / 1e9)


def _quietly(journal: Journal, tell: "Callable[[], object]") -> None:
    """Do what may fail with a version that is not known: it must not become the program's."""
    try:
        tell()
    except Exception as error:
        failed(journal, error)


def told(error: BaseException) -> "dict[str, Any]":
    """Return an error that ended the program: its class, the user's lines, what it went through."""
    stack: list[sites.Site] = []
    inside: list[str] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if sites.is_users(code):
            place = os.path.abspath(code.co_filename), trace.tb_lineno, code.co_qualname
            stack.insert(0, place)
        else:
            inside.append(code.co_name)
        trace = trace.tb_next
    return {"error": type(error).__name__, "stack": stack[: sites.MOST], "inside": inside[-32:]}
