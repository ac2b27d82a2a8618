"""Requests of a test about compiling: the ``coldwarm`` fixture."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coldwarm.doctor.record.compiled_functions import code_of
from coldwarm.doctor.record.sites import path_of
from coldwarm.errors import ColdwarmError, UsageError
from coldwarm.integrations import pytest_compiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType

    from coldwarm.contracts.answer import Summary
    from coldwarm.doctor.trace import CompiledCall
    from coldwarm.inprocess.bench_result import BenchResult


_TAKES = "assert_no_recompile takes a function under jit, torch.compile or Numba"
_MOST_LAYERS = 32
_LONGEST = 60
_COMPILES = ("lower", "py_func")
"""Attributes of functions that ``jit`` of JAX, Equinox and Flax returns, and those of Numba."""
_OF_TORCH = ("_torchdynamo_orig_callable", "_orig_mod", "_compiled_call_impl")
_CALLING = ("_wrapped_call_impl", "_call_impl")
"""Methods by which PyTorch calls a module's own."""


@dataclass(frozen=True)
class _Subject:
    """A function that somebody wrote, under whatever compiles it."""

    name: str
    code: CodeType
    is_compiled: bool
    """Whether it is given as what compiles it: then it is one, also where nothing was seen."""

    def has(self, call: CompiledCall) -> bool:
        """Say whether a call has compiled this function, by the code that somebody wrote.

        PyTorch compiles the rest of a function after a graph break, and what is called from there,
        on its own.
        """
        path = path_of(self.code.co_filename)
        where = call.function.path, call.function.line
        if where[0] is not None and (path_of(where[0]), where[1]) == (
            path,
            self.code.co_firstlineno,
        ):
            return True
        inside = (path, self.code.co_qualname)
        return call.framework == "torch" and any(
            (path_of(one.path), one.function) == inside for one in call.stack
        )

    def unseen(self) -> UsageError:
        """Return what is wrong with a function of which nothing was ever compiled."""
        return UsageError(f"{_TAKES}; of {self.name} nothing has been compiled, as far as was seen")


def subject(function: Any) -> _Subject:
    """Return what a test names.

    Raises:
        UsageError: it is no function, or one that cannot be told from others.
    """
    __tracebackhide__ = True
    if not callable(function) or isinstance(function, type):
        raise UsageError(f"{_TAKES}, not {_shown(function)}")
    layers = list(_layers(function))
    code = code_of(layers[-1])
    is_compiled = any(map(_compiles, layers))
    if code is not None:
        return _Subject(_named(code), code, is_compiled)
    if is_compiled:
        what = f"assert_no_recompile cannot tell {_shown(function)} from others"
        raise UsageError(f"{what}: it is not written in Python. Leave it out, to look at all")
    raise UsageError(f"{_TAKES}, not {_shown(function)}")


def _layers(function: Any) -> Iterator[Any]:
    """Yield a function, and what is inside of it, down to what somebody wrote."""
    inner = function
    for _ in range(_MOST_LAYERS):
        if inner is None:
            return
        yield inner
        inner = _within(inner)


def _within(function: Any) -> Any:
    """Return what is inside of a function; ``None``: nothing is."""
    module = _of_torch(function)
    if module is not None:
        return getattr(module, "_orig_mod", None) or module.forward
    if isinstance(function, functools.partial) or _is_of_equinox(function):
        return function.func
    if inspect.ismethod(function):
        bound = function.__func__
        return function.__self__ if getattr(bound, "__name__", "") in _CALLING else bound
    if hasattr(function, "__wrapped__"):
        return function.__wrapped__
    if hasattr(function, "__code__"):
        return None
    called = next((vars(one)["__call__"] for one in _classes(function)), None)
    called = getattr(called, "method", called)  # of Equinox
    return called if hasattr(called, "__wrapped__") else None


def _of_torch(function: Any) -> Any:
    """Return a module of PyTorch; ``None``: it is none."""
    found = getattr(sys.modules.get("torch.nn"), "Module", None)
    return function if found is not None and isinstance(function, found) else None


def _is_of_equinox(function: Any) -> bool:
    """Say whether it is a partial function of Equinox: a method that is taken from an object."""
    kind = type(function)
    return kind.__name__ == "Partial" and kind.__module__.partition(".")[0] == "equinox"


def _classes(function: Any) -> Iterator[type]:
    return (one for one in type(function).__mro__ if "__call__" in vars(one))


def _compiles(layer: Any) -> bool:
    if any(callable(getattr(layer, name, None)) for name in _COMPILES):
        return True
    return any(getattr(layer, name, None) is not None for name in _OF_TORCH)


def _named(code: CodeType) -> str:
    return f"{code.co_qualname.replace('<locals>.', '')} ({code.co_filename}:{code.co_firstlineno})"


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_BUDGET_S = 2.0


class _NoRecompile:
    """A block in which nothing is to be compiled."""

    def __init__(self, subject: _Subject | None) -> None:
        """Look at one function; ``None``: at all."""
        self._subject = subject
        self._begin = 0

    def __enter__(self) -> None:
        """Begin."""
        self._begin = pytest_compiles.now()

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Fail where something was compiled, unless the block itself has failed.

        Raises:
            AssertionError: it was.
            UsageError: of the function nothing was ever compiled: it would pass whatever happens.
        """
        __tracebackhide__ = True
        if kind is not None:
            return
        found = pytest_compiles.programs(self._begin, operations=False)
        mine = self._subject
        calls = [one for one in found if mine is None or mine.has(one)]
        everything = pytest_compiles.since(0)
        if calls:
            text = pytest_compiles.describe_compiles(calls, everything)
            raise AssertionError(f"compiled here, and nothing should be:\n{text}")
        if mine is not None and not (mine.is_compiled or any(map(mine.has, everything))):
            raise mine.unseen()


class MeasureFixture:
    """Measures, and asserts, inside of a test."""

    def __init__(self, test: str, kept: Callable[[], Any]) -> None:
        """Follow what is compiled from now on; ``kept`` gives ``Measurements``."""
        self._test, self._kept = test, kept
        pytest_compiles.begin()

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
        return _NoRecompile(None if function is None else subject(function))

    def warm(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> BenchResult:
        """Measure the warm calls of a function in this process, for about two seconds.

        Raises:
            UsageError: it cannot be called so.
        """
        __tracebackhide__ = True
        measured: Any = import_module(f"{__package__}.pytest_measured")
        public: Any = import_module("coldwarm")
        try:
            with measured.alone():
                measure = public.Benchmark(cold=False, time_budget_s=_BUDGET_S)
                result: BenchResult = measure(function, *args, **kwargs)
        except ColdwarmError as error:
            raise error.with_traceback(None) from None
        self._kept().add_calls(self._test, result)
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
        # By its name, as the command line loads its commands.
        measured: Any = import_module(f"{__package__}.pytest_measured")
        try:
            asked = measured.FirstResultRequest(
                target,
                tuple(inputs),
                caches,
                processes,
                timeout_s,
                below=below,
                baseline=None if baseline is None else os.fspath(baseline),
                allow=allow,
            )
            found = measured.first_result(asked)
        except ColdwarmError as error:  # told at the line of the test
            raise error.with_traceback(None) from None
        self._kept().add(self._test, found.text, found.benchmarks)
        if found.late:
            raise AssertionError(found.late)
        seconds: Summary = found.seconds
        return seconds
