"""One measured process, from outside: spawned under a guard, talked to, held still, ended."""

from __future__ import annotations

import fcntl
import math
import os
import resource
import secrets
import selectors
import signal
import subprocess
import sys
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import psutil

from coldwarm import wire
from coldwarm.clock import TIME
from coldwarm.contracts.reasons import because
from coldwarm.runner import guard, temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.reasons import Reason


ENDING: tuple[int, ...] = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command as Ctrl-C does."""
_LOCKS = 10
"""The limit of file locks, which Python has no name for."""
_MOST_LABELS = 2**20


def _free_limits() -> range:
    """Return limits that are this run's alone; only 0 where the limit cannot be chosen freely."""
    _, hard = resource.getrlimit(_LOCKS)
    highest = 2**62 if hard == resource.RLIM_INFINITY else hard
    if highest <= 2**40:
        return range(1)
    lowest = 2**30 + secrets.randbelow(highest - 2**31)
    return range(lowest, lowest + _MOST_LABELS)


class Guard:
    """A side process that ends the workers if this process ends without doing so."""

    def __init__(self) -> None:
        """Start the side process in a session of its own, so that Ctrl-C misses it."""
        temporary.sweep()
        self.mark_value = uuid.uuid4().hex
        self._limits = _free_limits()
        self._labelled = 0
        temporary.note(f"{self.mark} {self._limits[0]} {self._limits[-1]}")
        self.ends_s: float | None = None
        """When the time of the whole run is over, on the monotonic clock; ``None``: never."""
        self._groups: set[int] = set()
        self._lock = Lock()
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", str(Path(guard.__file__)), self.mark),
                *(str(self._limits[0]), str(self._limits[-1])),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def mark(self) -> str:
        """The environment entry that every process of this run carries."""
        return f"{guard.MARK}={self.mark_value}"

    def _tell(self, line: str) -> None:
        """Tell the side process; where it is gone, start another that knows everything."""
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(line.encode())
                pipe.flush()
        except BrokenPipeError:
            self._process.wait()
            self._start()
            for group in self._groups:
                self._tell(f"+{group}\n")

    def add(self, group: int) -> None:
        """Register a worker's process group."""
        self._groups.add(group)
        self._tell(f"+{group}\n")

    def remove(self, group: int) -> None:
        """Strike a worker that has ended."""
        self._groups.discard(group)
        self._tell(f"-{group}\n")

    def sweep(self) -> None:
        """Kill whatever of this run is still alive, now."""
        guard.kill_marked(self.mark.encode(), self._limits[0], self._limits[-1])

    def label(self, process: int) -> int:
        """Give a process, and with it all that it starts, a mark of its own; return it, or 0.

        Of two threads that ask at once each gets another.
        """
        with self._lock:
            label = self._limits[self._labelled % len(self._limits)]
            self._labelled += 1
        if label:
            with suppress(OSError):
                resource.prlimit(process, _LOCKS, (label, label))
        return label

    @staticmethod
    def kill_labelled(label: int) -> None:
        """Kill whatever a process has started that is still alive."""
        if label:
            guard.kill_marked(b"", label, label)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the pipe, which makes the side process finish its work and end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does: with its results written, folders removed.

    One that whoever started this process has it ignore (``nohup``) is ignored on.
    """

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before: dict[int, Any] = {}
    try:
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, interrupt)
    except ValueError:  # not the main thread: signals are somebody else's
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def starting() -> Iterator[None]:
    """Let a signal that interrupts wait while a process is started, which would be nobody's else.

    It is not blocked, as the process would inherit that. Leaving this raises what was held back.
    """
    came: list[int] = []
    before: dict[int, Any] = {}
    try:
        with suppress(ValueError):  # not the main thread, which no signal interrupts
            for number in (signal.SIGINT, *ENDING):
                handler = signal.getsignal(number)
                if callable(handler):
                    before[number] = handler
                    signal.signal(number, lambda number, _frame: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError):
                signal.signal(number, handler)
    if came:
        before[came[0]](came[0], None)


_LAST_STREAM = 2


def _pipe() -> tuple[int, int]:
    """Return a pipe of which no end has the number of a standard stream, which may be closed."""
    ends = os.pipe()
    if min(ends) > _LAST_STREAM:
        return ends
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _LAST_STREAM + 1) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


def _die_with_this(end: int, group: int) -> None:
    """Let the kernel kill a process group when this process ends, even without its guard.

    The group is sent a signal when the other end of a pipe is closed, into which nobody writes.
    ``PR_SET_PDEATHSIG`` would have to be asked for by the measured process itself, and reaches
    neither its children nor a process whose parent is a thread that has ended.
    """
    with suppress(OSError, AttributeError):  # not on every kernel; the guard is there
        fcntl.fcntl(end, fcntl.F_SETOWN, -group)
        fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)


_WORKER = Path(__file__).resolve().parents[1] / "worker" / "main.py"
_OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
_TAIL_BYTES = 16 * 1024
_CHUNK_BYTES = 1024 * 1024
_STEP_S, _IDLE_SHARE, _LONGEST_S = 0.2, 0.1, 15.0
"""How often helpers are looked at, below which share of a processor they do nothing, and for how
long they are waited for at most."""


_CPUCLOCK_SCHED = 2
"""With the complement of a process's number, the clock of its processor time (``man 3
clock_getcpuclockid``)."""


class ProcessFailedError(Exception):
    """The process gave no result; ``detail`` is what it printed last."""

    def __init__(self, reason: Reason, detail: str = "", line: int | None = None) -> None:
        """Keep the reason, the detail, and the line of the user's file where it failed."""
        super().__init__(str(reason))
        self.reason = reason
        self.detail = detail
        self.line = line
        self.settings: dict[str, str] = {}
        """Settings made in it, by variables or otherwise."""
        self.missed: list[str] = []
        """Files that it wanted to read and were not there, in order, where that was watched."""
        self.order: int | None = None
        """The position in time of the process, once that is known."""
        self.wall_s = 0.0
        """From the spawn to the exit of the process, once that is known."""


