"""Numba's cache on disk: an index and a file of machine code for each function.

Without the variable it lies beside the source file, or in the user's cache directory where
that is read-only. An entry is found by the content of the source file, the types of the
arguments, and the processor.
"""

from coldwarm.caches import Owner, judge, numba_index
from coldwarm.contracts.answer import CacheSetting

OWNER = Owner(
    name="numba",
    words={
        "numba_config": "numba: a file .numba_config.yaml in the working directory, if there is"
        " one, is obeyed",
    },
    of_function=3,
    holds_programs=True,
    read=numba_index.read,
    in_home=True,
    setting=CacheSetting(owner="numba", code="numba.njit(cache=True)"),
    folders={"NUMBA_CACHE_DIR": ""},
    variables={"NUMBA_CACHE_LOCATOR_CLASSES": ""},
    configured={"numba:config.CACHE_DIR": "NUMBA_CACHE_DIR"},
    has_default=True,  # Numba keeps what a program asks for by ``cache=True``, and no more
    judge=judge,  # the files before the spawn, and the counts of the functions' own caches
)
