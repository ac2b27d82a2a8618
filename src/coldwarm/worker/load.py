"""Loads backends and workloads by the path the runner names, importing nothing else."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

    from coldwarm.backends.base import Backend


def module(source: "Mapping[str, Any]") -> "ModuleType":
    """Return the module at ``source["path"]`` under the name ``source["module"]``.

    The project's own modules are imported as usual, with their bytecode; a third party's
    is loaded from its file, so that its package need not be importable here.
    """
    name, path = source["module"], source["path"]
    if name.startswith("coldwarm."):
        __import__(name)
        return sys.modules[name]
    # What ``importlib.util`` re-exports, from where a bare interpreter holds it.
    import _frozen_importlib
    import _frozen_importlib_external

    spec = _frozen_importlib_external.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        text = f"{path} is no Python source file"
        raise ImportError(text)
    loaded = _frozen_importlib.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def backend(job: "Mapping[str, Any]") -> "Backend":
    """Return the job's backend, ready to import its runtime."""
    source = job["backend"]
    kind = getattr(module(source), source["object"])
    made: Backend = kind(job["device"], job["threads"])
    made.dtype = job.get("dtype", made.dtype)
    made.keep_all = job.get("cache_settings", "keep_all") == "keep_all"
    return made


def workload(job: "Mapping[str, Any]", backend: "Backend") -> "Any":
    """Return the job's workload; a user's own function is its backend's."""
    if job.get("function") is None:
        return module(job["workload"])
    backend.take(job["function"])  # type: ignore[attr-defined] # only coldwarm.functions has such jobs
    return backend


def candidate(workload: "Any", backend: "Backend") -> "Callable[..., Callable[..., Any]]":
    """Return the workload's builder for a backend, by the first of its names that is there.

    Raises:
        AttributeError: there is none.
    """
    names = backend.builders()
    name = next((name for name in names if hasattr(workload, name)), names[-1])
    builder: Callable[..., Callable[..., Any]] = getattr(workload, name)
    return builder
