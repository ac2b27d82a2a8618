"""The pytest plug-in: tests that fail when a function compiles again, and the bill of a suite.

Nothing is watched, and next to nothing is imported, before a test or an option asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from coldwarm.contracts.result import Benchmarks
    from coldwarm.integrations.pytest_fixture import MeasureFixture
    from coldwarm.integrations.pytest_measured import Measurements

_KEPT: pytest.StashKey[Measurements] = pytest.StashKey()
"""Measurements of a session's tests."""
_BASE: pytest.StashKey[Benchmarks] = pytest.StashKey()
_TOLD = "coldwarm_kept"
"""Under which a worker of pytest-xdist tells it."""
_MARKERS = (
    "max_compiles(n, operations=False): fail the test where more than n programs are compiled",
    "no_compiles: fail the test where anything is compiled; what is read from a cache is let alone",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the plug-in is asked by."""
    group = parser.getgroup("coldwarm")
    group.addoption(
        "--coldwarm-bill",
        action="store_true",
        help="At the end, say how many seconds each test has spent compiling.",
    )
    group.addoption(
        "--coldwarm-save",
        metavar="FILE",
        help="Save what tests have measured, for --coldwarm-compare and `coldwarm compare`.",
    )
    group.addoption(
        "--coldwarm-compare",
        metavar="BASE",
        help="Compare what tests have measured with a file saved before, or with a run.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and begin with what the options ask for."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    if config.getoption("--coldwarm-bill"):
        from coldwarm.integrations.pytest_compiles import CompileCostPlugin

        config.pluginmanager.register(CompileCostPlugin(config), "coldwarm-bill")
    save, base = config.getoption("--coldwarm-save"), config.getoption("--coldwarm-compare")
    if (save or base) and not hasattr(config, "workerinput"):
        from coldwarm.errors import ColdwarmError
        from coldwarm.integrations import pytest_measured

        try:
            if save:
                pytest_measured.refuse_place(save)
            if base:
                config.stash[_BASE] = pytest_measured.base(base)
        except ColdwarmError as error:
            raise pytest.UsageError(*error.lines) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a marked test that compiles too much."""
    marker = item.get_closest_marker("max_compiles")
    none_at_all = item.get_closest_marker("no_compiles") is not None
    if marker is None and not none_at_all:
        return (yield)
    limit = (0, False) if marker is None else _limit(*marker.args, **marker.kwargs)
    if isinstance(limit, str):
        pytest.fail(limit, pytrace=False)
    most, operations = limit
    from coldwarm.integrations import pytest_compiles

    begin = pytest_compiles.now()
    result = yield
    calls = pytest_compiles.programs(begin, operations=operations)
    calls = [one for one in calls if not (none_at_all and one.hit)]
    if len(calls) > most:
        told = pytest_compiles.describe_compiles(calls, pytest_compiles.since(0))
        times = "1 time" if len(calls) == 1 else f"{len(calls)} times"
        text = f"compiled {times}, at most {most} may be:\n{told}"
        pytest.fail(text, pytrace=False)
    return result


def _limit(*given: Any, **named: Any) -> tuple[int, bool] | str:
    """Return how many programs may be compiled, and whether operations count; or what is wrong."""
    wrong = [name for name in named if name not in {"n", "operations"}]
    if wrong:
        return f"max_compiles takes n and operations, not {', '.join(wrong)}"
    if len(given) + ("n" in named) > 1:
        return "max_compiles takes one number; operations by its name: operations=True"
    most = given[0] if given else named.get("n")
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        return "max_compiles takes a whole number, 0 or more: @pytest.mark.max_compiles(1)"
    operations = named.get("operations", False)
    if not isinstance(operations, bool):
        return f"max_compiles: operations is True or False, not {operations!r}"
    return most, operations


@pytest.fixture
def coldwarm(request: pytest.FixtureRequest) -> MeasureFixture:
    """Return what measures and asserts inside of a test."""
    from coldwarm.integrations.pytest_fixture import MeasureFixture

    return MeasureFixture(request.node.nodeid, lambda: _kept(request.config))


def _kept(config: pytest.Config) -> Measurements:
    from coldwarm.integrations.pytest_measured import Measurements

    return config.stash.setdefault(_KEPT, Measurements())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell what was measured, where this is a worker."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None and _KEPT in session.config.stash:
        told[_TOLD] = session.config.stash[_KEPT].plain()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker has measured, when it ends."""
    told = getattr(node, "workeroutput", {}).get(_TOLD)
    if told is not None:
        _kept(node.config).merge(told)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was measured; save it and compare it, where that is asked for."""
    save, base = config.getoption("--coldwarm-save"), config.stash.get(_BASE, None)
    if _KEPT not in config.stash and not save and base is None:
        return
    from coldwarm.integrations import pytest_measured

    terminalreporter.section(pytest_measured.TITLE)
    width = config.get_terminal_writer().fullwidth
    for line in pytest_measured.lines(_kept(config), width, save=save, against=base):
        terminalreporter.write_line(line)
