"""The kernel's cached file pages. ``first_ever`` drops them, as far as a user may."""

from __future__ import annotations

import os
import sysconfig
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.reasons import Reason

AS_LEFT, BY_ADVICE = because("pages_as_left"), because("pages_by_advice")


def limitations(modes: Iterable[CacheMode]) -> list[Reason]:
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


def drop(files: Iterable[Path]) -> int:
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
