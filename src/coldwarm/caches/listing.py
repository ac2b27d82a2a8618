"""Contents of a cache directory, before and after a process, and the file pages in memory."""

from __future__ import annotations

import os
import shutil
import stat
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.reasons import Reason


@dataclass(frozen=True)
class Listing:
    """The files under a directory: relative path to size in bytes."""

    sizes: dict[str, int]

    @property
    def count(self) -> int:
        """How many files."""
        return len(self.sizes)

    @property
    def total_bytes(self) -> int:
        """How large they are together."""
        return sum(self.sizes.values())

    def new_since(self, before: Listing) -> dict[str, int]:
        """Count the files that ``before`` did not have, by suffix."""
        new: dict[str, int] = {}
        for name in self.sizes.keys() - before.sizes.keys():
            suffix = Path(name).suffix or "(none)"
            new[suffix] = new.get(suffix, 0) + 1
        return dict(sorted(new.items()))


def take(root: Path, *, links: bool = True) -> Listing:
    """List the files under ``root``; a directory that is not there is empty.

    ``links``: whether a link counts as a file.
    """
    sizes = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue  # a compiler's temporary file, gone in the meantime
            if links or not stat.S_ISLNK(status.st_mode):
                sizes[str(path.relative_to(root))] = status.st_size
    return Listing(sizes)


def copied(folder: Path, target: Path) -> None:
    """Copy the regular files of a folder with their times; links and special files are left out.

    Raises:
        StorageError: they cannot be written.
    """

    def left_out(place: str, names: list[str]) -> list[str]:
        kinds = {name: Path(place, name).lstat().st_mode for name in names}
        usual = {name for name, mode in kinds.items() if stat.S_ISREG(mode) or stat.S_ISDIR(mode)}
        return [name for name in names if name not in usual]

    try:
        shutil.copytree(folder, target, ignore=left_out)
        for place, *_ in os.walk(target):
            Path(place).chmod(0o700)
    except (OSError, shutil.Error) as error:
        text = f"{folder} cannot be copied: {error}; make room, or name another"
        raise StorageError(text) from None


AS_LEFT, BY_ADVICE = because("pages_as_left"), because("pages_by_advice")


def page_limitations(modes: Iterable[CacheMode]) -> list[Reason]:
    """Return what cannot be controlled in these modes."""
    wanted = set(modes)
    as_left = [AS_LEFT] if wanted - {"first_ever"} else []
    return [*as_left, BY_ADVICE] if "first_ever" in wanted else as_left


@cache
def runtime_files() -> tuple[Path, ...]:
    """Return the files of the standard library and of the installed packages."""
    roots = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(
        Path(folder, name) for root in roots for folder, _, names in os.walk(root) for name in names
    )


def drop_pages(files: Iterable[Path]) -> int:
    """Advise the kernel to drop the pages of ``files``; return how many were advised."""
    dropped = 0
    for path in files:
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            dropped += 1
        except OSError:
            continue
        finally:
            os.close(descriptor)
    return dropped
