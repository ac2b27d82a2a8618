"""What lies in a cache directory, before and after a process."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path


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
