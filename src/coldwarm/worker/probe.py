"""What is installed in this interpreter, and whether a GPU is there; run by path, cheap.

Reads ``{"modules": […], "distributions": […], "programs": […], "gpu": bool, "compile": […]}``
from standard input and answers with one line of JSON. No framework is imported. The files
named under ``compile`` (the measured side's own) get bytecode where they have none, so
that no measured process has to parse them.
"""

import json
import sys
from importlib import metadata, util
from shutil import which

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _version(distribution: str) -> "str | None":
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _found(module: str) -> bool:
    try:
        return util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def gpu_count() -> int:
    """Return the number of NVIDIA GPUs, asked of the driver itself."""
    import ctypes

    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


def write_bytecode(paths: "list[str]") -> None:
    """Compile the files whose bytecode is missing or stale; a read-only folder is fine."""
    import py_compile

    sys.dont_write_bytecode = False
    for path in paths:
        try:
            py_compile.compile(path, doraise=True)
        except (OSError, py_compile.PyCompileError):
            # Read-only, or a user's file in the language of another interpreter.
            continue


def answer(question: "dict[str, Any]") -> "dict[str, Any]":
    """Return what was asked."""
    write_bytecode(question["compile"])
    return {
        "modules": {name: _found(name) for name in question["modules"]},
        "versions": {name: _version(name) for name in question["distributions"]},
        "programs": {name: which(name) is not None for name in question["programs"]},
        "gpus": gpu_count() if question["gpu"] else None,
    }


if __name__ == "__main__":
    print(json.dumps(answer(json.load(sys.stdin))))  # noqa: T201 - its answer
