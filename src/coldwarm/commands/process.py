"""One start of a command, from outside: until it is ready, and then until it has ended.

It runs in a session of its own under the guard of the run, so that nothing that it has started is
left, whatever happens here.
"""

from __future__ import annotations

import http.client
import os
import selectors
import shlex
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import psutil

from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.runner.spawn import ProcessFailedError, describe_exit, starting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.commands import ReadyKind
    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.spawn import Guard

_LOOKS_S = 0.002
"""Between two looks at a port, an address or a file."""
_CHUNK_BYTES, _KEPT_BYTES, _TAIL_BYTES = 1 << 16, 1 << 20, 1 << 14
_READS_S, _STOPS_S, _ENDS_S = 5.0, 10.0, 1.0
"""Time for the last of its output, for a command to end when it was asked to, and for what it has
started to end with it."""
_ANSWERS_S, _PATIENCE_S = 1.0, 300.0
"""For an answer: before it is ready, and of a request that is timed."""
_WELL = range(200, 400)
"""Statuses of an answer with which a server is ready."""
_OF_SHELL = frozenset("|&;<>()$`\\*?[#~\n")
"""Signs that a shell gives a meaning to."""


def argv(command: str) -> list[str]:
    """Return a command as a list: of the shell, where it has signs that this gives a meaning to.

    Raises:
        UsageError: it is empty, or a quote is not closed.
    """
    try:
        parts = shlex.split(command)
    except ValueError:
        raise UsageError(f"{command!r:.60}: a quote is open; close it") from None
    if not parts:
        raise UsageError("--command is empty; write it as in a shell: --command 'python serve.py'")
    if _OF_SHELL & set(command) or "=" in parts[0]:
        return ["sh", "-c", command]
    return parts


def _instead(name: str) -> str:
    """Return what to type instead of a program that is not there."""
    if ".py:" in name:
        return f"a function is measured by: coldwarm bench {name}"
    return f"write: python {name}" if name.endswith(".py") else "name a program that is there"


@dataclass(frozen=True)
class Ready:
    """By what a command is taken to be ready."""

    kind: ReadyKind = "end"
    what: str = ""
    """A part of the line, the address, ``HOST:PORT``, or the name of the file."""

    def place(self) -> tuple[str, int]:
        """Return host and port of an address.

        Raises:
            UsageError: it has none.
        """
        place = _place(self.what if self.kind == "http" else f"tcp://{self.what}")
        if place is None:
            example = "http://127.0.0.1:8000/" if self.kind == "http" else "127.0.0.1:8000"
            raise UsageError(f"{self.what!r:.60} is no such address; write it as {example}")
        return place

    def refuse_early(self) -> None:
        """Refuse what would be ready before the command has begun.

        Raises:
            UsageError: something else answers there, or the file is there.
        """
        if self.kind in {"http", "tcp"} and _is_open(self.place()):
            text = f"{self.what}: something answers there before the command has begun; end it"
            raise UsageError(f"{text}, or use another port")
        if self.kind == "file" and Path(self.what).exists():
            text = f"{self.what} is there before the command has begun; remove it"
            raise UsageError(f"{text}, by --prepare before each start")

    def is_there(self, printed: bytes) -> bool:
        """Say whether the sign is there."""
        if self.kind == "log":
            return os.fsencode(self.what) in printed
        if self.kind == "tcp":
            return _is_open(self.place())
        if self.kind == "http":
            return _status(self.what) in _WELL
        return self.kind == "file" and Path(self.what).exists()


def _place(address: str) -> tuple[str, int] | None:
    """Return host and port of an address; ``None``: it has none, or asks for no HTTP."""
    if not address.isascii() or not address.isprintable() or " " in address:
        return None
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.hostname, port) if parts.hostname and port else None


_PORTS = {"http": 80, "https": 443, "tcp": 0}


