"""A candidate on its way through a measured process."""

from coldwarm.worker.scenario import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import numpy as np

    from coldwarm.backends.base import Backend


class Prepared:
    """A candidate after its first two calls."""

    def __init__(
        self,
        job: "Mapping[str, Any]",
        backend: "Backend",
        workload: "Any",
        function: "Callable[..., Any] | None",
        arguments: "tuple[Any, ...]",
    ) -> None:
        """Keep what the warm calls need; what was made ahead of time gives the function later."""
        self.job = job
        self.backend = backend
        self.workload = workload
        self.function: Any = function
        self.arguments = arguments
        self.keywords: tuple[str, ...] = getattr(workload, "keywords", ())
        """Names of the last arguments: those that are given by name."""
        self.renew: Callable[[], tuple[Any, ...]] | None = getattr(workload, "renew", None)
        """What gives the arguments anew, where a call uses them up."""
        self.reference_path: str | None = job["reference"]
        self.frozen = False
        """Whether what was there before the blocks is hidden from Python's collector."""
        self.loop: Loop | None = None
        """Of a scenario, which is then the function."""
        if function is not None and getattr(workload, "SCENARIO", False):
            self.loop = self.function = Loop(backend, function)

    def fresh(self) -> "tuple[Any, ...]":
        """Return the arguments of the next call; made anew where a call uses them up."""
        if self.renew is not None:
            self.arguments = self.renew()
        return self.arguments

    def dispatched(self, arguments: "tuple[Any, ...]") -> "Any":
        """Call once and return the output, which may not be finished."""
        if not self.keywords:
            return self.function(*arguments)
        n = len(arguments) - len(self.keywords)
        return self.function(*arguments[:n], **dict(zip(self.keywords, arguments[n:], strict=True)))

    def call(self, arguments: "tuple[Any, ...]") -> "Any":
        """Call once and return the finished output."""
        out = self.dispatched(arguments)
        if not self.backend.synchronous:
            self.backend.sync(out)
        return out

    def fetched(self, answer: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the arrays of an answer, on the host."""
        return self.backend.fetch(answer) if self.loop is None else self.backend.kept(answer)

    def answer(self, arguments: "tuple[Any, ...]") -> "Any":
        """Call once and return all that the gate checks: of a scenario, what each step gave."""
        return self.call(arguments) if self.loop is None else self.loop.outputs(*arguments)
