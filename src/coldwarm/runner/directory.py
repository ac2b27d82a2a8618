"""The output directory: one run at a time, an append-only journal, atomic files."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from coldwarm import wire
from coldwarm.contracts import run_journal
from coldwarm.errors import (
    ContractError,
    NewerVersionError,
    ResumeError,
    RunDirectoryError,
    StorageError,
    printable,
    storage_error,
)
from coldwarm.runner import temporary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import Making

JOURNAL = run_journal.JOURNAL
_LOCK = ".lock"


def _sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def recorded_options(path: Path) -> dict[str, Any] | None:
    """Return the options that the run in a directory was started with.

    ``None`` where the directory holds no run that had begun; whoever opens it says so.
    """
    try:
        header = run_journal.read_header(path / JOURNAL)
    except ContractError:
        return None
    return None if header is None else header.options


def require_header(path: Path) -> bool:
    """Say whether the run in a directory had begun; ``False``: it ended before its first line.

    Raises:
        ResumeError: its journal does not say what the run was asked for.
        NewerVersionError: its first line is of a later coldwarm.
    """
    names = sorted(one.name for one in path.iterdir() if one.name not in {_LOCK, JOURNAL})
    try:
        if run_journal.read_header(path / JOURNAL) is not None:
            return True
    except NewerVersionError:
        raise
    except ContractError as error:
        text = f"{path} has a journal without a header; start a new run in another --out"
        raise ResumeError(printable(f"{text} ({error.what})")) from None
    if names:
        text = f"{path} has a journal without a header, and holds {', '.join(names[:3])}"
        raise ResumeError(printable(f"{text}; start a new run in another --out"))
    return False


def refuse_content(path: Path) -> None:
    """Refuse a directory for a new run that holds one, or anything else.

    Raises:
        RunDirectoryError: it does; the message names some of it.
    """
    if not path.exists():
        return
    if not path.is_dir():
        raise RunDirectoryError(f"{path} is a file; choose another --out")
    names = sorted(one.name for one in path.iterdir() if one.name != _LOCK)
    if JOURNAL in names:
        text = f"{path} already holds a run; choose another --out, or --resume it"
        raise RunDirectoryError(text)
    if names:
        text = f"{path} holds other files ({', '.join(names[:3])}…); choose an empty or new"
        raise RunDirectoryError(f"{text} --out")


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        text = f"cannot use {path.parent}: {error.strerror}; name another --out"
        raise RunDirectoryError(printable(text)) from error


class RunDirectory:
    """The directory of one run, locked as long as it is open."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        """Lock the directory, and create it where it is not there.

        Raises:
            RunDirectoryError: it is in use, holds a run (and ``resume`` was not asked
                for) or other things, or cannot be written.
            ResumeError: ``resume`` was asked for and there is nothing to resume.
        """
        self.path = path
        if resume and not _is_there(path / JOURNAL):
            text = f"{path} holds no run to resume; leave --resume out to start one"
            raise ResumeError(text)
        if resume:
            require_header(path)
        self._lock = self._take_lock()
        try:
            if resume:
                run_journal.mend(path / JOURNAL)
            else:
                refuse_content(path)
            self._journal = (path / JOURNAL).open("ab", buffering=0)
            _sync_folder(path)
        except OSError as error:
            os.close(self._lock)
            raise storage_error(path, error) from error
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def work(self) -> Path:
        """Private caches and reference answers; removed when the run is complete."""
        # A measured function may go to another folder: what names its caches must still hold.
        return self.path.absolute() / "work"

    def _take_lock(self) -> int:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            reason = error.strerror or str(error)
            text = f"cannot use {self.path}: {reason}; choose an --out that can be written"
            raise RunDirectoryError(text) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            text = f"another run is writing to {self.path}; wait for it or choose another --out"
            raise RunDirectoryError(text) from error
        return lock

    def append(
        self, kind: run_journal.Kind, record: Observation | Making | Mapping[str, Any]
    ) -> None:
        """Write one journal line and wait until it is on the disk.

        Raises:
            StorageError: the disk is full, or the write failed otherwise.
        """
        line = run_journal.encode_line(kind, record)
        self.require()
        try:
            wire.write_all(self._journal.fileno(), line)
            os.fsync(self._journal.fileno())
        except OSError as error:
            raise storage_error(self.path / JOURNAL, error) from error

    def require(self, *names: str) -> None:
        """Refuse to go on where the directory is no longer the one that was opened.

        Args:
            names: Files that have to be in it besides the journal.

        Raises:
            StorageError: it was deleted or moved, or one of its files was.
        """
        opened = os.fstat(self._journal.fileno())
        try:
            is_same = os.path.samestat(opened, (self.path / JOURNAL).stat())
        except OSError:
            is_same = False
        gone = next((name for name in names if not (self.path / name).exists()), None)
        if not is_same or gone is not None:
            text = f"{self.path / (gone or JOURNAL)} was deleted or moved while the run wrote to"
            raise StorageError(printable(f"{text} {self.path}; what is missing there is lost"))

    def entries(self) -> Iterator[run_journal.JournalEntry | run_journal.Fault]:
        """Yield what the journal holds, and the lines that cannot be used."""
        return run_journal.stream(self.path / JOURNAL)

    def write(self, name: str, data: bytes) -> str:
        """Write a file so that it is either whole or not there; return its SHA-256.

        Raises:
            StorageError: the disk is full, or the write failed otherwise.
        """
        target = self.path / name
        part = target.with_name(target.name + ".part")
        self.require()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        except OSError as error:
            raise storage_error(target, error) from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        return hashlib.sha256(data).hexdigest()

    def remove(self, name: str) -> None:
        """Remove a file, if it is there.

        Raises:
            StorageError: it cannot be removed.
        """
        try:
            (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise storage_error(self.path / name, error) from error

    def prepare(self) -> None:
        """Make an empty place for private caches and references.

        What a process in flight had left there would look like another's.

        Raises:
            StorageError: the disk is full, or the write failed otherwise.
        """
        self.clean()
        try:
            self.work.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise storage_error(self.work, error) from error

    def clean(self) -> None:
        """Remove the private caches and references."""
        shutil.rmtree(self.work, ignore_errors=True)
        temporary.unlink(self.work)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the journal and let the lock go."""
        self._journal.close()
        os.close(self._lock)
