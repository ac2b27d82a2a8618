"""A fresh virtual environment with what is needed of that which a snapshot was measured with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Literal, NamedTuple

from coldwarm.contracts.checked import RebuiltEnvironment
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.publish import layout, wheel
from coldwarm.publish.opening import read_limited
from coldwarm.publish.replicating import needed
from coldwarm.runner.harness import harness_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from coldwarm.publish.replicating.locked import Pinned

_TIMEOUT_S = 3600.0
_SHOWN = 300
_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check")
_WHEELS = ("--no-deps", "--only-binary", ":all:", "--quiet")


def interpreter(version: str, named: str | None) -> str:
    """Return an interpreter of a version of Python, such as ``3.11.9``: its first two numbers.

    Args:
        version: What the snapshot was measured with.
        named: The one that was asked for; ``None``: this one, or one that is on the path.

    Raises:
        RefusedError: there is none.
    """
    wanted = ".".join(version.split(".")[:2])
    if named is not None:
        return named
    if wanted == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{wanted}") if wanted.replace(".", "").isdecimal() else None
    if found is None:
        raise RefusedError(because("no_such_python", version=wanted))
    return found


class Harness(NamedTuple):
    """The coldwarm that measures again."""

    name: str
    """Of its wheel."""
    data: bytes
    kind: Literal["same_sources", "wheel_of_snapshot"]


class Contents(NamedTuple):
    """What an environment is made of."""

    packages: Mapping[str, Pinned]
    """The lock, by name."""
    harness: Harness
    roots: Collection[str]
    """Names that are needed besides what the harness requires."""


def build(
    contents: Contents, folder: Path, python: str, told: Callable[[str], None]
) -> tuple[str, RebuiltEnvironment]:
    """Make the environment of a snapshot in a folder; return its interpreter and what it is.

    Every file is fetched by its hash, and read, before any is installed.

    Args:
        contents: What it is made of.
        folder: Where the environment is to lie; not there yet.
        python: The interpreter that it is made with.
        told: Is told what is being done, and the names of what is installed before it is.

    Raises:
        RefusedError: something cannot be installed.
    """
    packages, harness = contents.packages, contents.harness
    told(f"making a virtual environment in {folder}")
    _run([python, "-m", "venv", str(folder)], "venv")
    inside = str(folder.absolute() / "bin" / "python")
    markers = json.loads(_run([inside, *_PIP, "inspect", "--local"], "pip inspect"))["environment"]
    wheels = folder / "wheels"
    first = {needed.Asked(name) for name in contents.roots}
    first |= needed.required(harness.data, markers)
    chosen = needed.fetched(
        first,
        packages,
        markers,
        wheels,
        lambda level: _pip(inside, folder, level, ["download", "--dest", str(wheels)]),
    )
    told(
        f"installing {len(chosen)} of the {len(packages)} distributions of its lock, by their"
        f" hash: {', '.join(map(str, chosen))}"
    )
    _pip(inside, folder, chosen, ["install", "--no-index", "--find-links", str(wheels)])
    file = folder / harness.name
    file.write_bytes(harness.data)
    install = ("install", *_WHEELS, "--no-index", str(file))
    _run([inside, *_PIP, *install], harness.name)
    rebuilt = RebuiltEnvironment(
        kind="fresh", locked=True, installed=[*map(str, chosen)], harness=harness.kind
    )
    return inside, rebuilt


def as_it_is(measured_by: Iterable[str]) -> RebuiltEnvironment:
    """Return what is known of the environment that runs this."""
    same = set(measured_by) == {harness_sha256()}
    return RebuiltEnvironment(
        kind="as_it_is", locked=False, harness="same_sources" if same else "other_sources"
    )


def harness_of(snapshot: Path, measured_by: set[str], *, with_wheel: bool) -> Harness:
    """Return the coldwarm that measured a snapshot: these sources, or what was brought.

    Args:
        snapshot: The folder of the snapshot, which was verified.
        measured_by: Hashes of the sources that measured it.
        with_wheel: Whether the wheel in the snapshot may be run.

    Raises:
        RefusedError: they are not at hand, or may not be run.
    """
    if measured_by == {harness_sha256()}:
        return Harness(wheel.NAME, wheel.build(), "same_sources")
    brought = sorted((snapshot / layout.HARNESS).glob("*.whl"))
    if not brought:
        raise RefusedError(because("harness_not_here"))
    if not with_wheel:
        raise RefusedError(because("harness_is_code", file=brought[0].name))
    path = f"{layout.HARNESS}/{brought[0].name}"
    return Harness(brought[0].name, read_limited(snapshot, path), "wheel_of_snapshot")


def _pip(python: str, folder: Path, packages: Sequence[Pinned], command: list[str]) -> None:
    """Let pip fetch or install exactly these wheels, by their hashes."""
    if not packages:
        return
    file = folder / "requirements.txt"
    file.write_text("".join(f"{one.requirement}\n" for one in packages), encoding="utf-8")
    how = (*command, *_WHEELS, "--require-hashes", "-r", str(file))
    _run([python, *_PIP, *how], f"pip {command[0]}")


def _run(command: Sequence[str], named: str) -> bytes:
    """Run a program to its end; return what it printed.

    Raises:
        RefusedError: it failed; has the last line that it wrote.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(  # noqa: S603 - programs of this machine, from a list
            command, capture_output=True, check=False, timeout=_TIMEOUT_S, env=kept
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        text = f"{type(error).__name__}: {error}"[:_SHOWN]
        raise RefusedError(because("environment_failed", program=named, text=text)) from None
    if done.returncode:
        written = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        errors = [one for one in written if one.startswith("ERROR")] or written or [""]
        text = errors[-1][:_SHOWN]
        raise RefusedError(because("environment_failed", program=named, text=text))
    return done.stdout
