"""Work of a measured process, from its job to its last word."""

import os
import sys

from coldwarm import wire
from coldwarm.backends.base import DeviceUnavailableError
from coldwarm.wire import TYPE_CHECKING
from coldwarm.worker import candidate
from coldwarm.worker.candidate import Loop, Phases, Prepared, now_ns
from coldwarm.worker.loop import keep_freed_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from coldwarm.backends.base import Backend
    from coldwarm.worker.template import Template


_LONGEST = 400
"""Characters of an error's message that are passed on."""


def run(reader: int, writer: int, entered_ns: int) -> None:
    """Do the job that comes down the pipe; report on the other pipe; never raise."""
    job: dict[str, Any] = {}
    try:
        job = wire.decode_bare(wire.read_line(reader))
        if job.get("watch"):
            from coldwarm.frameworks import opened

            opened.watch(offline=job["watch"].get("offline", False))
        if job["role"] != "measure":
            reply = _answer({**job, "entered_ns": entered_ns})
            afterwards = reply.pop("afterwards", None)
            wire.write_all(writer, wire.encode(reply))
            if afterwards is not None:  # after its word, which is safe whatever happens here
                afterwards()
            return
        _measure(job, reader, writer, entered_ns)
    except wire.PipeClosedError:
        return  # the runner is gone, and so is everyone who wanted a result
    except DeviceUnavailableError as error:
        _fail(writer, _readable(str(error)), "")
    except BaseException as error:  # noqa: BLE001 - whatever a candidate raises is a result
        reason = _reason(error)
        line = _line(error, job.get("function", {}).get("path"))
        _fail(writer, reason, _traceback(error), line)


def _reason(error: BaseException) -> "dict[str, Any]":
    """Return what a candidate has raised as a reason."""
    first_line = (str(error).splitlines() or [""])[0]
    text = _readable(first_line)[:_LONGEST]
    coded: dict[str, Any] | None = getattr(error, "coded_reason", None)
    return coded or wire.because("exception", error=type(error).__name__, text=text)


def _answer(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Return the message that answers a job in which nothing is measured."""
    of_workload = job["role"] in {"reference", "make"}
    module = "coldwarm.worker.account" if of_workload else "coldwarm.functions.inspection"
    __import__(module)
    found: dict[str, Any] = sys.modules[module].answer(job)
    return found


def _fail(
    writer: int, reason: "str | dict[str, Any]", detail: str, line: "int | None" = None
) -> None:
    last = detail[-8000:]
    if len(last) < len(detail):  # of a secret that was cut, what is left could not be recognised
        last = last.partition("\n")[2]
    failed = {
        "type": "failed",
        "reason": reason,
        "detail": _readable(last),
        "line": line,
        "settings": _settings(),
        "missed": _missed(),
    }
    _flush()
    wire.write_all(writer, wire.encode(failed))


def _flush() -> None:
    """Let what the program printed be seen beside its failure, after which this process ends."""
    try:
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - the program may have put anything in its place
        return


def _missed() -> "list[str]":
    """Return files that were looked for and not found, where that was watched."""
    opened = sys.modules.get("coldwarm.frameworks.opened")
    return [] if opened is None else [_readable(name) for name in opened.missed()]


def _settings() -> "dict[str, Any] | None":
    """Return what may have been the cause; ``None`` where it cannot be read in this state."""
    try:
        from coldwarm.frameworks import settings

        return settings.found()
    except Exception:  # noqa: BLE001 - the error itself is what is to be told
        return None


def _line(error: BaseException, file: "str | None") -> "int | None":
    """Return the last line of a file that an error came through, ``None``: none of it."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _readable(text: str) -> str:
    """Return text with halves of surrogate pairs as escapes, so that it can be written."""
    return text.encode("utf-8", "backslashreplace").decode()


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))


