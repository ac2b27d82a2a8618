"""A program run in a container of an image, by docker or podman, with what watches it.

The package is copied into the container, which is removed afterwards: nothing is mounted, and the
image stays as it is. What lies in a cache is copied out of it, and is never run here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import coldwarm
from coldwarm.doctor import watch
from coldwarm.doctor.record.journal import LINES, VARIABLE
from coldwarm.errors import StorageError, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.doctor.watch import ProgramEnd

_ENGINES = ("docker", "podman")
_INSIDE = "/.coldwarm"
_PATH = "PYTHONPATH"
_STDERR = 2
_IN_IMAGE = "name a program and a --python that are in the image"


class Container:
    """A container that has not run yet."""

    def __init__(self, engine: str, name: str, image: str, variables: Mapping[str, str]) -> None:
        """Stand for the one that an engine knows by this name."""
        self._engine, self._name, self._image = engine, name, image
        self.variables = variables
        """The environment that its image sets."""

    def copy_out(self, folder: str, target: Path) -> None:
        """Copy what is in a folder out of it.

        Raises:
            UsageError: there is no such folder.
        """
        target.mkdir(exist_ok=True)
        # Where the folder is a link, the engine follows it in there.
        _asked(self._engine, "cp", f"{self._name}:{folder}/.", str(target), of=self._image)

    def copy_in(self, folder: Path) -> None:
        """Copy a folder into it, as ``/.coldwarm``.

        Raises:
            UsageError: the engine cannot.
        """
        _asked(self._engine, "cp", str(folder), f"{self._name}:{_INSIDE}", of=self._image)

    def run(self, journal: Path) -> ProgramEnd:
        """Run its program to the end, and copy out what was written of it.

        Raises:
            UsageError: it cannot be run, or is no Python program.
            KeyboardInterrupt: it was ended before.
        """
        _asked(self._engine, "start", self._name, of=self._image, cure=_IN_IMAGE)
        # A program that is the first process of its container may hear no signal: what shows its
        # output is ended by Ctrl-C instead, and the container is removed.
        shown = watch.run(["logs", "--follow", self._name], journal, self._engine, stdout=_STDERR)
        if shown.status:
            raise KeyboardInterrupt
        status = int(_asked(self._engine, "wait", self._name, of=self._image))
        self.copy_out(f"{_INSIDE}/journal", journal)
        if not any(journal.glob(f"*{LINES}")):
            text = f"{self._image}: no Python of 3.11 or later has run (exit status {status})"
            raise UsageError(f"{text}; {_IN_IMAGE}")
        return replace(shown, status=status)


@contextmanager
def made(
    image: str, command: Sequence[str], settings: Mapping[str, str], place: Path
) -> Iterator[Container]:
    """Give a container of an image in which a program is watched; it is removed at the end.

    Args:
        image: Its name.
        command: The interpreter, and what stands behind it.
        settings: Variables that the program has besides those of the image.
        place: A folder for files of a while.

    Raises:
        UsageError: there is no engine, or no such image.
        StorageError: the package cannot be copied.
    """
    used = engine()
    python, *rest = command
    form = "{{json .Config.Env}}"
    told = _asked(used, "image", "inspect", "--format", form, image, of=image)
    pairs = (one.partition("=") for one in json.loads(told) or ())
    known = {name: value for name, _, value in pairs}
    path = ":".join(filter(None, [f"{_INSIDE}/coldwarm/doctor/hook", known.get(_PATH)]))
    whole = {**settings, VARIABLE: f"{_INSIDE}/journal", _PATH: path}
    given = [f"--env={name}={value}" for name, value in whole.items()]
    name = f"coldwarm-{uuid.uuid4().hex}"
    try:
        created = ["create", f"--name={name}", *given, f"--entrypoint={python}", image, *rest]
        _asked(used, *created, of=image)
        container = Container(used, name, image, known)
        container.copy_in(_package(place / "package"))
        yield container
    finally:
        subprocess.run(  # noqa: S603 - the engine of the user
            [used, "rm", "--force", "--volumes", name], capture_output=True, check=False
        )


@cache
def engine() -> str:
    """Return what runs containers here.

    Raises:
        UsageError: nothing does.
    """
    for found in filter(None, map(shutil.which, _ENGINES)):
        # Docker answers only where its service runs and may be used.
        if not subprocess.run([found, "version"], capture_output=True, check=False).returncode:  # noqa: S603 - the engine of the user
            return found
    text = "--image needs docker or podman, and neither runs here"
    raise UsageError(f"{text}; install one of them, or start its service")


def _package(place: Path) -> Path:
    """Copy the code of coldwarm, and make the folder of the journals, which any user may use.

    Raises:
        StorageError: that is not possible.
    """
    source = Path(coldwarm.__file__).parent
    try:
        shutil.copytree(
            source, place / "coldwarm", ignore=shutil.ignore_patterns("__pycache__", "*.json*")
        )
        for folder, _, files in os.walk(place):
            Path(folder).chmod(0o755)
            for name in files:
                Path(folder, name).chmod(0o644)
        (place / "journal").mkdir()
        (place / "journal").chmod(0o777)
    except (OSError, shutil.Error) as error:
        raise StorageError(f"{place} cannot be written: {error}; make room there") from None
    return place


def _asked(used: str, *command: str, of: str, cure: str = "name another") -> str:
    """Return what an engine prints.

    Raises:
        UsageError: it fails.
    """
    done = subprocess.run(  # noqa: S603 - the engine of the user
        [used, *command], capture_output=True, check=False, text=True, errors="replace"
    )
    if done.returncode:
        said = shorten(done.stderr.strip().rpartition("\n")[2])
        raise UsageError(f"{of}: {Path(used).name} {command[0]} failed: {said}; {cure}")
    return done.stdout.strip()
