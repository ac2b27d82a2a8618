"""A program run by itself and under the doctor, to be held against each other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from tests import started

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PATIENCE_S = 240
PYTHONS = [sys.executable, *filter(None, os.environ.get("COLDWARM_TEST_PYTHONS", "").split(":"))]
"""Interpreters that programs are tried with: this one, and those that the variable names, with
colons between them; they have other versions of Python and of JAX."""


AS_USUAL = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Lets signals end what it becomes: a job in the background ignores some of them."""


class Outcome(NamedTuple):
    """What is seen of a program from outside."""

    status: int
    """As a shell shows it: 128 and the signal, where one ended it."""
    output: bytes
    errors: bytes


class Both(NamedTuple):
    """A program by itself, and under the doctor."""

    plain: Outcome
    watched: Outcome
    report: Any
    """``None``: there is none."""


def both(  # noqa: PLR0913 - as many as there are ways to start a program
    folder: Path,
    command: Sequence[str],
    *,
    python: str = sys.executable,
    stdin: bytes = b"",
    prelude: str = "",
    send: int | None = None,
) -> Both:
    """Run a command in a folder, by itself and under the doctor.

    ``prelude`` stands before it in a shell; ``send`` is a signal for it and all that it has
    started, once it has printed something.
    """
    out = folder / "out.json"
    ours = [sys.executable, "-m", "coldwarm", "doctor", "--json", "--out", str(out)]
    plain = _run(folder, [python, *command], stdin, prelude, send)
    watched = _run(folder, [*ours, "--python", python, *command], stdin, prelude, send)
    report = json.loads(out.read_text("utf-8")) if out.exists() else None
    return Both(plain, watched, report)


def _run(
    folder: Path, command: Sequence[str], stdin: bytes, prelude: str, send: int | None
) -> Outcome:
    variables = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONHASHSEED": "0"}
    if not prelude and send is None:
        done = started.python(command, cwd=folder, env=variables, stdin=stdin, timeout_s=PATIENCE_S)
        status = done.returncode
        return Outcome(status if status >= 0 else 128 - status, done.stdout, done.stderr)
    shell = ["sh", "-c", f'{prelude}\nexec "$@"', "sh"] if prelude else []
    usual = [sys.executable, "-c", AS_USUAL] if send is not None else []
    process = subprocess.Popen(
        [*usual, *shell, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=variables,
        start_new_session=True,
    )
    said = b""
    if send is not None:
        assert process.stdout is not None
        said = process.stdout.readline()
        if send == signal.SIGINT:  # as a terminal does it
            os.killpg(process.pid, send)
        else:
            process.send_signal(send)
    output, errors = process.communicate(stdin, timeout=PATIENCE_S)
    status = process.returncode
    return Outcome(status if status >= 0 else 128 - status, said + output, errors)
