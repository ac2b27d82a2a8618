"""The real cost of a JIT: cold and warm, with the state of every cache proved.

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

__version__ = "0.1.0"

_WHERE = {
    "Benchmark": "coldwarm.inprocess.bench",
    "BenchComparison": "coldwarm.inprocess.bench",
    "BenchResult": "coldwarm.inprocess.bench_result",
    "CaseResult": "coldwarm.contracts.result",
    "ColdwarmError": "coldwarm.errors",
    "DoctorBlock": "coldwarm.doctor.block",
    "Observation": "coldwarm.contracts.observation",
    "Options": "coldwarm.runner.case_list",
    "Outcome": "coldwarm.runner.suite",
    "SizeComparison": "coldwarm.inprocess.bench",
    "SuiteResult": "coldwarm.contracts.result",
    "bench": "coldwarm.inprocess.bench",
    "load": "coldwarm.contracts.codec",
    "run": "coldwarm.runner.suite",
    "workload": "coldwarm.functions.target",
}

_CALLED = "doctor"
"""A package of its own that can be called."""
_NOTEBOOK = "load_ipython_extension"
"""Entry point of ``%load_ext coldwarm``."""

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


if os.environ.get("COLDWARM_DOCTOR"):
    _followed_by = f"{__name__}.doctor.record.recorder", "Recorder"
    for _one in object.__subclasses__():
        if (_one.__module__, _one.__name__) == _followed_by:
            _one.adopted_by(sys.modules[__name__])  # type: ignore[attr-defined] # it is a Recorder