def _measure(job: "Mapping[str, Any]", reader: int, writer: int, entered_ns: int) -> None:
    if job.get("allocator") == "keeps_memory":
        keep_freed_memory()
    backend = candidate.load_backend(job)
    workload = candidate.load_workload(job, backend)
    phases = Phases()
    loaded_ns = now_ns()
    templates: list[Template] = []

    def imported() -> None:
        if any(other["forks"] for other in job.get("shared") or ()):
            from coldwarm.worker import shared

            templates.extend(shared.template(backend, job, entered_ns, (reader, writer)))

    prepared, first, parts = _start(job, backend, workload, phases, imported)
    start_s = (now_ns() - entered_ns) / 1e9
    # The first result is there: from here on the harness may import what it likes.
    from coldwarm.worker import account, loop

    report = account.start(prepared, phases)
    report["counters"].update(account.loaded(job.get("made")))
    if job.get("watch"):
        from coldwarm.frameworks import opened

        report["counters"]["files"] = opened.told(job["watch"])
    report.update(type="start", entered_ns=entered_ns, loaded_ns=loaded_ns, parts=parts)
    report["loop"] = None if prepared.loop is None else prepared.loop.account()
    n_later = 0
    if not job["persistent"]:
        report.update(account.checked(prepared, first))
        del first
        wire.write_all(writer, wire.encode(report))
        end = account.end(prepared)
        wire.write_all(writer, wire.encode(end))
        if end["more"]:
            wire.read_line(reader)  # its caches are listed before anything else comes into them
    else:
        # To check takes arrays as large as the answer's, whose memory the warm calls would use
        # again. They are to find the heap as their own program leaves it.
        report.update(gate=None, input_sha256=None)
        wire.write_all(writer, wire.encode_bare(report))
        n_later = loop.serve(prepared, reader, writer)
        checked = account.checked(prepared, first)
        del first
        wire.write_all(writer, wire.encode({**account.end(prepared), "first": checked}))
    told = account.call_otherwise(prepared)
    if told is not None:
        wire.write_all(writer, wire.encode(told))
    for other in job.get("shared") or ():
        told = {**other, "n_later": n_later}
        wire.write_all(writer, wire.encode(_shared(prepared, told, start_s, templates)))
    for template in templates:
        template.end()
    sys.stdout.flush()
    os.close(writer)


def _shared(
    prepared: Prepared, other: "Mapping[str, Any]", start_s: float, templates: "list[Template]"
) -> "dict[str, Any]":
    """Return calls in turns with another candidate, or why there are none; never raise."""
    turns: list[dict[str, Any]] = []
    try:
        from coldwarm.worker import shared

        reason = shared.measure(prepared, other, start_s, turns, templates)
    except BaseException as error:  # noqa: BLE001 - whatever a candidate raises is a result
        reason = _reason(error)
    # What cannot be made anew was measured once.
    reason = None if turns else reason
    return {"type": "shared_calls", "other": other["case"], "turns": turns, "reason": reason}


def _start(
    job: "Mapping[str, Any]",
    backend: "Backend",
    workload: "Any",
    phases: Phases,
    imported: "Callable[[], None]",
) -> "tuple[Prepared, Any, Mapping[str, Any]]":
    """Go through the phases; return the candidate, its first output and the parts."""
    arrays, arguments, modules_before = candidate.set_up(backend, workload, job, phases, imported)
    del arrays
    if backend.builds:
        with phases("build"):
            arguments = backend.build()
    replaced = backend.prepares and backend.replaces
    builder = None if replaced else candidate.load_builder(workload, backend)
    with phases("wrap"):
        function = None if builder is None else builder(backend.wrap)
    prepared = Prepared(job, backend, workload, function, arguments)
    call = prepared.call
    backend.begin_call()
    with phases("first_call"):
        if backend.prepares:
            loaded = backend.load(job["made"])
            prepared.function = prepared.function if loaded is None else loaded
        first = call(arguments) if prepared.loop is None else prepared.loop.first(*arguments)
    backend.refuse_unfinished(first)
    parts = dict(backend.parts())
    first = backend.keep(first)
    if prepared.loop is not None:
        first = _rest(prepared.loop, first, backend, phases)
    arguments = prepared.fresh()
    with phases("second_call"):
        call(arguments)
    backend.refuse_pending()
    if job.get("new_shapes"):
        for number, further in enumerate(workload.further()):
            with phases(f"new_shape_{number + 1}"):
                call(further)
    backend.mark()
    if modules_before:
        parts["modules"] = modules_before
    return prepared, first, parts


def _rest(loop: Loop, first: "Any", backend: "Backend", phases: Phases) -> "list[Any]":
    """Go through the other steps of a scenario; return what all of them gave."""
    backend.begin_call()
    with phases("remaining_calls"):
        loop.remaining(first)
    loop.ended(backend.parts())
    return loop.taken()
