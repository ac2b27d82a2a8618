"""Follows what is compiled in a process that asks for it itself: in tests, notebooks and code."""

from coldwarm.doctor.memory import Memory
from coldwarm.frameworks.awaited import Awaited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_followed: "list[Memory]" = []


def followed() -> Memory:
    """Return the rows of this process, which are written from the first time this is asked."""
    if not _followed:
        memory = Memory()
        _followed.append(memory)
        _begin(memory)
    return _followed[0]


def _begin(memory: Memory) -> None:
    import sys

    waiting: dict[str, Callable[[], object]] = {
        "jax": lambda: _jax(memory),
        "torch._dynamo": lambda: _torch(memory),
        "numba": lambda: _numba(memory),
    }
    for name, tell in waiting.items():
        if name in sys.modules:
            tell()
    Awaited({name: tell for name, tell in waiting.items() if name not in sys.modules}).begin()


def _jax(memory: "Any") -> None:
    from coldwarm.doctor.jax_stages import JaxStages

    JaxStages(memory).begin()


def _torch(memory: "Any") -> None:
    from coldwarm.doctor.torch_compiles import TorchCompiles

    TorchCompiles(memory).begin()


def _numba(memory: "Any") -> None:
    from coldwarm.doctor.numba_compiles import NumbaCompiles

    NumbaCompiles(memory).begin()
