"""Jacobians taken in JAX and PyTorch: by rows or columns, and how many of each there are."""

import sys

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal

    Note = Callable[[Journal, set[Any], str, FrameType, Any], None]
    """Takes a journal, what is written already, the helper's name, who called it, its result."""


_NEAR = 12
"""Frames above a helper of JAX's in which the Jacobian is taken."""
_HELPERS = ("_std_basis", "_jacfwd_unravel")
"""Functions of JAX that are called while one is taken: the first by both ways, the second at the
end of ``jacfwd``, when the size of the output is known there too."""


_OF_TORCH = "torch._functorch.eager_transforms"
_BASIS, _FORWARD = "_chunked_standard_basis_for_", "_jvp_with_argnums"
"""Functions of PyTorch that are called while one is taken: by ``jacrev``, and by ``jacfwd``."""


class JacobianHelpers:
    """Follows functions that a framework calls while a Jacobian is taken."""

    def __init__(
        self, journal: "Journal", module: str, names: "Iterable[str]", note: "Note"
    ) -> None:
        """Let ``note`` write into ``journal`` after each call. The module is loaded."""
        self._journal = journal
        self._space: Any = sys.modules.get(module)
        self._note = note
        self._known: set[Any] = set()
        self._kept = {
            name: getattr(self._space, name) for name in names if hasattr(self._space, name)
        }
        self._replaced = {name: self._noted(name) for name in self._kept}
        for name, helper in self._replaced.items():
            setattr(self._space, name, helper)

    def end(self) -> None:
        """Follow no more, and leave the framework as it was."""
        for name, helper in self._replaced.items():
            if getattr(self._space, name) is helper:
                setattr(self._space, name, self._kept[name])

    def _noted(self, name: str) -> "Any":
        def called(*given: "Any", **named: "Any") -> "Any":
            found = self._kept[name](*given, **named)
            try:
                self._note(self._journal, self._known, name, sys._getframe(1), found)
            except Exception as error:
                failed(self._journal, error)
            return found

        return called


def in_jax(journal: "Journal") -> JacobianHelpers:
    """Write of each Jacobian of JAX's from now on."""
    return JacobianHelpers(journal, "jax._src.api", _HELPERS, _note_jax)


def in_torch(journal: "Journal") -> JacobianHelpers:
    """Write of each Jacobian of ``torch.func`` from now on."""
    return JacobianHelpers(journal, _OF_TORCH, (_BASIS, _FORWARD), _note_torch)


def _note_torch(
    journal: "Journal", known: "set[Any]", name: str, frame: "FrameType", found: "Any"
) -> None:
    """Write once of a Jacobian at a line."""
    by, wanted = ("jacrev", "flat_primals") if name == _BASIS else ("jacfwd", "flat_primals_numels")
    held: dict[str, Any] = {}
    below: FrameType | None = frame
    for _ in range(_NEAR):
        if below is None:
            return
        if below.f_code.co_qualname.startswith(f"{by}.") and wanted in below.f_locals:
            held = below.f_locals
            break
        below = below.f_back
    if not held:
        return
    if name == _BASIS:
        inputs = sum(int(one.numel()) for one in held["flat_primals"])
        outputs = sum(held["flat_output_numels"])
    else:
        leaves = sys.modules["torch"].utils._pytree.tree_leaves(found[1])
        inputs = sum(held["flat_primals_numels"])
        outputs = sum(int(one.numel()) for one in leaves)
    _write(journal, known, "torch", by, (inputs, outputs), below)


def _note_jax(
    journal: "Journal", known: "set[Any]", _name: str, frame: "FrameType | None", _found: "Any"
) -> None:
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
    _write(journal, known, "jax", by, sizes, frame)


def _write(  # noqa: PLR0913, PLR0917 - what is told of a Jacobian
    journal: "Journal",
    known: "set[Any]",
    framework: str,
    by: str,
    sizes: "tuple[int, int]",
    frame: "FrameType | None",
) -> None:
    stack = sites.stack(frame)
    key = by, sizes, tuple(stack)
    if stack and key not in known:
        known.add(key)
        n_inputs, n_outputs = sizes
        told = {"framework": framework, "n_inputs": n_inputs, "n_outputs": n_outputs}
        journal.write("jacobian", by=by, stack=stack, **told)


def _size(tree: "Any") -> int:
    """Return how many numbers a tree of arrays has."""
    leaves = sys.modules["jax"].tree_util.tree_leaves(tree)
    return sum(int(getattr(one, "size", 1)) for one in leaves)
