"""The C allocator, as it is in every program, or taught to keep what is freed.

An array of 128 KiB or more is memory that glibc at first takes from the kernel and gives back for
every temporary result, or trims from the end of its heap; the kernel then clears the same pages
again in every call. Whether that happens depends on what the process allocated before: importing
a module of the standard library is enough to make the same NumPy call 1.8 times as long. glibc
learns from what is freed, up to blocks of 32 MiB, and from then on keeps such memory.

A user's program has had no such lesson, so figures are of processes without one, and nothing large
is allocated for the harness before the last warm call. Some processes begin with the lesson, to
show what it would gain.

Source: ``M_MMAP_THRESHOLD`` and ``M_TRIM_THRESHOLD`` in mallopt(3).
"""

import os

_LARGEST_LESSON_BYTES = 2**25 - 2**16
"""Just below the 32 MiB up to which glibc raises its thresholds, with room for headers."""


def keep_freed_memory() -> None:
    """Free one large block, so that the allocator keeps what is freed from now on.

    Its pages are never touched. Where the environment or the program has set the thresholds,
    glibc leaves them as they are; other allocators take no notice.
    """
    bytes(_LARGEST_LESSON_BYTES)


def is_glibc() -> bool:
    """Say whether the C library is glibc, whose allocator can be taught."""
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):
        return False
