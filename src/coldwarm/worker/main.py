"""Entry of the measured process, run by path under any Python interpreter.

``python main.py <read descriptor> <write descriptor>``. The package it belongs to need
not be installed in that interpreter: a bare package named ``coldwarm`` is put in place
whose only content is the directory this file lies in.
"""

import time

_ENTERED_NS = time.perf_counter_ns()

import os  # noqa: E402 - the clock is read before anything else
import sys  # noqa: E402


def _public(name: str) -> object:
    """Give a user's module what it may take from ``coldwarm`` while it is measured.

    Its functions may be marked; a call of ``coldwarm.bench`` in it measures nothing, or it
    would start itself again and again.
    """
    if name in {"bench", "Benchmark"}:
        from coldwarm.functions import target

        return target.skip_bench if name == "bench" else target.skip_benchmark
    if name == "workload":
        from coldwarm.functions import target

        return target.workload
    text = f"module 'coldwarm' has no attribute {name!r} in a measured process"
    raise AttributeError(text)


def _place_package() -> None:
    """Make ``coldwarm`` importable without exposing what is installed beside it."""
    package_directory = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    package = type(sys)("coldwarm")
    package.__path__ = [package_directory]
    vars(package)["__getattr__"] = _public
    sys.modules["coldwarm"] = package
    # Python put this script's folder first, unless it was told not to; the names of the
    # modules there must not shadow others.
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]


def _end() -> None:
    """End as Python does, but do not take the interpreter apart.

    All that was measured has been told by then, and with a framework that takes up to half a
    second: threads are waited for, and what is registered for the end is done.
    """
    import atexit
    from contextlib import suppress

    lasts = (
        *((sys.modules.get("threading"), "_shutdown"), (atexit, "_run_exitfuncs")),
        *((sys.stdout, "flush"), (sys.stderr, "flush")),
    )
    for owner, name in lasts:
        with suppress(BaseException):  # nobody hears of it any more
            getattr(owner, name)()
    os._exit(0)


if __name__ == "__main__":
    _place_package()
    from coldwarm.worker import session

    session.run(int(sys.argv[1]), int(sys.argv[2]), _ENTERED_NS)
    _end()
