"""Gradients of PyTorch's embeddings: how many of their rows are not zero.

PyTorch tells when a module gets a parameter, and before a step of an optimizer. Then some rows of
the gradient are looked at, on the CPU: not from another thread, which would read it while PyTorch
puts another in its place without Python's lock.
"""

import sys
from _weakref import ref

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


_LARGE = 500_000
"""Fewest numbers of an embedding that is looked at."""
_ROWS = 512
"""Rows of it that are looked at each time, at most."""
_MOST = 16
_NAMES = {"Embedding", "EmbeddingBag"}


class _Embedding:
    """An embedding, and what was found of its gradient."""

    def __init__(self, module: "Any", stack: "list[sites.Site]") -> None:
        self.module = ref(module)
        self.stack = stack
        self.shape: tuple[int, ...] = ()
        self.n_looks = self.looked = self.used = 0

    def look(self) -> None:
        """Look at rows of the gradient, where it is dense and there."""
        module = self.module()
        weight = getattr(module, "weight", None)
        gradient = getattr(weight, "grad", None)
        if gradient is None or gradient.is_sparse or gradient.device.type != "cpu":
            return
        self.shape = tuple(gradient.shape)
        every = max(1, self.shape[0] // _ROWS)
        used = (gradient.detach()[:: every + 1] != 0).any(1)
        self.n_looks += 1
        self.looked += int(used.numel())
        self.used += int(used.sum())


class Embeddings:
    """Follows the embeddings that a program makes."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._known: list[_Embedding] = []
        self._handles: list[Any] = []
        self._is_compiling: Any = bool
        self._n_steps = 0

    def begin(self) -> None:
        """Follow those that are made from now on. PyTorch is loaded."""
        module = sys.modules.get("torch.nn.modules.module")
        register = getattr(module, "register_module_parameter_registration_hook", None)
        if register is not None:
            self._handles.append(register(self._registered))

    def end(self) -> None:
        """Follow no more, and leave PyTorch as it was."""
        for one in self._handles:
            one.remove()

    def _steps(self, _optimizer: "Any", _given: "Any", _named: "Any") -> None:
        """Look at their gradients before the first step, the second, the fourth and so on.

        Not in a step that is compiled, which would have this in it.
        """
        if self._is_compiling():
            return
        self._n_steps += 1
        if self._n_steps & (self._n_steps - 1):
            return
        for one in self._known:
            try:
                one.look()
            except Exception as error:
                failed(self._journal, error)
                self._known.remove(one)
                return

    def leave(self) -> None:
        """Write what was found."""
        for one in self._known:
            if one.n_looks and one.stack:
                told = {"n_rows": one.shape[0], "n_columns": one.shape[1], "looked": one.looked}
                more = {"stack": one.stack, "n_looks": one.n_looks, "used": one.used}
                self._journal.write("embedding", **told, **more)

    def _registered(self, module: "Any", name: str, parameter: "Any") -> None:
        try:
            if name != "weight" or len(self._known) >= _MOST or type(module).__name__ not in _NAMES:
                return
            if parameter is not None and parameter.numel() >= _LARGE:
                if not self._known:
                    optimizers = sys.modules.get("torch.optim.optimizer")
                    register = getattr(optimizers, "register_optimizer_step_pre_hook", None)
                    compiler = getattr(sys.modules.get("torch"), "compiler", None)
                    asked = getattr(compiler, "is_compiling", None)
                    if register is not None and asked is not None:
                        self._is_compiling = asked
                        self._handles.append(register(self._steps))
                self._known.append(_Embedding(module, sites.stack(sys._getframe(1))))
        except Exception as error:
            failed(self._journal, error)
