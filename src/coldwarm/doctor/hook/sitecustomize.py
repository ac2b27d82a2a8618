"""Starts the doctor: Python runs this file first, where its folder is on ``PYTHONPATH``.

What the doctor is made of lies in modules of its own that the program's imports do not find, so
that a program's own ``json.py`` or ``coldwarm.py`` is imported as without it: afterwards
``sys.modules`` and ``sys.path`` are as they were. Then it runs the file of the same name that would
have run without it.
"""

import _thread
import builtins
import os
import sys

_external = sys.modules["_frozen_importlib_external"]
_bootstrap = sys.modules["_frozen_importlib"]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PACKAGE = "coldwarm"
_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))


class _Own:
    """The modules of ours, which only these import."""

    def __init__(self) -> None:
        """Start with the package, of which nothing is executed."""
        self.modules = {_PACKAGE: type(sys)(_PACKAGE)}
        self.modules[_PACKAGE].__path__ = [os.path.join(_ROOT, _PACKAGE)]
        self.space = {**vars(builtins), "__import__": self.imported}
        """The built-in names of these modules."""
        self._lock = _thread.RLock()

    def imported(
        self,
        name: str,
        space: "Any" = None,
        local: "Any" = None,
        wanted: "tuple[str, ...] | None" = (),
        level: int = 0,
    ) -> "Any":
        """Do what an ``import`` in one of these modules asks for."""
        if name.partition(".")[0] != _PACKAGE:
            return __import__(name, space, local, wanted, level)
        module = self._module(name)
        for one in wanted or ():
            if not hasattr(module, one):
                self._module(f"{name}.{one}")
        return module if wanted else self.modules[_PACKAGE]

    def _module(self, name: str) -> "Any":
        found = self.modules.get(name)
        if found is not None:
            return found
        above, _, last = name.rpartition(".")
        with self._lock:
            return self.modules.get(name) or self._loaded(name, self._module(above), last)

    def _loaded(self, name: str, above: "Any", last: str) -> "Any":
        path = os.path.join(above.__path__[0], last)
        is_package = os.path.isdir(path)
        file = os.path.join(path, "__init__.py") if is_package else f"{path}.py"
        loader = _external.SourceFileLoader(name, file)
        spec = _external.spec_from_file_location(name, file, loader=loader)
        module = _bootstrap.module_from_spec(spec)
        module.__builtins__ = self.space
        self.modules[name] = module
        try:
            exec(loader.get_code(name), vars(module))  # noqa: S102 - as every import does
        except BaseException:
            del self.modules[name]
            raise
        setattr(above, last, module)
        return module


def _begin(journal: str) -> None:
    """Start to record, from Python's own libraries alone; then leave no trace of their import."""
    modules, path = dict(sys.modules), list(sys.path)
    cached = set(sys.path_importer_cache)
    library = os.path.dirname(os.__file__)
    sys.path[:] = [library, os.path.join(library, "lib-dynload"), *path]
    try:
        _Own().imported("coldwarm.doctor.record.recorder", wanted=("begin",)).begin(journal)
    finally:
        sys.path[:] = path
        for name in [one for one in sys.modules if sys.modules[one] is not modules.get(one)]:
            del sys.modules[name]
        for name in set(sys.path_importer_cache) - cached:
            del sys.path_importer_cache[name]


def _hand_on() -> None:
    """Run the next ``sitecustomize``.

    Raises:
        ImportError: there is none, which Python then takes for the usual case.
    """
    here = os.path.abspath(os.path.dirname(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    for name in [one for one in sys.path_importer_cache if os.path.abspath(one) == here]:
        del sys.path_importer_cache[name]
    spec = _external.PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        raise ImportError("there is no sitecustomize", name="sitecustomize")
    module = _bootstrap.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    if os.environ.get("COLDWARM_DOCTOR"):
        _begin(os.environ["COLDWARM_DOCTOR"])
except Exception:  # noqa: S110 - the program runs as it would without the doctor
    pass
finally:
    _hand_on()
