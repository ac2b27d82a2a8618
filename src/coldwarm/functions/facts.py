"""Runs a function once in a process of its own, and tells what it returned or raised.

For what is no duration: whether two arrays are equal, which error comes, how many bytes are
kept. What was compiled meanwhile is counted from outside.
"""

import sys
import time

from coldwarm.frameworks.base import versions
from coldwarm.functions import target
from coldwarm.functions.backend import UserFunction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_VERSIONS = ("jax", "jaxlib", "numpy", "torch", "numba", "optax")
_LONGEST = 300


def report(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Call the function and return its facts, or the error that it raised.

    Raises:
        TargetError: it returned no dict of plain values.
    """
    backend = UserFunction(job["device"], job["threads"])
    backend.take({**job["function"], "kind": "function", "mutates": False})
    backend.import_runtime()
    function = target.resolve(sys.modules[job["function"]["module"]], job["function"]["name"])
    backend.watch()
    facts: dict[str, Any] = {}
    raised = None
    begin_ns = time.perf_counter_ns()
    try:
        facts = _plain(function())
    except target.TargetError:
        raise
    except Exception as error:  # noqa: BLE001 - which one comes may be what is asked
        line = (str(error).splitlines() or [""])[0]
        raised = {"error": type(error).__name__, "text": line[:_LONGEST]}
    return {
        "type": "facts",
        "facts": facts,
        "raised": raised,
        "call_s": (time.perf_counter_ns() - begin_ns) / 1e9,
        "programs": backend.compiles_so_far(),
        "versions": versions(*_VERSIONS),
    }


def _plain(given: "Any") -> "dict[str, Any]":
    """Return what a function gave, as plain values.

    Raises:
        TargetError: it is something else.
    """
    if not isinstance(given, dict):
        text = f"a function of facts returns a dict; this one returned a {type(given).__name__}"
        raise target.TargetError(text)
    return {str(name): _value(str(name), value) for name, value in given.items()}


def _value(name: str, value: "Any") -> "Any":
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    text = f"the fact {name!r} is a {type(value).__name__}; give a number, a text or a flag"
    raise target.TargetError(text)
