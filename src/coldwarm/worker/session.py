"""What a measured process does, from its job to its last word."""

import os
import sys

from coldwarm import wire
from coldwarm.backends.base import DeviceUnavailableError
from coldwarm.worker import load
from coldwarm.worker.phases import Phases, now_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

    from coldwarm.backends.base import Backend


def run(reader: int, writer: int, entered_ns: int) -> None:
    """Do the job that comes down the pipe; report on the other pipe; never raise."""
    try:
        job = wire.decode_bare(wire.read_line(reader))
        if job["role"] == "reference":
            from coldwarm.worker import reference

            wire.write_all(writer, wire.encode(reference.compute(job)))
            return
        _measure(job, reader, writer, entered_ns)
    except wire.PipeClosedError:
        return  # the runner is gone, and so is everyone who wanted a result
    except DeviceUnavailableError as error:
        _fail(writer, str(error), "")
    except BaseException as error:  # noqa: BLE001 - whatever a candidate raises is a result
        _fail(writer, f"exception: {type(error).__name__}: {error}", _traceback(error))


def _fail(writer: int, reason: str, detail: str) -> None:
    first_line = (reason.splitlines() or ["no message"])[0][:400]
    said = {"type": "failed", "reason": _readable(first_line), "detail": _readable(detail[-8000:])}
    wire.write_all(writer, wire.encode(said))


def _readable(text: str) -> str:
    """Return text with halves of surrogate pairs as escapes, so that it can be written."""
    return text.encode("utf-8", "backslashreplace").decode()


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))


class Prepared:
    """A candidate after its first two calls."""

    def __init__(
        self,
        job: "Mapping[str, Any]",
        backend: "Backend",
        function: "Callable[..., Any]",
        arguments: "tuple[Any, ...]",
    ) -> None:
        """Keep what the warm calls need."""
        self.job = job
        self.backend = backend
        self.function = function
        self.arguments = arguments
        self.reference_path: str | None = job["reference"]

    def call(self) -> "Any":
        """Call once and return the finished output."""
        out = self.function(*self.arguments)
        if not self.backend.synchronous:
            self.backend.sync(out)
        return out


def _measure(job: "Mapping[str, Any]", reader: int, writer: int, entered_ns: int) -> None:
    backend = load.backend(job)
    workload = load.module(job["workload"])
    phases = Phases()
    loaded_ns = now_ns()
    prepared, first, parts = _start(job, backend, workload, phases)
    # The first result is there: from here on the harness may import what it likes.
    from coldwarm.worker import account, warm

    report = account.start(prepared, first, phases)
    report.update(type="start", entered_ns=entered_ns, loaded_ns=loaded_ns, parts=parts)
    del first
    wire.write_all(writer, wire.encode(report))
    if job["persistent"]:
        warm.serve(prepared, reader, writer)
    wire.write_all(writer, wire.encode(account.end(prepared)))
    sys.stdout.flush()
    os.close(writer)


def _start(
    job: "Mapping[str, Any]", backend: "Backend", workload: "ModuleType", phases: Phases
) -> "tuple[Prepared, Any, Mapping[str, Any]]":
    """Go through the phases; return the candidate, its first output and the parts."""
    with phases("import"):
        backend.import_runtime()
    modules_before = job["list_modules"] and list(sys.modules)
    with phases("device_init"):
        backend.device_init()
    backend.watch()
    with phases("setup"):
        from numpy.random import default_rng

        rng = default_rng(job["seed"])
        arrays = workload.inputs(rng, job["size"], job["numpy_dtype"])
        arguments = backend.place(arrays)
    del arrays
    builder = load.candidate(workload, backend.name, backend.framework)
    with phases("wrap"):
        function = builder(backend.wrap)
    prepared = Prepared(job, backend, function, arguments)
    call = prepared.call
    backend.begin_call()
    with phases("first_call"):
        first = call()
    parts = dict(backend.parts())
    with phases("second_call"):
        call()
    if modules_before:
        parts["modules"] = modules_before
    return prepared, first, parts
