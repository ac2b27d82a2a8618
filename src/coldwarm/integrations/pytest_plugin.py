"""The pytest plug-in: tests that fail when a function compiles again, and the bill of a suite.

Nothing is watched, and next to nothing is imported, before a test or an option asks for it.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from coldwarm.stats.doctor.seen import Call

_MARKER = "max_compiles(n, operations=False): fail the test where more than n programs are compiled"
_SECONDS = "coldwarm_compile_s"
"""Of a report's user properties: the seconds that a test has compiled."""
_BEGIN = pytest.StashKey[int]()
_MOST_LINES = 10
_BUDGET_S = 2.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the plug-in is asked by."""
    group = parser.getgroup("coldwarm")
    group.addoption(
        "--coldwarm-bill",
        action="store_true",
        help="At the end, say how many seconds each test has spent compiling.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note where a test begins, before its fixtures, where a bill is asked for."""
    if item.config.getoption("--coldwarm-bill"):
        item.stash[_BEGIN] = _now()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the last report of a test carry what it compiled, from a worker of xdist too."""
    report: pytest.TestReport = yield
    if call.when == "teardown" and _BEGIN in item.stash:
        seconds = sum(one.total_s for one in _since(item.stash[_BEGIN]))
        report.user_properties.append((_SECONDS, seconds))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a marked test that compiles too much."""
    __tracebackhide__ = True
    marker = item.get_closest_marker("max_compiles")
    if marker is None:
        return (yield)
    most = marker.args[0] if marker.args else marker.kwargs.get("n")
    if not isinstance(most, int) or isinstance(most, bool):
        pytest.fail(
            "max_compiles takes a whole number: @pytest.mark.max_compiles(1)", pytrace=False
        )
    begin = _now()
    result = yield
    calls = _compiled(begin, operations=bool(marker.kwargs.get("operations")))
    if len(calls) > most:
        pytest.fail(f"compiled {len(calls)} times, at most {most} may be:\n{_told(calls)}")
    return result


class Measuring:
    """What a test asks of compiling: the ``coldwarm`` fixture."""

    @staticmethod
    @contextmanager
    def assert_no_recompile(function: Callable[..., Any] | None = None) -> Iterator[None]:
        """Fail where anything, or this function alone, is compiled inside of the block.

        Single operations outside of ``jit`` do not count.

        Raises:
            AssertionError: it was, with the argument that changed and its earlier value.
        """
        __tracebackhide__ = True
        begin = _now()
        yield
        calls = [one for one in _compiled(begin) if function is None or _is(one, function)]
        if calls:
            text = f"compiled here, and nothing should be:\n{_told(calls)}"
            raise AssertionError(text)

    @staticmethod
    def warm(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Measure the warm calls of a function in this process, for about two seconds."""
        public: Any = import_module("coldwarm")
        return public.Benchmark(cold=False, time_budget_s=_BUDGET_S)(function, *args, **kwargs)


@pytest.fixture
def coldwarm() -> Measuring:
    """Return what measures and asserts inside of a test."""
    _now()
    return Measuring()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the bill."""
    if not config.getoption("--coldwarm-bill"):
        return
    rows = [
        (dict(report.user_properties).get(_SECONDS, 0.0), report.nodeid)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
    ]
    terminalreporter.section("coldwarm: seconds of compiling")
    for seconds, name in sorted(rows, reverse=True)[:_MOST_LINES]:
        if seconds > 0:
            terminalreporter.write_line(f"{seconds:8.2f} s  {name}")
    whole = sum(seconds for seconds, _ in rows)
    terminalreporter.write_line(f"{whole:8.2f} s  in {len(rows)} tests")


def _now() -> int:
    """Return how many rows there are; from the first time on they are written."""
    from coldwarm.doctor.inside import followed

    memory = followed()
    return memory.n_gone + len(memory.rows)


def _since(begin: int) -> list[Call]:
    from coldwarm.doctor.inside import followed
    from coldwarm.stats.doctor.seen import Seen
    from coldwarm.stats.doctor.sources import Sources

    return Seen(followed().since(begin), (), Sources({})).calls


def _compiled(begin: int, *, operations: bool = False) -> list[Call]:
    return [
        one
        for one in _since(begin)
        if one.compiled and not one.hit and (operations or not one.is_operation)
    ]


def _is(call: Call, function: Callable[..., Any]) -> bool:
    from coldwarm.doctor.functions import code_of

    code = code_of(function)
    where = call.function.get("path"), call.function.get("line")
    return code is not None and where == (code.co_filename, code.co_firstlineno)


def _told(calls: list[Call]) -> str:
    """Return a line for each call: where, what, and which argument changed from what to what."""
    lines = []
    for one in calls[:_MOST_LINES]:
        where = f"{one.site.path}:{one.site.line}" if one.site else "?"
        given = ", ".join(f"{name}: {kind}" for name, kind in one.arguments.items())
        text = f"  {where}: {one.name}({given})"
        for each in one.differences[:3]:
            text += f"\n    `{each['argument']}` was {each['before']}, and is {each['now']}"
        lines.append(text)
    if len(calls) > _MOST_LINES:
        lines.append(f"  … and {len(calls) - _MOST_LINES} more")
    return "\n".join(lines)
