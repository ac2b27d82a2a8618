"""The command in a process of its own that need not load it first.

Loading takes half a second, again in each of a thousand processes. So one process of the session
loads every module of the command line, and each command that a test calls is a fork of it: with its
own process group, folder, variables, streams and signals, and an end of its own. Where variables
are given that only the start of an interpreter obeys (`PYTHON…`, the language), one is started.
A test that sends signals, or gives a terminal or a closed pipe, calls `subprocess` itself.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCE = Path(__file__).resolve().parents[1] / "src"
_UNLOADED = {
    # What measures or is measured is loaded by the processes that do.
    *("backends", "claims", "doctor", "frameworks", "functions", "patterns", "worker", "workloads"),
    *("__main__", "testing", "pytest_plugin"),
}
"""Names of packages and modules that commands do not load."""
_BY_START = (
    *("PYTHON", "LC_", "LANG", "TERM", "LD_", "MALLOC", "GITHUB_ACTIONS", "TZ"),
    *("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "BROKEN", "COVERAGE"),
)
_TAKEN_LATER = {
    *("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONFAULTHANDLER"),
    "PYTHONHASHSEED",  # for what the command starts
}
_COMMAND = ["-m", "coldwarm"]
_PIPE_BYTES = 65536


def coldwarm(
    *arguments: object,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m coldwarm`` to its end.

    Raises:
        subprocess.TimeoutExpired: it, or what it started, has kept its output open for too long.
    """
    line = [sys.executable, "-m", "coldwarm", *map(str, arguments)]
    done = python(line, cwd=cwd, env=env, timeout_s=timeout_s)
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def python(  # noqa: PLR0913 - as many as there are ways to start a program
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    loaded: bool = False,
    timeout_s: float = 120.0,
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end; fork it where it is ``python -m coldwarm …``.

    ``loaded`` forks ``python -c …`` too, which finds every module of the command loaded.

    Raises:
        subprocess.TimeoutExpired: it, or what it started, has kept its output open for too long.
    """
    variables = dict(os.environ if env is None else env)
    is_command = command[0] == sys.executable and list(command[1:3]) == _COMMAND
    forked = loaded or (is_command and _is_forkable(variables))
    if not forked or len(stdin) > _PIPE_BYTES:
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            check=False,
            cwd=cwd,
            env=variables,
            timeout=timeout_s,
            start_new_session=True,
        )
    request = {"line": list(command[1:]), "cwd": str(cwd or Path.cwd()), "env": variables}
    given, out, err = os.pipe(), os.pipe(), os.pipe()
    os.write(given[1], stdin)
    os.close(given[1])
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(_server())
        theirs = [given[0], out[1], err[1]]
        socket.send_fds(connection, [b"."], theirs)
        connection.sendall(json.dumps(request).encode() + b"\n")
        for one in theirs:
            os.close(one)
        with connection.makefile("rb") as replies:
            process = int(replies.readline())
            try:
                printed = _read(out[0], err[0], timeout_s)
                connection.settimeout(timeout_s)
                code = int(replies.readline())
            except TimeoutError:
                os.killpg(process, signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout_s) from None
            finally:
                os.close(out[0])
                os.close(err[0])
    return subprocess.CompletedProcess(command, code, *printed)


def _is_forkable(variables: Mapping[str, str]) -> bool:
    """Say whether nothing is asked for that is settled as an interpreter starts."""

    def settled(given: Mapping[str, str]) -> dict[str, str]:
        return {k: v for k, v in given.items() if k.startswith(_BY_START) and k not in _TAKEN_LATER}

    paths = variables.get("PYTHONPATH", "").split(os.pathsep)
    customized = any((Path(path) / "sitecustomize.py").exists() for path in paths if path)
    return settled(variables) == settled(os.environ) and not customized


def _read(out: int, err: int, timeout_s: float) -> tuple[bytes, bytes]:
    """Return what comes until both are closed."""
    parts: dict[int, list[bytes]] = {out: [], err: []}
    with selectors.DefaultSelector() as selector:
        for one in parts:
            selector.register(one, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(timeout_s)
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                found = os.read(key.fd, _PIPE_BYTES)
                parts[key.fd].append(found)
                if not found:
                    selector.unregister(key.fd)
    return b"".join(parts[out]), b"".join(parts[err])


@functools.cache
def _server() -> str:
    """Start the process that has loaded the command; return its address."""
    folder = tempfile.TemporaryDirectory(prefix="started-")
    address = str(Path(folder.name) / "s")
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    # A process that is forked has one thread.
    variables |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, __file__, address],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def end() -> None:
        process.communicate()
        folder.cleanup()

    atexit.register(end)
    assert process.stdout.readline(), "the command cannot be loaded"
    return address


class _Server:
    """What forks, tells each command's process id, and its status when it has ended."""

    def __init__(self, address: str) -> None:
        """Listen."""
        self.path = [part for part in sys.path if part != str(Path(__file__).parent)]
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(address)
        self.listening.listen()
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ)
        self.selector.register(self.listening, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve until standard input is closed."""
        while True:
            for key, _ in self.selector.select():
                if key.fd == 0:
                    return
                if key.fileobj is self.listening:
                    self._begin(self.listening.accept()[0])
                else:
                    self._ended(key.fd, *key.data)

    def _begin(self, connection: socket.socket) -> None:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        with connection.makefile("rb") as lines:
            request = json.loads(lines.readline())
        process = os.fork()
        if process == 0:
            self.listening.close()
            connection.close()
            self.selector.close()
            _be(request, streams, self.path)
        for one in streams:
            os.close(one)
        connection.sendall(b"%d\n" % process)
        self.selector.register(
            os.pidfd_open(process), selectors.EVENT_READ, data=(process, connection)
        )

    def _ended(self, number: int, process: int, connection: socket.socket) -> None:
        self.selector.unregister(number)
        os.close(number)
        _, status = os.waitpid(process, 0)
        with connection:
            try:
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            except BrokenPipeError:  # it was killed, and nobody waits any more
                return


def _be(request: dict[str, Any], streams: list[int], path: list[str]) -> None:
    """Become the process that was asked for; never return."""
    os.setsid()
    for number, one in enumerate(streams):
        os.dup2(one, number)
        os.close(one)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc] # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[misc] # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # type: ignore[misc] # noqa: SIM115
        2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    tempfile.tempdir = None
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    added = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    kind, what, *arguments = request["line"]
    sys.path[:] = [request["cwd"] if kind == "-m" else "", *added, *path]
    sys.path_importer_cache.clear()
    code = 0
    try:
        if kind == "-c":
            sys.argv[:] = ["-c", *arguments]
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - as `-c` does
        else:
            from coldwarm.cli import main

            assert what == "coldwarm"
            sys.argv[:] = [str(SOURCE / "coldwarm" / "__main__.py"), *arguments]
            main.main()
    except SystemExit as error:
        given = error.code
        code = given if isinstance(given, int) else int(given is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter ends
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code & 0xFF)


def _load() -> None:
    """Load what commands load."""
    import importlib
    import pkgutil

    def load(package: str) -> None:
        for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
            name = f"{package}.{found.name}"
            if found.name not in _UNLOADED:
                importlib.import_module(name)
                if found.ispkg:
                    load(name)

    load("coldwarm")
    load("detect_secrets.plugins")


if __name__ == "__main__":
    _load()
    server = _Server(sys.argv[1])
    gc.collect()
    gc.freeze()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    server.serve()
