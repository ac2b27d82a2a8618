"""The pytest plug-in: tests that fail when a function compiles again, and the bill of a suite.

Nothing is watched, and next to nothing is imported, before a test or an option asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from coldwarm.integrations.testing.measuring import Measuring

_MARKER = "max_compiles(n, operations=False): fail the test where more than n programs are compiled"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the plug-in is asked by."""
    group = parser.getgroup("coldwarm")
    group.addoption(
        "--coldwarm-bill",
        action="store_true",
        help="At the end, say how many seconds each test has spent compiling.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and begin with what the options ask for."""
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("--coldwarm-bill"):
        from coldwarm.integrations.testing.billing import Billing

        config.pluginmanager.register(Billing(config), "coldwarm-bill")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a marked test that compiles too much."""
    marker = item.get_closest_marker("max_compiles")
    if marker is None:
        return (yield)
    most = marker.args[0] if marker.args else marker.kwargs.get("n")
    if not isinstance(most, int) or isinstance(most, bool):
        pytest.fail(
            "max_compiles takes a whole number: @pytest.mark.max_compiles(1)", pytrace=False
        )
    from coldwarm.integrations.testing import failing, following

    begin = following.now()
    result = yield
    calls = following.programs(begin, operations=bool(marker.kwargs.get("operations")))
    if len(calls) > most:
        told = failing.told(calls, following.since(0))
        text = f"compiled {len(calls)} times, at most {most} may be:\n{told}"
        pytest.fail(text, pytrace=False)
    return result


@pytest.fixture
def coldwarm() -> Measuring:
    """Return what measures and asserts inside of a test."""
    from coldwarm.integrations.testing.measuring import Measuring

    return Measuring()
