"""What a test asks of compiling: the ``coldwarm`` fixture."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coldwarm.errors import ColdwarmError
from coldwarm.integrations.testing import failing, following, subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.summary import Summary
    from coldwarm.inprocess.result import BenchResult
    from coldwarm.integrations.testing.kept import Kept
    from coldwarm.integrations.testing.subjects import Subject

_BUDGET_S = 2.0


class _NoRecompile:
    """A block in which nothing is to be compiled."""

    def __init__(self, subject: Subject | None) -> None:
        """Look at one function; ``None``: at all."""
        self._subject = subject
        self._begin = 0

    def __enter__(self) -> None:
        """Begin."""
        self._begin = following.now()

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Fail where something was compiled, unless the block itself has failed.

        Raises:
            AssertionError: it was.
            UsageError: of the function nothing was ever compiled: it would pass whatever happens.
        """
        __tracebackhide__ = True
        if kind is not None:
            return
        found = following.programs(self._begin, operations=False)
        mine = self._subject
        calls = [one for one in found if mine is None or mine.has(one)]
        everything = following.since(0)
        if calls:
            text = failing.told(calls, everything)
            raise AssertionError(f"compiled here, and nothing should be:\n{text}")
        if mine is not None and not (mine.is_compiled or any(map(mine.has, everything))):
            raise mine.unseen()


class Measuring:
    """Measures, and asserts, inside of a test."""

    def __init__(self, test: str, kept: Callable[[], Kept]) -> None:
        """Follow what is compiled from now on; ``kept`` is where measurements go."""
        self._test, self._kept = test, kept
        following.begin()

    @staticmethod
    def assert_no_recompile(function: Callable[..., Any] | None = None) -> _NoRecompile:
        """Fail where any function, or this one, needs a new program inside of the block.

        The first one counts, too, and one that is read from a cache on disk. Single operations
        outside of ``jit`` do not count.

        Raises:
            AssertionError: at the end of the block, with the argument that changed and its earlier
                values.
            UsageError: it is no function that anything compiles.
        """
        __tracebackhide__ = True
        return _NoRecompile(None if function is None else subjects.subject(function))

    def warm(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> BenchResult:
        """Measure the warm calls of a function in this process, for about two seconds.

        Raises:
            UsageError: it cannot be called so.
        """
        __tracebackhide__ = True
        from coldwarm.integrations.testing import kept, turns

        public: Any = import_module("coldwarm")
        try:
            with turns.alone():
                measure = public.Benchmark(cold=False, time_budget_s=_BUDGET_S)
                result: BenchResult = measure(function, *args, **kwargs)
        except ColdwarmError as error:
            raise error.with_traceback(None) from None
        self._kept().add_calls(self._test, kept.told(result), kept.calls(self._test, result))
        return result

    def assert_ttfr(  # noqa: PLR0913 - each is one choice, by name
        self,
        target: str,
        *,
        below: float | None = None,
        baseline: str | os.PathLike[str] | None = None,
        inputs: Sequence[str] = (),
        caches: str = "empty",
        processes: int = 6,
        timeout_s: float = 300.0,
        allow: Sequence[str] = (),
    ) -> Summary:
        """Fail where the first result of a function comes later than it may.

        It is measured in fresh processes: the import of its module and the first call. The test
        fails only where the whole interval lies above the limit.

        Args:
            target: ``package.module:name`` or ``file.py:name``, as ``coldwarm bench`` takes it.
            below: With a baseline, how many times as long as there it may take, by default 1.1;
                without one, seconds.
            baseline: A stored result: a run of ``coldwarm bench``, or a file that
                ``--coldwarm-save`` has written.
            inputs: Its arguments, as of ``coldwarm bench --input``: ``["x=f32[512]"]``.
            caches: ``empty``, or ``filled`` by a process before.
            processes: How many fresh processes, five or more.
            timeout_s: Seconds in which each must answer.
            allow: What may differ between the two, as of ``coldwarm compare --allow``.

        Returns:
            The seconds to the first result: ``.median``, ``.low``, ``.high``.

        Raises:
            AssertionError: it comes later; with both figures and their intervals.
            UsageError: it cannot be measured so, or not be compared with the baseline.
            ContractError: the baseline is broken.
        """
        __tracebackhide__ = True
        from coldwarm.integrations.testing.asked import Asked, Limit

        # By its name, as the command line loads its commands.
        starts: Any = import_module(f"{__package__}.starts")
        try:
            asked = Asked(target, tuple(inputs), caches, processes, timeout_s)
            limit = Limit(below, None if baseline is None else os.fspath(baseline), allow)
            found = starts.first_result(asked, limit)
        except ColdwarmError as error:  # told at the line of the test
            raise error.with_traceback(None) from None
        self._kept().add(self._test, found.text, found.benchmarks)
        if found.late:
            raise AssertionError(found.late)
        seconds: Summary = found.seconds
        return seconds
