"""Packages installed in this interpreter, and whether a GPU is there; run by path, cheap.

Reads ``{"modules": […], "distributions": […], "programs": […], "gpu": bool, "compile": […]}``
from standard input and answers with one line of JSON. No framework is imported. The files
named under ``compile`` (the measured side's own) get bytecode where they have none, so
that no measured process has to parse them.
"""

import json
import marshal
import os
import sys
from importlib import metadata, util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from shutil import which
from types import CodeType

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


_HEADER_BYTES = 16


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


def _gpu_count() -> int:
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


def _write_bytecode(paths: "list[str]") -> None:
    """Compile the files whose bytecode is missing, stale or damaged.

    A folder that cannot be written is fine; but half a file, which a full disk leaves, would stop
    every process that loads it: it is never left, and one that is there is removed.
    """
    for name in paths:
        path, place = Path(name), Path(util.cache_from_source(name))
        try:
            if _usable(place, path):
                continue
            place.unlink(missing_ok=True)
            _write(place, _compiled(path))
            if not _usable(place, path):
                place.unlink(missing_ok=True)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            # Read-only or full, or a user's file in the language of another interpreter.
            continue


def _usable(place: Path, path: Path) -> bool:
    """Say whether a file of bytecode is whole and that of its source."""
    try:
        data = place.read_bytes()
        whole = isinstance(marshal.loads(data[_HEADER_BYTES:]), CodeType)  # noqa: S302 - as Python would
        return whole and data[:_HEADER_BYTES] == _header(path)
    except (OSError, EOFError, ValueError, TypeError, MemoryError):
        return False


def _header(path: Path) -> bytes:
    """Return what bytecode begins with: the version of its language, no flags, its source."""
    source = path.stat()
    numbers = (0, int(source.st_mtime), source.st_size)
    words = [(number & 0xFFFFFFFF).to_bytes(4, "little") for number in numbers]
    return b"".join([util.MAGIC_NUMBER, *words])


def _compiled(path: Path) -> bytes:
    code = SourceFileLoader("<bytecode>", str(path)).source_to_code(path.read_bytes(), str(path))
    return _header(path) + marshal.dumps(code)


def _write(place: Path, data: bytes) -> None:
    """Write a file so that it is either whole or not there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def answer(question: "dict[str, Any]") -> "dict[str, Any]":
    """Return what was asked."""
    _write_bytecode(question["compile"])
    return {
        "modules": {name: _found(name) for name in question["modules"]},
        "versions": {name: _version(name) for name in question["distributions"]},
        "programs": {name: which(name) is not None for name in question["programs"]},
        "gpus": _gpu_count() if question["gpu"] else None,
    }


if __name__ == "__main__":
    print(json.dumps(answer(json.load(sys.stdin))))  # noqa: T201 - its answer