def _is_open(place: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(place, _ANSWERS_S) as made:
            # Where nobody listens, the kernel may connect a port with itself.
            return bool(made.getsockname() != made.getpeername())
    except (OSError, ValueError):
        return False


def _status(url: str, patience_s: float = _ANSWERS_S, *, whole: bool = False) -> int | None:
    """Return the status of an answer; ``None``: there is none. ``whole``: read to its end."""
    ends_s = time.perf_counter() + patience_s
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=patience_s)
    try:
        connection.request("GET", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        answer = connection.getresponse()
        while whole and answer.read1(_CHUNK_BYTES):
            if time.perf_counter() > ends_s:
                return None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return answer.status


class Ended(NamedTuple):
    """How a command ended."""

    wall_s: float
    status: int
    """Negative: the signal that ended it."""
    notes: list[Reason]


@dataclass
class CommandProcess:
    """A command that runs."""

    command: str
    variables: Mapping[str, str]
    guard: Guard
    _printed: bytes = b""
    """Its last output; a thread reads it all the time, so that no full pipe holds it up."""
    _prints: bool = True
    _ended: Ended | None = None
    ended_by_itself: bool = False
    """Whether it had ended before it was asked to."""
    _notes: list[Reason] = field(default_factory=list)
    _killed: bool = False

    def __post_init__(self) -> None:
        """Start it; the clock is read just before.

        Raises:
            UsageError: there is no such program.
        """
        parts = argv(self.command)
        self.spawned_s = time.perf_counter()
        try:
            with starting():  # one that nobody knew would be left where somebody interrupts
                self._process = subprocess.Popen(  # noqa: S603 - the command that the user names
                    parts,
                    env=dict(self.variables),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self.guard.add(self._process.pid)
        except OSError as error:
            text = f"{parts[0]} cannot be started: {error.strerror}"
            raise UsageError(f"{text}; {_instead(parts[0])}") from None
        self.pid = self._process.pid
        self._label = self.guard.label(self.pid)
        self._pidfd = os.pidfd_open(self.pid)
        self._news, told = os.pipe()
        self._reader = Thread(target=self._read, args=(told,), daemon=True)
        self._reader.start()

    @property
    def output_tail(self) -> str:
        """The last whole lines of what it printed."""
        tail = self._printed[-_TAIL_BYTES:]
        if len(self._printed) > len(tail):  # of a secret that was cut, nobody would know the rest
            tail = tail.partition(b"\n")[2]
        return tail.decode(errors="replace")

    def until(self, ready: Ready, timeout_s: float) -> float:
        """Wait until it is ready; return the seconds since its start.

        Raises:
            ProcessFailedError: it ended before that, or too late. It is dead by then.
        """
        ends_s = self.spawned_s + timeout_s
        looks = ready.kind in {"http", "tcp", "file"}
        while (now_s := time.perf_counter()) < ends_s:
            if ready.kind != "end" and ready.is_there(self._printed):
                return time.perf_counter() - self.spawned_s
            if self._wait(min(ends_s - now_s, _LOOKS_S if looks else ends_s - now_s)):
                return self._at_its_end(ready)
        self.kill()
        raise ProcessFailedError(because("timeout", limit_s=timeout_s), self.output_tail)

    def _at_its_end(self, ready: Ready) -> float:
        ended = self.wait()
        if ready.kind != "end":
            last = ready.kind in {"log", "file"} and ready.is_there(self._printed)
            if last and not ended.status:
                return ended.wall_s
            reason = because("ended_before_ready", status=str(ended.status))
            raise ProcessFailedError(reason, self.output_tail)
        if ended.status:
            raise ProcessFailedError(describe_exit(ended.status), self.output_tail)
        return ended.wall_s

    def _wait(self, seconds: float) -> bool:
        """Wait for its end; False: the time is over, or it has printed something."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._pidfd, selectors.EVENT_READ, "exit")
            if self._prints:
                selector.register(self._news, selectors.EVENT_READ, "news")
            ready = [key.data for key, _ in selector.select(max(0.0, seconds))]
        if "news" in ready:  # nothing more comes once it has closed its output
            self._prints = bool(os.read(self._news, _CHUNK_BYTES))
        return "exit" in ready

    def _read(self, told: int) -> None:
        """Keep the last of what it prints, and tell of each part by a byte."""
        os.set_blocking(told, False)
        output = self._process.stdout
        while output is not None and (data := os.read(output.fileno(), _CHUNK_BYTES)):
            self._printed = (self._printed + data)[-_KEPT_BYTES:]
            with suppress(BlockingIOError):  # so much is told of already
                os.write(told, b".")
        if output is not None:
            output.close()
        os.close(told)

    def stop(self, number: signal.Signals) -> Ended:
        """Ask it to end by a signal, and wait for that; kill it where it does not."""
        if self._ended is not None or self._wait(0.0):
            self.ended_by_itself = True
            return self.wait()
        with suppress(ProcessLookupError):
            # A shell does not hand on what it is sent.
            (os.killpg if argv(self.command)[0] == "sh" else os.kill)(self.pid, number)
        ends_s = time.perf_counter() + _STOPS_S
        while (left_s := ends_s - time.perf_counter()) > 0:
            if self._wait(left_s):
                return self.wait()
        self._notes.append(because("does_not_stop", name=number.name, limit_s=_STOPS_S))
        self.kill()
        return self.wait()

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        self._killed = True
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> Ended:
        """Wait for its end, and end what it has left."""
        if self._ended is not None:
            return self._ended
        _, status, _ = os.wait4(self.pid, 0)
        wall_s = time.perf_counter() - self.spawned_s
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        if not self._killed and (left := self._left()):
            self._notes.append(because("processes_left", n_processes=left))
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.guard.kill_labelled(self._label)
        self.guard.remove(self.pid)
        self._reader.join(_READS_S)  # nobody holds the other end any more
        for number in (self._pidfd, self._news):
            os.close(number)
        self._ended = Ended(wall_s, code, self._notes)
        return self._ended

    def _left(self) -> int:
        """Return how many processes it has left, once those had a moment that end with it."""
        ends_s = time.perf_counter() + _ENDS_S
        while (left := _in_group(self.pid)) and time.perf_counter() < ends_s:
            time.sleep(_LOOKS_S)
        return left


def _in_group(group: int) -> int:
    """Return how many processes of a group are alive."""
    alive = 0
    for process in psutil.process_iter(["pid", "status"]):
        with suppress(OSError):
            alive += os.getpgid(process.pid) == group and process.info["status"] != "zombie"
    return alive


def ask_http(url: str) -> float:
    """Return the seconds of a request over a connection of its own.

    Raises:
        ProcessFailedError: it was not answered, or with an error.
    """
    begin_s = time.perf_counter()
    status = _status(url, _PATIENCE_S, whole=True)
    seconds = time.perf_counter() - begin_s
    if status not in _WELL:
        text = "nothing" if status is None else str(status)
        raise ProcessFailedError(because("request_failed", answer=text))
    return seconds


def ask_command(command: str, variables: Mapping[str, str]) -> float:
    """Return the seconds of a command that asks something of a server, with its own start.

    Raises:
        ProcessFailedError: it ended with an error.
    """
    begin_s = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603 - the command that the user names
            argv(command),
            env=dict(variables),
            capture_output=True,
            check=False,
            timeout=_PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise ProcessFailedError(because("request_failed", answer="nothing")) from None
    seconds = time.perf_counter() - begin_s
    if done.returncode:
        raise ProcessFailedError(because("request_failed", answer=f"status {done.returncode}"))
    return seconds
