"""Cache functions of a module: one that closes over another function is compiled at each start."""

FRAMEWORK = "numba"
MEASURES = "facts"
SYMPTOM = "Numba's cache grows at every start, and is never read"
MECHANISM = """
The values that a function closes over are part of what `cache=True` files it under. Another
compiled function among them is different in every process, so nothing that was filed is found
again, and each start adds a file.
"""
EXCEPTION = """
Numbers in the closure are found again, in the versions of Numba that look at their values.
"""
DOCS = (
    "https://numba.readthedocs.io/en/stable/developer/caching.html",
    "https://numba.readthedocs.io/en/stable/user/jit.html",
)
STATED = "In a second process the function of the module is read from the cache, and the one that \
closes over a function is compiled again."
SECONDS = 60.0


def do():
    """Start a program twice whose cached functions stand in the module."""
    import os
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    program = """
import numba

@numba.njit(cache=True)
def square(x):
    return x * x

@numba.njit(cache=True)
def twice_squared(x):
    return 2.0 * square(x)

twice_squared(3.0)
print(sum(twice_squared.stats.cache_hits.values()))
"""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(program)
        caches = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, str(file)]
        hits = [int(subprocess.check_output(command, env=caches)) for _ in range(2)]
    return {"first_start_hits": hits[0], "second_start_hits": hits[1]}


def dont():
    """Start a program twice whose cached function closes over another."""
    import os
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    program = """
import numba

@numba.njit(cache=True)
def square(x):
    return x * x

def twice(function):
    @numba.njit(cache=True)
    def result(x):
        return 2.0 * function(x)
    return result

twice_squared = twice(square)
twice_squared(3.0)
print(sum(twice_squared.stats.cache_hits.values()))
"""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(program)
        caches = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, str(file)]
        hits = [int(subprocess.check_output(command, env=caches)) for _ in range(2)]
    return {"first_start_hits": hits[0], "second_start_hits": hits[1]}


def holds(do, dont):
    """Say whether the second start finds the one and not the other."""
    return do["second_start_hits"] == 1 and dont["second_start_hits"] == 0
