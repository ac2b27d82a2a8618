"""One measuring at a time: two at once would disturb each other, also in different processes."""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other test of this user measures, of any session on this machine.

    Raises:
        OSError: the folder for temporary files cannot be written to.
    """
    path = Path(tempfile.gettempdir()) / f"coldwarm-measuring-{os.getuid()}.lock"
    # Not through a link: the folder is everybody's.
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
