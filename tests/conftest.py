"""What holds for every test."""

from __future__ import annotations

import fcntl
import gc
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

# Programs of tests leave no bytecode in their folders, whether or not this process writes its own.
os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
# On a busy machine any example may take long: time is measured by other tests than these.
# A run judges a change, by the same examples each time; `--hypothesis-profile search` looks for new
# ones, and what it finds is kept as an `@example`.
_ANY_MACHINE = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("same examples", _ANY_MACHINE, derandomize=True, database=None)
settings.register_profile("search", _ANY_MACHINE, derandomize=False)
settings.load_profile("same examples")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run be shared among machines."""
    parser.addoption("--shard", default="1/1", help="K/N: only the K-th of N parts, by file")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of one part; files stay whole, and what they share is made once."""
    number, of = map(int, config.getoption("--shard").split("/"))
    if not 1 <= number <= of:
        raise pytest.UsageError(f"--shard {number}/{of}: there is no such part")
    parts: tuple[list[pytest.Item], list[pytest.Item]] = ([], [])
    for one in items:
        parts[crc32(one.path.name.encode()) % of == number - 1].append(one)
    dropped, items[:] = parts
    if dropped:
        config.hook.pytest_deselected(items=dropped)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage later, and never in what is collected: it stays until the end.

    Else each measurement here, which collects before it begins, would walk through ten thousand
    tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test that measures run alone, where pytest-xdist runs several at a time."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    factory: pytest.TempPathFactory = item.config._tmp_path_factory  # type: ignore[attr-defined]
    alone = item.get_closest_marker("measures") is not None
    with _turn(factory.getbasetemp().parent, alone=alone):
        return (yield)


@contextmanager
def _turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """Hold the machine, for oneself or with others; who waits for all of it lets nobody by."""
    with (folder / "next").open("w") as following, (folder / "machine").open("w") as machine:
        fcntl.flock(following, fcntl.LOCK_EX)
        fcntl.flock(machine, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(following, fcntl.LOCK_UN)
        yield
