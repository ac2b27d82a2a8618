"""The C allocator, brought to where a long-lived process ends up.

An array of 128 KiB or more is memory that glibc at first takes from the kernel and gives back for
every temporary result, or trims from the end of its heap; the kernel then clears the same pages
again in every call. Whether that happens depends on what the process allocated before: importing
a module of the standard library is enough to make the same NumPy call 1.8 times as long. glibc
learns from what is freed, up to blocks of 32 MiB, and from then on keeps such memory. So
every measured process begins with that lesson, and page faults of warm calls are counted.

Source: ``M_MMAP_THRESHOLD`` and ``M_TRIM_THRESHOLD`` in mallopt(3).
"""

_LARGEST_LESSON_BYTES = 2**25 - 2**16
"""Just below the 32 MiB up to which glibc raises its thresholds, with room for headers."""


def keep_freed_memory() -> None:
    """Free one large block, so that the allocator keeps what is freed from now on.

    Its pages are never touched. Where the environment or the program has set the thresholds,
    glibc leaves them as they are; other allocators take no notice.
    """
    bytes(_LARGEST_LESSON_BYTES)
