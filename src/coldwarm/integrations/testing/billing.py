"""Takes the bill of a session: test by test, and from the workers of pytest-xdist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.integrations.testing import billed, following
from coldwarm.integrations.testing.bill import OUTSIDE, Bill, of_plain, plain

if TYPE_CHECKING:
    from collections.abc import Generator

_TOLD = "coldwarm_bill"
"""Under which a worker tells its bill."""


class Billing:
    """The hooks of a session that has asked for its bill."""

    def __init__(self, config: pytest.Config) -> None:
        """Follow what is compiled, except where only the workers run tests."""
        self._bill = Bill()
        self._missing: list[str] = []
        self._config = config
        self._runs = config.getoption("dist", "no") == "no" or hasattr(config, "workerinput")
        self._place = 0
        if self._runs:
            following.begin(fingerprints=True)
            self._place = following.now()

    def _take(self, test: str) -> None:
        """Put on the bill what was compiled since this was done last."""
        if self._runs:
            calls, self._place = following.since(self._place), following.now()
            if calls or test != OUTSIDE:
                self._bill.add(test, calls)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Take what a test compiles, its fixtures included."""
        self._take(OUTSIDE)
        try:
            return (yield)
        finally:
            self._take(item.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Tell the bill, where this is a worker."""
        self._take(OUTSIDE)
        if self._runs:
            self._bill.failures = following.failures()
        told = getattr(self._config, "workeroutput", None)
        if told is not None:
            told[_TOLD] = plain(self._bill)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the bill of a worker that ends."""
        told = getattr(node, "workeroutput", {}).get(_TOLD)
        if told is None:
            self._missing.append(str(node.gateway.id))
        else:
            self._bill.merge(of_plain(told))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the bill."""
        reports = [one for some in terminalreporter.stats.values() for one in some]
        tests_s = sum(one.duration for one in reports if type(one) is pytest.TestReport)
        terminalreporter.section(billed.TITLE)
        for line in billed.lines(self._bill, tests_s, self._missing):
            terminalreporter.write_line(line)
