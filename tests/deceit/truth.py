"""The truth: a script of its own, in fresh processes, timed by the process that starts it.

The script says when something begins and ends by a byte through a pipe, so that no clock that
the user's program can reach is asked. Nothing of coldwarm is in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.deceit.base import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.deceit.base import Deceit

LIMIT_S = 90.0
_HEAD = """
import os, sys
_write = os.write
def mark():
    _write({descriptor}, b".")
def finish(out):
{finish}
sys.path.insert(0, {folder!r})
{before}
"""
_FIRST = """
mark()
import subject
_found = subject.{target}
mark()
if "jax" in sys.modules:
    sys.modules["jax"].devices()
k = 0
_given = {arguments}
mark()
_function, _given = {made}
out = _function(*_given)
finish(out)
{ending}
mark()
"""
_WARM = """
import subject
_found = subject.{target}
k = 0
_given = {arguments}
_function, _given = {made}
finish(_function(*_given))
for k in range(1, 1 + {rounds}):
    _given = {again}
    mark()
    for _ in range({group}):
        out = _function(*_given)
        finish(out)
        out = None
    mark()
mark()
{ending}
mark()
"""


def truth(deceit: Deceit, folder: Path) -> float:
    """Return the figure in seconds as one fresh process shows it; for ``compiles`` a count."""
    with tempfile.TemporaryDirectory(prefix="truth-") as caches:
        if deceit.figure == "filled":
            _process(deceit, folder, Path(caches))
        return _process(deceit, folder, Path(caches))


def _process(deceit: Deceit, folder: Path, caches: Path) -> float:
    forget(deceit, folder)
    reader, writer = os.pipe()
    begin_s = time.perf_counter()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", script(deceit, folder, writer)],
            env=variables(deceit, folder, caches),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(writer,),
            text=True,
        ) as process:
            os.close(writer)
            said, stamps = _followed(process, reader)
    finally:
        os.close(reader)
    if process.returncode or len(stamps) % 2 or not stamps:
        message = f"the script of {deceit.name} ended with {process.returncode}: {said[-2000:]}"
        raise RuntimeError(message)
    if deceit.figure == "compiles":
        return float(said.count(deceit.counted))
    if deceit.figure == "process":
        return stamps[-1] - begin_s
    spans_s = [end - begin for begin, end in zip(stamps[::2], stamps[1::2], strict=True)]
    if deceit.figure != "warm":
        return sum(spans_s)
    if deceit.mean:
        return sum(spans_s) / deceit.calls
    return median(spans_s[: deceit.calls // deceit.group]) / deceit.group


def _followed(process: subprocess.Popen[str], reader: int) -> tuple[str, list[float]]:
    """Return what a process said, and when its marks came."""
    import selectors

    stamps: list[float] = []
    said = b""
    assert process.stderr is not None
    ends_s = time.perf_counter() + LIMIT_S
    with selectors.DefaultSelector() as waiting:
        waiting.register(reader, selectors.EVENT_READ)
        waiting.register(process.stderr, selectors.EVENT_READ)
        # A process that the program leaves behind may hold the pipes open.
        while process.poll() is None or waiting.select(0):
            for key, _ in waiting.select(0.05):
                one = os.read(key.fd, 1 if key.fd == reader else 65536)
                if not one:
                    waiting.unregister(key.fileobj)
                elif key.fd == reader:
                    stamps.append(time.perf_counter())
                else:
                    said += one
            if time.perf_counter() > ends_s:
                process.kill()
                break
            if not waiting.get_map():
                process.wait(LIMIT_S)
    return said.decode(errors="replace"), stamps


def script(deceit: Deceit, folder: Path, descriptor: int) -> str:
    """Return the script that shows the truth of a deceit."""
    body = _FIRST if deceit.figure in {"first", "filled", "process"} else _WARM
    body = plain(deceit.truth) or body
    made = "_found()" if deceit.factory else "(_found, _given)"
    values = {
        "target": deceit.target,
        "arguments": deceit.arguments,
        "made": made,
        "again": "_given" if deceit.factory else deceit.arguments,
        "calls": str(deceit.calls),
        "group": str(deceit.group),
        "rounds": str(deceit.calls // deceit.group),
        "ending": filled(deceit.ending, folder),
    }
    for name, value in values.items():
        body = body.replace("{" + name + "}", value)
    head = _HEAD.format(
        descriptor=descriptor,
        folder=str(folder),
        finish=_indented(filled(deceit.finish, folder) or "pass\n"),
        before=filled(deceit.before, folder),
    )
    return head + filled(body, folder)


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def filled(text: str, folder: Path) -> str:
    """Return a text of code with the folder's name in it."""
    return plain(text).replace("{folder}", str(folder))


def variables(deceit: Deceit, folder: Path, caches: Path) -> dict[str, str]:
    """Return the variables of a user's process, with caches in a folder of its own."""
    own = {
        "JAX_COMPILATION_CACHE_DIR": str(caches / "jax"),
        "NUMBA_CACHE_DIR": str(caches / "numba"),
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        "JAX_LOG_COMPILES": "1" if deceit.figure == "compiles" else "0",
    }
    return {**plain_variables(), **own, **given(deceit.variables, folder)}


def plain_variables() -> dict[str, str]:
    """Return the variables of this process without those that change a measurement."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COLDWARM", "PYTEST"))}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def given(values: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return variables with the folder's name in them."""
    return {name: value.replace("{folder}", str(folder)) for name, value in values.items()}


def forget(deceit: Deceit, folder: Path) -> None:
    """Remove what earlier processes of the program have left."""
    if deceit.forget:
        text = filled(deceit.forget, folder)
        command = [sys.executable, "-c", text]
        subprocess.run(command, cwd=folder, env=plain_variables(), check=True, timeout=LIMIT_S)
