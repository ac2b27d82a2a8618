"""Starts the doctor: Python runs this file first, where its folder is on ``PYTHONPATH``.

Then it runs the file of the same name that would have run without it.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _begin() -> None:
    """Start to record, where a journal is asked for."""
    journal = os.environ.get("COLDWARM_DOCTOR")
    if not journal:
        return
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    sys.path.insert(0, root)
    try:
        from coldwarm.doctor import recorder
    finally:
        sys.path.remove(root)
    recorder.begin(journal)


def _hand_on() -> None:
    """Run the next ``sitecustomize``, if there is one."""
    here = os.path.abspath(os.path.dirname(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _begin()
except Exception:  # noqa: S110 - the program runs as it would without the doctor
    pass
finally:
    _hand_on()
