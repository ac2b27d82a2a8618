"""What a candidate may do to the process that it shares, and to its own answer."""

import os
import signal
import sys
import time

from coldwarm.backends.base import DeviceUnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

FOREVER_S = 3600.0


def fail() -> None:
    """Raise what a bug in a candidate would."""
    text = "on purpose\nwith a second line"
    raise RuntimeError(text)


def fail_unprintably() -> None:
    """Raise an error whose text cannot be written as UTF-8."""
    text = "half a character: \udc80"
    raise RuntimeError(text)


def end_of_file() -> None:
    """Raise what reading a closed pipe raises."""
    raise EOFError


def leave() -> None:
    """Leave the interpreter as a script does."""
    sys.exit(0)


def segfault() -> None:
    """Read where there is nothing."""
    import ctypes

    ctypes.string_at(0)


def exit_3() -> None:
    """End without a word."""
    os._exit(3)


def exit_0() -> None:
    """End without a word, and as if all were well."""
    os._exit(0)


def killed() -> None:
    """End as the kernel ends a process when memory is out."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed_while_told() -> None:
    """End so as long as there is a file that tells it."""
    if os.path.exists("killed"):  # noqa: PTH110 - bare modules only
        killed()


def hang() -> None:
    """Do nothing, forever."""
    time.sleep(FOREVER_S)


def hang_stubbornly() -> None:
    """Ignore requests to end, and have children: one in the group, one in its own session."""
    import subprocess

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for alone in (False, True):
        subprocess.Popen(["sleep", "3600"], start_new_session=alone)  # noqa: S607 - any will do
    hang()


def start_daemon() -> None:
    """Start what nothing connects with this process any more, and write down its number."""
    if os.fork() == 0:
        os.setsid()
        number = os.fork()
        if number == 0:
            os.closerange(0, 256)
            os.execve("/bin/sleep", ["sleep", "3600"], {})  # noqa: S606 - no shell is wanted
        with open("daemon", "a") as file:  # noqa: PTH123 - bare modules only
            file.write(f"{number}\n")
        os._exit(0)
    os.wait()


def start_daemon_and_hang() -> None:
    """Start it, and do nothing, forever."""
    start_daemon()
    hang()


def flood(descriptor: int) -> None:
    """Print 2 GB."""
    chunk = b"all work and no play makes a dull log\n" * 30_000
    for _ in range(2 * 10**9 // len(chunk)):
        os.write(descriptor, chunk)


def flood_stdout() -> None:
    """Print 2 GB to standard output."""
    flood(1)


def flood_stderr() -> None:
    """Print 2 GB to standard error."""
    flood(2)


def say(text: bytes) -> None:
    """Write to every descriptor above 2 that takes it."""
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, text)
        except OSError:
            continue


def garbage_bytes() -> None:
    """Write noise to the pipes."""
    say(os.urandom(999).replace(b"\n", b"") + b"\n")
    hang()


def garbage_unfinished() -> None:
    """Write noise that no line ends, and be gone."""
    say(b"\x00\xff half a line")
    os._exit(0)


def garbage_endless() -> None:
    """Write a line without end."""
    for _ in range(1000):
        say(b"x" * 60_000)
    hang()


def garbage_deep() -> None:
    """Write JSON that is nested beyond reason."""
    say(b"[" * 100_000 + b"\n")
    hang()


def forged_list() -> None:
    """Write JSON that is no object."""
    say(b'["start"]\n')
    hang()


def forged_start() -> None:
    """Claim to have started, with nothing to show."""
    say(b'{"type": "start"}\n')
    hang()


def forged_failed() -> None:
    """Claim to have failed, for no reason."""
    say(b'{"type": "failed"}\n')
    hang()


def forged_kind() -> None:
    """Claim something that nobody asked for."""
    say(b'{"type": {"a": 1}}\n')
    hang()


def forged_block() -> None:
    """Claim a block without samples, of calls that took no time at all."""
    say(b'{"type": "block", "batch": 0, "samples_ns": [], "compiles": 0}\n')
    hang()


def forged_number() -> None:
    """Claim a number that is none."""
    say(b'{"type": "start", "entered_ns": NaN, "loaded_ns": 1e999}\n')
    hang()


def close_pipes() -> None:
    """Close every descriptor above 2 and go on."""
    os.closerange(3, 64)
    hang()


def chatter() -> None:
    """Print what looks like a result, which is nobody's business."""
    for descriptor in (1, 2):
        os.write(descriptor, b'{"type": "failed", "reason": "a lie"}\n' * 1000)


