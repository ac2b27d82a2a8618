"""A scenario: a candidate whose call is a whole loop of many steps.

Its builder returns a generator function that yields what each step has computed. Every step is
synchronised and stamped by itself; so the first one gives a time to the first result, as for
any other candidate, and the others tell which of them had to compile.
"""

from coldwarm.worker.phases import now_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from coldwarm.backends.base import Backend


class Loop:
    """Runs a loop: step by step the first time, and as one call from then on."""

    def __init__(self, backend: "Backend", function: "Callable[..., Iterator[Any]]") -> None:
        """Begin nothing yet; ``function`` takes the placed inputs and yields outputs."""
        self._backend = backend
        self._function = function
        self._steps: Iterator[Any] = iter(())
        self._outputs: list[Any] = []
        self._steps_ns: list[int] = []
        self._compiles = [backend.compiles_so_far()]
        self._parts: Mapping[str, Any] = {}

    def __call__(self, *arguments: "Any") -> "Any":
        """Run the whole loop, each step finished before the next, and return the last output."""
        out = None
        for out in self._function(*arguments):
            if not self._backend.synchronous:
                self._backend.sync(out)
        return out

    def first(self, *arguments: "Any") -> "Any":
        """Begin the loop and return what its first step gives, finished."""
        begin_ns = now_ns()
        self._steps = self._function(*arguments)
        out = self._finished()
        self._steps_ns.append(now_ns() - begin_ns)
        return out

    def remaining(self, first: "Any") -> None:
        """Go through the other steps, each stamped by itself."""
        self._keep(first)
        while True:
            begin_ns = now_ns()
            try:
                out = self._finished()
            except StopIteration:
                return
            self._steps_ns.append(now_ns() - begin_ns)
            self._keep(out)

    def outputs(self, *arguments: "Any") -> "list[Any]":
        """Run the whole loop and return what every step gave, for the gate."""
        kept = []
        for out in self._function(*arguments):
            self._backend.sync(out)
            kept.append(self._backend.keep(out))
        return kept

    def taken(self) -> "list[Any]":
        """Return what the steps of the first time gave, and forget it."""
        kept, self._outputs = self._outputs, []
        return kept

    def ended(self, parts: "Mapping[str, Any]") -> None:
        """Take the parts of the steps after the first one."""
        self._parts = parts

    def account(self) -> "dict[str, Any]":
        """Return each step's ns, the compiles in each, and the parts of all but the first."""
        from itertools import pairwise

        counts = [count for count in self._compiles if count is not None]
        compiles = None
        if len(counts) == len(self._compiles):
            compiles = [after - before for before, after in pairwise(counts)]
        return {"steps_ns": self._steps_ns, "compiles": compiles, "parts": self._parts}

    def _finished(self) -> "Any":
        out = next(self._steps)
        if not self._backend.synchronous:
            self._backend.sync(out)
        return out

    def _keep(self, out: "Any") -> None:
        self._compiles.append(self._backend.compiles_so_far())
        self._outputs.append(self._backend.keep(out))
