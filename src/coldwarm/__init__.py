"""What a JIT really costs: cold and warm, with the state of every cache proved.

>>> import coldwarm
>>> from pathlib import Path
>>> options = coldwarm.Options(suite="quick", backends=("numpy",))
>>> outcome = coldwarm.run(options, Path("out/numpy"))  # doctest: +SKIP
>>> outcome.cases[0].warm.call_s.median  # doctest: +SKIP

Each public name is loaded on first use, so importing the package costs next to nothing.
"""

import os
import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "Benchmark": "coldwarm.inprocess.bench",
    "BenchComparison": "coldwarm.inprocess.compared",
    "BenchResult": "coldwarm.inprocess.result",
    "CaseResult": "coldwarm.contracts.result",
    "ColdwarmError": "coldwarm.errors",
    "DoctorBlock": "coldwarm.inprocess.doctor",
    "Observation": "coldwarm.contracts.observation",
    "Options": "coldwarm.runner.schedule.options",
    "Outcome": "coldwarm.runner.suite",
    "SuiteResult": "coldwarm.contracts.result",
    "bench": "coldwarm.inprocess.bench",
    "load": "coldwarm.contracts.files.codec",
    "run": "coldwarm.runner.suite",
    "workload": "coldwarm.functions.marks",
}

_CALLED = "doctor"
"""A package of its own that can be called."""
_NOTEBOOK = "load_ipython_extension"
"""What ``%load_ext coldwarm`` calls."""

__all__ = [  # noqa: PLE0604 - names of the table above, loaded by __getattr__
    "__version__",
    *sorted([*_WHERE, _CALLED]),
]


def __getattr__(name: str) -> object:
    """Load a public name.

    Raises:
        AttributeError: there is no such name.
    """
    if name == _CALLED:
        return import_module(f"{__name__}.{name}")
    if name == _NOTEBOOK:
        return getattr(import_module("coldwarm.integrations.notebook"), name)
    if name not in _WHERE:
        text = f"module 'coldwarm' has no attribute {name!r}"
        raise AttributeError(text)
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)


def _adopt() -> None:
    """Have the modules by which the doctor follows this process already, where it does.

    They are kept out of what the program imports: there is no other way to them than its classes.
    """
    found = (
        one for one in object.__subclasses__() if one.__module__ == f"{__name__}.doctor.recorder"
    )
    recorder: Any = next((one for one in found if one.__name__ == "Recorder"), None)
    if recorder is not None:
        own = recorder.begin.__builtins__["__import__"].__self__.modules
        sys.modules.update({name: one for name, one in own.items() if name != __name__})
        own[f"{__name__}.doctor"].__class__ = own[f"{__name__}.doctor"]._Called  # noqa: SLF001 - ours
        vars(sys.modules[__name__]).update(
            {name.rpartition(".")[2]: one for name, one in own.items() if name.count(".") == 1}
        )


if os.environ.get("COLDWARM_DOCTOR"):
    _adopt()
