"""What a test asks of compiling: the ``coldwarm`` fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.integrations.testing import failing, following

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.inprocess.result import BenchResult

_BUDGET_S = 2.0


class NoRecompile:
    """A block in which nothing is to be compiled."""

    def __init__(self, function: Callable[..., Any] | None) -> None:
        """Look at one function; ``None``: at all."""
        self._function = function
        self._begin = 0

    def __enter__(self) -> None:
        """Begin."""
        self._begin = following.now()

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Fail where something was compiled, unless the block itself has failed.

        Raises:
            AssertionError: it was.
        """
        __tracebackhide__ = True
        if kind is not None:
            return
        found = following.programs(self._begin, operations=False)
        mine = self._function
        calls = [one for one in found if mine is None or following.is_of(one, mine)]
        if calls:
            text = failing.told(calls, following.since(0))
            raise AssertionError(f"compiled here, and nothing should be:\n{text}")


class Measuring:
    """Measures, and asserts, inside of a test."""

    def __init__(self) -> None:
        """Follow what is compiled from now on."""
        following.begin()

    @staticmethod
    def assert_no_recompile(function: Callable[..., Any] | None = None) -> NoRecompile:
        """Fail where anything, or this function alone, needs a new program inside of the block.

        One that is read from a cache on disk is new, too. Single operations outside of ``jit`` do
        not count.

        Raises:
            AssertionError: at the end of the block, with the argument that changed and its earlier
                values.
        """
        return NoRecompile(function)

    @staticmethod
    def warm(function: Callable[..., Any], *args: Any, **kwargs: Any) -> BenchResult:
        """Measure the warm calls of a function in this process, for about two seconds.

        Raises:
            UsageError: it cannot be called so.
        """
        from coldwarm.inprocess.bench import Benchmark

        return Benchmark(cold=False, time_budget_s=_BUDGET_S)(function, *args, **kwargs)