def leave_thread() -> None:
    """Leave a thread behind that keeps the interpreter from ending."""
    import threading

    threading.Thread(target=hang).start()


def no_device() -> None:
    """Have no such device."""
    raise DeviceUnavailableError("gpu_unavailable")


def wrong(out: "np.ndarray[Any, Any]") -> "Any":
    """Return another answer."""
    return out + 1


def nearly(out: "np.ndarray[Any, Any]") -> "Any":
    """Return an answer that is off by a little in one place."""
    out[0, 0] *= 1 + 1e-3
    return out


def not_a_number(out: "np.ndarray[Any, Any]") -> "Any":
    """Return an answer with a hole."""
    out[0, 0] = float("nan")
    return out


def infinite(out: "np.ndarray[Any, Any]") -> "Any":
    """Return an answer without bound."""
    out[0, 0] = float("inf")
    return out


def another_shape(out: "np.ndarray[Any, Any]") -> "Any":
    """Return a part of the answer."""
    return out[:1]


def too_many(out: "np.ndarray[Any, Any]") -> "Any":
    """Return the answer twice."""
    return out, out


ACTS = {
    "raise_import": ("import", fail),
    "raise_device_init": ("device_init", fail),
    "raise_place": ("place", fail),
    "raise_wrap": ("wrap", fail),
    "raise_first_call": ("call 1", fail),
    "raise_second_call": ("call 2", fail),
    "raise_warm_call": ("call 20", fail),
    "raise_unprintable": ("call 1", fail_unprintably),
    "raise_end_of_file": ("call 1", end_of_file),
    "leave": ("call 1", leave),
    "segfault": ("call 1", segfault),
    "segfault_warm": ("call 20", segfault),
    "exit_3": ("call 1", exit_3),
    "exit_0": ("call 1", exit_0),
    "killed": ("call 2", killed),
    "start_daemon": ("call 1", start_daemon),
    "start_daemon_and_hang": ("call 1", start_daemon_and_hang),
    "killed_while_told": ("call 2", killed_while_told),
    "hang": ("call 1", hang),
    "hang_warm": ("call 20", hang),
    "hang_stubbornly": ("import", hang_stubbornly),
    "flood_stdout": ("call 1", flood_stdout),
    "flood_stderr": ("call 1", flood_stderr),
    "garbage_bytes": ("call 1", garbage_bytes),
    "garbage_unfinished": ("call 1", garbage_unfinished),
    "garbage_endless": ("call 1", garbage_endless),
    "garbage_deep": ("call 1", garbage_deep),
    "forged_list": ("call 1", forged_list),
    "forged_start": ("call 1", forged_start),
    "forged_failed": ("call 1", forged_failed),
    "forged_kind": ("call 1", forged_kind),
    "forged_number": ("call 1", forged_number),
    "forged_block": ("call 20", forged_block),
    "close_pipes": ("call 1", close_pipes),
    "chatter": ("call 1", chatter),
    "leave_thread": ("call 1", leave_thread),
    "no_device": ("device_init", no_device),
}
"""Fault to its moment and what is done then."""
SPOILS = {
    "wrong": (wrong, 1),
    "wrong_later": (wrong, 3),
    "nearly": (nearly, 1),
    "not_a_number": (not_a_number, 1),
    "infinite": (infinite, 1),
    "another_shape": (another_shape, 1),
    "too_many": (too_many, 1),
}
"""Fault to what becomes of an output, and from which call on."""
