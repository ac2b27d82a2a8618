"""The making process: what a backend ``prepares``, once for all processes of a case."""

import os
import sys

from coldwarm.worker import inputs, load
from coldwarm.worker.phases import Phases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from coldwarm.backends.base import Backend


def make(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Go through the phases up to ``wrap``, make and write; return what that took."""
    backend = load.backend(job)
    workload = load.module(job["workload"])
    phases = Phases()
    with phases("import"):
        backend.import_runtime()
    with phases("device_init"):
        backend.device_init()
    backend.watch()
    with phases("setup"):
        arrays = inputs.make(workload, job)
        arguments = backend.place(arrays)
    with phases("wrap"):
        function = load.candidate(workload, backend)(backend.wrap)
    backend.begin_call()
    with phases("make"):
        backend.make(function, arguments, job["made"])
    return {
        "type": "made",
        "entered_ns": job["entered_ns"],
        "phases": phases.account(),
        "parts": dict(backend.parts()),
        **_described(backend, arrays),
    }


def _described(backend: "Backend", arrays: "Any") -> "dict[str, Any]":
    from coldwarm.worker.account import usage
    from coldwarm.worker.reference import input_digest

    return {
        "counters": backend.counters(),
        "input_sha256": input_digest(arrays),
        "device": backend.device_info(),
        "versions": {"python": sys.version.split()[0], **backend.versions()},
        **usage(),
    }


def loaded(directory: "str | None") -> "dict[str, dict[str, Any]]":
    """Return the counts of the files made ahead of time, by hash; empty where none were.

    Runs after the first result: ``load`` has returned, so they were read.
    """
    if directory is None:
        return {}
    import hashlib

    raw = {}
    for name in sorted(os.listdir(directory)):  # noqa: PTH208 - as all of the measured side
        with open(os.path.join(directory, name), "rb") as file:  # noqa: PTH118, PTH123 - likewise
            raw[f"sha256 {name}"] = hashlib.sha256(file.read()).hexdigest()
    return {"made": {"requests": 1, "hits": 1, "misses": 0, "raw": raw}}
