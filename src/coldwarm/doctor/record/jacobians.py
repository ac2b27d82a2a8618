"""Jacobians that are taken in JAX: by rows or by columns, and how many there are of each."""

import sys

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


_NEAR = 12
"""Frames above a helper of JAX's in which the Jacobian is taken."""
_HELPERS = ("_std_basis", "_jacfwd_unravel")
"""Functions of JAX that are called while one is taken: the first by both ways, the second at the
end of ``jacfwd``, when the size of the output is known there too."""


def followed(journal: "Journal") -> "Callable[[], None]":
    """Write of each Jacobian from now on; return what ends that. JAX is loaded."""
    api: Any = sys.modules.get("jax._src.api")
    known: set[Any] = set()
    kept = {name: getattr(api, name) for name in _HELPERS if hasattr(api, name)}

    def noted(helper: "Any") -> "Any":
        def called(*given: "Any", **named: "Any") -> "Any":
            try:
                _note(journal, known, sys._getframe(1))
            except Exception as error:
                failed(journal, error)
            return helper(*given, **named)

        return called

    replaced = {name: noted(helper) for name, helper in kept.items()}
    for name, helper in replaced.items():
        setattr(api, name, helper)

    def stop() -> None:
        for name, helper in replaced.items():
            if getattr(api, name) is helper:
                setattr(api, name, kept[name])

    return stop


def _note(journal: "Journal", known: "set[Any]", frame: "FrameType | None") -> None:
    """Write once of a Jacobian at a line, where its sizes are known by now."""
    for _ in range(_NEAR):
        if frame is None or frame.f_code.co_name == "jacfun":
            break
        frame = frame.f_back
    held = frame.f_locals if frame is not None else {}
    if frame is None or "y" not in held or "dyn_args" not in held:
        return
    by = frame.f_code.co_qualname.partition(".")[0]
    sizes = _size(held["dyn_args"]), _size(held["y"])
    stack = sites.stack(frame)
    key = by, sizes, tuple(stack)
    if stack and key not in known:
        known.add(key)
        journal.write("jacobian", by=by, stack=stack, n_inputs=sizes[0], n_outputs=sizes[1])


def _size(tree: "Any") -> int:
    """Return how many numbers a tree of arrays has."""
    leaves = sys.modules["jax"].tree_util.tree_leaves(tree)
    return sum(int(getattr(one, "size", 1)) for one in leaves)
