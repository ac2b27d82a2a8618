"""Programs that JAX has traced and compiled, counted: numbers that are the same in every process.

While something is timed, references alone are kept; they are looked into after that.
"""

import sys

from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from coldwarm.frameworks.base import Numbers

_MOST = 1000
"""Programs that are kept to be looked into."""
_NUMBER_BYTES = 4
_NEAR = 6
"""Frames above a listener in which JAX holds what it lowers."""


class Programs:
    """The programs of one process, up to ``mark``."""

    def __init__(self) -> None:
        """Start with none."""
        self._lowered: list[Any] = []
        self._with_constants: list[tuple[str, Any]] = []
        self._unseen = self._n_lowered = 0
        self._executables: list[Any] = []
        self._n_programs = 0

    def lowering(self) -> None:
        """Keep what is about to be lowered, from the frames of the listener that is told of it."""
        self._n_lowered += 1
        if self._n_lowered > _MOST:
            return
        frame: Any = sys._getframe(2)  # noqa: SLF001 - the documented way to a caller's frame
        for _ in range(_NEAR):
            if frame is None:
                break
            if "closed_jaxpr" in frame.f_code.co_varnames:
                closed = frame.f_locals.get("closed_jaxpr")
                if closed is not None:
                    self._lowered.append(closed.jaxpr)
                    if closed.consts:
                        name = str(frame.f_locals.get("module_name", ""))
                        self._with_constants.append((name, closed.jaxpr))
                    return
            frame = frame.f_back
        self._unseen += 1

    def mark(self, n_programs: int) -> None:
        """Count up to here alone: so many programs were compiled or read. Quick."""
        self._n_programs = n_programs
        self._executables = _loaded()
        self._lowered, lowered = [], self._lowered
        self._equations: Any = self._why_unseen() or sum(map(n_equations, lowered))

    def counts(self) -> "Numbers":
        """Return the counts up to ``mark``, by name: a number, or why there is none."""
        gone = self._n_programs - len(self._executables)
        instructions = (
            because("programs_gone", n_programs=gone)
            if gone > 0
            else sum(map(_n_instructions, self._executables))
        )
        return {
            "programs": self._n_programs,
            "equations": self._equations,
            "instructions": instructions,
        }

    def folded(self) -> "list[str]":
        """Return the programs up to ``mark`` that are next to nothing but constants of JAX.

        Their jaxprs compute from arrays that they hold, and XLA has done that while compiling:
        their executables have no more operations than their results have numbers.
        """
        light = {
            _plain(name) for name, flops, size in map(_cost, self._executables) if flops <= size
        }
        held = [name for name, jaxpr in self._with_constants if _of_constants_alone(jaxpr)]
        return list(dict.fromkeys(name for name in held if _plain(name) in light))

    def _why_unseen(self) -> "Mapping[str, Any] | None":
        if self._n_lowered > _MOST:
            return because("many_programs", n_programs=self._n_lowered, n_counted=_MOST)
        return because("not_told", by="this version of JAX") if self._unseen else None


def n_equations(jaxpr: "Any") -> int:
    """Return the equations of a program, those of its inner ones too; a shared one counts once."""
    return sum(1 for _ in equations(jaxpr))


def equations(jaxpr: "Any") -> "Iterator[Any]":
    """Yield the equations of a program, and those of its inner ones; of a shared one once."""
    for one in programs(jaxpr):
        yield from one.eqns


def programs(jaxpr: "Any") -> "Iterator[Any]":
    """Yield a program and its inner ones, a shared one once."""
    seen: dict[int, Any] = {}
    left = [jaxpr]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        yield one
        for equation in one.eqns:
            left += inner(equation)


def inner(equation: "Any") -> "Iterator[Any]":
    """Yield the programs that an equation is made of."""
    return _among(list(equation.params.values()))


def _among(values: "list[Any]") -> "Iterator[Any]":
    for value in values:
        if isinstance(value, tuple | list):
            yield from _among(list(value))
        elif hasattr(value, "eqns"):
            yield getattr(value, "jaxpr", value)


def _loaded() -> "list[Any]":
    """Return the executables of this process, on every device that was used."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    clients = list(getattr(bridge, "_backends", {}).values())
    return [one for client in clients for one in client.live_executables()]


def _n_instructions(executable: "Any") -> int:
    """Return the instructions of a program as XLA has optimised it, inside fusions too.

    In its text every instruction has a line, ``%name = …`` or ``ROOT %name = …``.
    """
    return sum(
        row[:1] == " " and " = " in row
        for module in executable.hlo_modules()
        for row in module.to_string().splitlines()
    )


def _plain(name: str) -> str:
    """Return a program's name as both JAX and XLA have it: ``jit(<f>)`` and ``jit__f_``."""
    return "".join(letter if letter.isalnum() else "_" for letter in name).strip("_")


def _cost(executable: "Any") -> "tuple[str, float, float]":
    """Return a program's name, its operations, and the numbers in its results."""
    (name, *_) = [module.name for module in executable.hlo_modules()]
    costs = executable.cost_analysis()
    done = costs.get("flops", 0.0) + costs.get("transcendentals", 0.0)
    return name, done, costs.get("bytes accessedout{}", 0.0) / _NUMBER_BYTES


def _of_constants_alone(jaxpr: "Any") -> bool:
    """Say whether a program computes something of which nothing comes from its inputs.

    Beside what comes from them, one step alone is nothing.
    """
    given = set(map(id, jaxpr.invars))
    alone = []
    for equation in jaxpr.eqns:
        inputs = [one for one in equation.invars if not hasattr(one, "val")]
        if any(id(one) in given for one in inputs):
            given.update(map(id, equation.outvars))
        elif inputs:
            alone.append(equation)
    below = sum(n_equations(one) for each in alone for one in inner(each))
    return bool(alone) and (not jaxpr.invars or len(alone) + below > 1)
