"""The one place that ends the process, with a code that says why.

Whatever goes wrong inside, while modules are loaded too, is one line and the code 70: 1 is a
verdict's. So nothing is imported here but what every Python has loaded.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    import rich_click as click

    cli: click.RichGroup

_INTERNAL, _INTERRUPTED, _BROKEN_PIPE = 70, 130, 141
"""As ``coldwarm.errors.ExitCode`` has them, which may be what cannot be loaded."""
_FULL = {errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG}
"""Errors of a place that takes no more."""
_LONGEST = 300
"""Characters of an error's message that are shown."""


def __getattr__(name: str) -> object:
    """Load the tree of commands on first use.

    Raises:
        AttributeError: there is no such name.
    """
    if name != "cli":
        text = f"module 'coldwarm.cli.main' has no attribute {name!r}"
        raise AttributeError(text)
    from coldwarm.cli import _tree

    return _tree.cli


def main() -> None:
    """Run the command line and exit with its code."""
    code = _INTERNAL
    try:
        _interrupted_by_all()
        code = _coded()
        code = _flushed(code)
    except KeyboardInterrupt:  # once more, while the first was told
        code = _INTERRUPTED
    except BaseException:  # noqa: BLE001 - not even telling what went wrong has succeeded
        code = _INTERNAL
    if code < 0:
        _end_by(-code)
    sys.exit(code if code >= 0 else 128 - code)


def _interrupted_by_all() -> None:
    """Let SIGTERM and SIGHUP end every command as Ctrl-C does, so that nothing is left behind.

    Whoever started this process may have it ignore one (``nohup``), which then is ignored on.
    """
    import signal

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _end_by(number: int) -> None:
    """End by the signal that has ended a program which was run, so that a parent sees the same.

    It leaves no second picture of memory, and returns where the signal ends nothing.
    """
    import atexit
    import resource
    import signal

    atexit._run_exitfuncs()  # noqa: SLF001 - a signal skips them, and they remove what is temporary
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)


def _coded() -> int:
    """Run the command; return its code, whatever happens in it."""
    try:
        _open_streams()
        from coldwarm.cli import _tree

        return int(_tree.run())
    except KeyboardInterrupt:
        _say("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        return _BROKEN_PIPE
    except SystemExit as error:
        return _left(error)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is no verdict
        if isinstance(error, OSError) and _of_output(error):
            _unwritten(error)
            return _INTERNAL
        return _failed(error)


def _of_output(error: OSError) -> bool:
    """Say whether it was standard output that failed: what prints there raised the error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    package = trace.tb_frame.f_globals.get("__name__", "").partition(".")[0]
    return package in {"click", "rich"} and error.errno in _FULL


def _unwritten(error: OSError) -> None:
    """Say that the output is lost; what is left of it is to fail no more."""
    _nowhere(1)
    _say(
        f"cannot write to standard output: {error.strerror}; free some space there, "
        "or send the output elsewhere"
    )


def _nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _open_streams() -> None:
    """Open the standard streams that are closed: pipes would be given their numbers."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # tables have lines that not every terminal has
            stream.reconfigure(errors="replace")  # type: ignore[union-attr] # of a captured stream


def _left(error: SystemExit) -> int:
    """Return the code where something inside has asked to end: a pipe, a shell, someone's code."""
    context: BaseException | None = error
    while context is not None:
        if isinstance(context, BrokenPipeError):  # where rich ends with 1
            return _BROKEN_PIPE
        context = context.__context__
    return 0 if "_COLDWARM_COMPLETE" in os.environ else _failed(error)


def _failed(error: BaseException) -> int:
    """Say in one line what went wrong inside, and where the whole of it is written."""
    damaged = _damaged_bytecode(error)
    if damaged is not None:
        _say(
            f"{damaged} was only half written, on a full disk perhaps, and has been removed; "
            "run the command again"
        )
        return _INTERNAL
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("coldwarm"):
        _say(f"{_masked(str(error.name))} is not installed, which coldwarm needs; install it again")
        return _INTERNAL
    text = _masked(f"{type(error).__name__}: {error}".removesuffix(": "))[:_LONGEST]
    _say(f"internal error: {text}; {_written(error)}")
    return _INTERNAL


def _masked(text: str) -> str:
    """Return a text without what is private; where that cannot be told, nothing of it."""
    try:
        from coldwarm.masking import masked

        return masked(text)
    except BaseException:  # noqa: BLE001 - what is to be told is another error
        return "an error"


def _damaged_bytecode(error: BaseException) -> str | None:
    """Remove the file of bytecode that could not be loaded; return its path."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
        frame = trace.tb_frame
        if frame.f_code.co_name == "get_code" and "importlib" in frame.f_code.co_filename:
            path = frame.f_locals.get("bytecode_path")
            if trace.tb_next is not None and path and os.path.exists(path):  # noqa: PTH110 - no pathlib
                with suppress(OSError):
                    os.unlink(path)  # noqa: PTH108 - likewise
                    return str(path)
    return None


def _written(error: BaseException) -> str:
    """Write the traceback into a file of its own; return the words that name it."""
    try:
        import tempfile
        import traceback

        from coldwarm.masking import masked

        text = masked("".join(traceback.format_exception(error)))
        number, path = tempfile.mkstemp(prefix="coldwarm-error-", suffix=".txt")
        try:
            _write_all(number, text.encode("utf-8", "backslashreplace"))
        except OSError:
            os.unlink(path)  # noqa: PTH108 - no pathlib
            raise
        finally:
            os.close(number)
    except Exception as second:  # noqa: BLE001 - the one line is still to be said
        return f"its traceback cannot be written: {type(second).__name__}: {second}"
    return f"its traceback is in {path}"


def _write_all(number: int, data: bytes) -> None:
    while data:
        data = data[os.write(number, data) :]


def _say(text: str) -> None:
    """Write one line to standard error, if anyone can be told."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    with suppress(OSError):
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()
        _write_all(2, f"coldwarm: {line}\n".encode("utf-8", "backslashreplace"))


def _flushed(code: int) -> int:
    """Write out what is left to be written; return the code, another where that fails.

    A stream that failed leads nowhere afterwards, or Python would fail on it once more.
    """
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError as error:
            _nowhere(number)
            if isinstance(error, BrokenPipeError):
                code = _BROKEN_PIPE
            elif number == 1:
                _unwritten(error)
                code = _INTERNAL
    return code