class OutOfTimeError(Exception):
    """The time of the whole run was over before the process had answered: nobody's failure."""


@dataclass(frozen=True)
class _Exit:
    """How a process ended: seconds since its spawn, and its processor time in seconds."""

    wall_s: float
    code: int
    cpu_s: float


class MeasuredProcess:
    """A worker under guard. What it prints is drained and only its tail is kept."""

    def __init__(  # noqa: PLR0913 - each is one independent fact of a process
        self,
        job: Mapping[str, Any],
        variables: Mapping[str, str],
        guard: Guard,
        *,
        timeout_s: float,
        python: str = sys.executable,
        affinity: Sequence[int] | None = None,
        enter: Callable[[], None] | None = None,
    ) -> None:
        """Spawn; the clock is read just before.

        The job goes down the pipe once the guard knows the process, so that none can
        begin without a guard. ``enter`` runs in the new process before anything else: it makes
        its view of the files.
        """
        self._guard = guard
        self._timeout_s = timeout_s
        self._tail = b""
        self._printed_bytes = 0
        self._inbox = b""
        self.exit: _Exit | None = None
        down_read, self._down = _pipe()
        self._up, up_write = _pipe()
        output_read, output_write = _pipe()
        life_read, self._life = _pipe()
        before = os.sched_getaffinity(0) if affinity is not None else None
        if affinity is not None:
            os.sched_setaffinity(0, affinity)
        try:
            self.spawned_ns = TIME.perf_counter_ns()
            self._process = subprocess.Popen(
                [python, str(_WORKER), str(down_read), str(up_write)],
                stdin=subprocess.DEVNULL,
                stdout=output_write,
                stderr=output_write,
                env=dict(variables),
                pass_fds=(down_read, up_write, life_read),
                start_new_session=True,
                preexec_fn=enter,  # noqa: PLW1509 - few lines
            )
            _die_with_this(life_read, self._process.pid)
        finally:
            if before is not None:
                os.sched_setaffinity(0, before)
            for descriptor in (down_read, up_write, output_write, life_read):
                os.close(descriptor)
        self.pid = self._process.pid
        self.active_s = 0.0
        """Seconds in which it ran: time spent held does not count."""
        self._running_since_ns: int | None = self.spawned_ns
        self._held_since_ns = self.spawned_ns
        self._held_ns: list[tuple[int, int]] = []
        """From when to when it was held, on the clock of ``spawned_ns``."""
        guard.add(self.pid)
        self._label = guard.label(self.pid)
        self._output: int | None = output_read
        self._pidfd = os.pidfd_open(self.pid)
        os.set_blocking(self._up, False)
        os.set_blocking(output_read, False)
        self.send(job)

    @property
    def output_tail(self) -> str:
        """The last whole lines of what the process printed."""
        tail = self._tail
        if self._printed_bytes > len(tail):
            # Of a secret that was cut, what is left could not be recognised.
            tail = tail.partition(b"\n")[2]
        return tail.decode(errors="replace")

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; a process that is gone is found out by ``receive``."""
        try:
            wire.write_all(self._down, wire.encode(message))
        except BrokenPipeError:
            return

    def cpu_so_far(self) -> float | None:
        """Return its processor time and that of its ended children, in seconds."""
        try:
            times = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return None
        return float(times.user + times.system + times.children_user + times.children_system)

    def receive(self) -> bytes:
        """Wait for the next line that it writes.

        Raises:
            ProcessFailedError: the process died, hung or flooded its output. It is dead by then.
            OutOfTimeError: the time of the whole run is over. It is dead by then, too.
        """
        deadline = TIME.perf_counter() + self._timeout_s
        ends = self._guard.ends_s if self._guard.ends_s is not None else deadline
        while b"\n" not in self._inbox:
            if not self._wait(min(deadline, ends)):
                self.kill()
                if ends < deadline:
                    raise OutOfTimeError
                reason = because("timeout", limit_s=self._timeout_s)
                raise ProcessFailedError(reason, self.output_tail)
            self._check_limits()
            if not self._read_up() and b"\n" not in self._inbox:
                raise self._died()
        line, _, self._inbox = self._inbox.partition(b"\n")
        return line

    def _wait(self, deadline: float, *, up: bool = True) -> bool:
        """Wait for its end, or with ``up`` for bytes; drain its output; False: too late."""
        with selectors.DefaultSelector() as selector:
            if up:
                selector.register(self._up, selectors.EVENT_READ, "up")
            selector.register(self._pidfd, selectors.EVENT_READ, "exit")
            if self._output is not None:
                selector.register(self._output, selectors.EVENT_READ, "output")
            while (left_s := deadline - TIME.perf_counter()) > 0:
                ready = [key.data for key, _ in selector.select(left_s)]
                if "output" in ready and not self._drain():
                    self._close_output(selector)
                if "up" in ready or "exit" in ready:
                    return True
                if up and self._printed_bytes > _OUTPUT_LIMIT_BYTES:
                    return True
        return False

    def _close_output(self, selector: selectors.BaseSelector) -> None:
        if self._output is not None:
            selector.unregister(self._output)
            os.close(self._output)
        self._output = None

    def _drain(self) -> bool:
        """Read what was printed; False at its end."""
        if self._output is None:
            return False
        try:
            data = os.read(self._output, _CHUNK_BYTES)
        except BlockingIOError:
            return True
        self._printed_bytes += len(data)
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        return bool(data)

    def _read_up(self) -> bool:
        """Read from the worker's pipe; False when nobody writes there any more."""
        try:
            data = os.read(self._up, _CHUNK_BYTES)
        except BlockingIOError:
            # The process ended while a descendant holds its pipe open.
            return self._process_alive()
        self._inbox += data
        return bool(data)

    def _process_alive(self) -> bool:
        return os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def _check_limits(self) -> None:
        if self._printed_bytes > _OUTPUT_LIMIT_BYTES:
            self.kill()
            reason = because("output_flood", limit_bytes=_OUTPUT_LIMIT_BYTES)
            raise ProcessFailedError(reason, self.output_tail)
        if len(self._inbox) > wire.LINE_LIMIT_BYTES:
            self.kill()
            reason = because("garbage", text="a line without end")
            raise ProcessFailedError(reason, self.output_tail)

    def _died(self) -> ProcessFailedError:
        """Say why nothing more will come: it ended, or it closed its pipe."""
        lingered = not self._ended_within(2.0)
        ended = self.wait(grace_s=0.0)
        reason = describe_exit(ended.code)
        if lingered:
            reason = because("pipe_closed")
        elif self._inbox and ended.code == 0:
            reason = because("garbage", text=f"{self._inbox[:60]!r}")
        return ProcessFailedError(reason, self.output_tail)

    def let_helpers_start(self) -> None:
        """Wait until the processes that it has started do nothing.

        Where there is Triton, PyTorch starts a helper for its compiler, which imports PyTorch for
        seconds. Held with its group, it would go on with that in each block of warm calls.
        """
        ends_s, before_s = TIME.perf_counter() + _LONGEST_S, self._helpers_cpu_s()
        while before_s is not None and TIME.perf_counter() < ends_s:
            TIME.sleep(_STEP_S)
            now_s = self._helpers_cpu_s()
            if now_s is None or now_s - before_s < _IDLE_SHARE * _STEP_S:
                return
            before_s = now_s

    def _helpers_cpu_s(self) -> float | None:
        """Return the processor time of the processes below this one; ``None``: there are none."""
        used_s = []
        with suppress(psutil.Error):
            for helper in psutil.Process(self.pid).children(recursive=True):
                with suppress(psutil.Error):
                    times = helper.cpu_times()
                    used_s.append(float(times.user + times.system))
        return sum(used_s) if used_s else None

    def cpu_ns(self) -> int:
        """Return its own processor time, without that of its children; 0: it is gone."""
        with suppress(OSError):
            return int(TIME.clock_gettime_ns(~self.pid << 3 | _CPUCLOCK_SCHED))
        return 0

    def computes(self) -> bool:
        """Say whether a thread of it runs, or would if it had a processor, at this moment."""
        with suppress(OSError):
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                with suppress(OSError):
                    # The state stands behind the name, in which anything may be.
                    if (task / "stat").read_text().rpartition(") ")[2][:1] in {"R", "D"}:
                        return True
        return False

    def helpers_go_on(self) -> bool:
        """Say whether a process below it has left its group, and is not held with it."""
        with suppress(psutil.Error):
            for helper in psutil.Process(self.pid).children(recursive=True):
                with suppress(ProcessLookupError):
                    if os.getpgid(helper.pid) != self.pid:
                        return True
        return False

    def hold(self) -> None:
        """Stop the process group: while it waits for its turn it uses no processor."""
        self._signal(signal.SIGSTOP)
        self._count_active()

    def hold_at_once(self) -> None:
        """Stop the process group, and wait until its first process has stopped, or ended."""
        self._signal(signal.SIGSTOP)
        os.waitid(os.P_PIDFD, self._pidfd, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        self._count_active()

    def go_on(self) -> None:
        """Let the process group run again."""
        now_ns = TIME.perf_counter_ns()
        if self._running_since_ns is None:
            self._held_ns.append((self._held_since_ns, now_ns))
        self._running_since_ns = now_ns
        self._signal(signal.SIGCONT)

    def count_from_now(self) -> None:
        """Leave out of ``active_s`` what passed since the process was let run, beside others."""
        self._running_since_ns = TIME.perf_counter_ns()

    def _count_active(self) -> None:
        now_ns = TIME.perf_counter_ns()
        if self._running_since_ns is not None:
            self.active_s += (now_ns - self._running_since_ns) / 1e9
            self._held_since_ns = now_ns
        self._running_since_ns = None

    def held_s(self, until_s: float) -> float:
        """Return how many of the seconds from its spawn to a moment it was held."""
        until_ns = self.spawned_ns + round(until_s * 1e9)
        held_ns = [max(0, min(end, until_ns) - begin) for begin, end in self._held_ns]
        return math.fsum(held_ns) / 1e9

    def too_late(self) -> bool:
        """Say whether it has run for longer than it may, or the time of the whole run is over."""
        ends_s = self._guard.ends_s
        over = ends_s is not None and TIME.perf_counter() >= ends_s
        return over or self.active_s >= self._timeout_s

    def answers_within(self, seconds: float) -> bool:
        """Wait for a word of it, or its end; False: neither came."""
        return self._wait(TIME.perf_counter() + seconds)

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return

    def wait(self, grace_s: float = 30.0) -> _Exit:
        """Wait for the end, killing what does not end by itself, and sweep the group."""
        if self.exit is not None:
            return self.exit
        if not self._ended_within(min(grace_s, self._timeout_s)):
            self._signal(signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        wall_s = (TIME.perf_counter_ns() - self.spawned_ns) / 1e9
        self._count_active()
        code = os.waitstatus_to_exitcode(status)
        self._process.returncode = code
        self.exit = _Exit(wall_s, code, usage.ru_utime + usage.ru_stime)
        self._signal(signal.SIGKILL)  # whatever it left behind in its group …
        self._guard.kill_labelled(self._label)  # … and outside of it
        self._guard.remove(self.pid)
        self._drain()
        self._close()
        return self.exit

    def _ended_within(self, seconds: float) -> bool:
        return self._wait(TIME.perf_counter() + seconds, up=False)

    def kill(self) -> None:
        """Kill the whole group and collect what there is."""
        self._signal(signal.SIGKILL)
        self.wait(grace_s=5.0)

    def _close(self) -> None:
        for descriptor in (self._down, self._up, self._output, self._pidfd, self._life):
            if descriptor is not None:
                os.close(descriptor)
        self._output = None


def describe_exit(code: int) -> Reason:
    """Return why a process has ended, by its exit status."""
    if code >= 0:
        return because("exited", status=str(code))
    if -code == signal.SIGKILL:
        return because("killed")
    try:
        return because("signal", name=signal.Signals(-code).name)
    except ValueError:
        return because("signal", name=str(-code))
