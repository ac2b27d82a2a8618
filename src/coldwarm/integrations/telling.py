"""What all formats tell of a result beside its figures, with nothing private in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from coldwarm import __version__
from coldwarm.report import shown
from coldwarm.report.shown import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import Measured
    from coldwarm.integrations.figures import Figure

_GIB = 2**30


def told(text: str) -> str:
    """Return foreign text in one line, with secrets as ``***``."""
    return shown.told(text).strip()


def json_bytes(document: Mapping[str, Any] | list[dict[str, Any]]) -> bytes:
    """Return plain values as JSON; numbers are written so that they read back the same."""
    return json_text(json.dumps(document, indent=1)).encode() + b"\n"


def coldwarm_version(measured: Measured) -> str:
    """Return the version of coldwarm that measured a result."""
    place = measured.environment
    return __version__ if place is None else told(place.harness.version)


def machine(place: Environment | None) -> dict[str, str]:
    """Return where a result was measured, as far as it is known; no name of the machine."""
    if place is None:
        return {}
    found = {
        "cpu": place.cpu.model,
        "cores": _text(place.cpu.usable_cores),
        "architecture": place.cpu.architecture,
        "os": f"{place.system.os} {place.system.kernel}",
        "ram": _ram(place.system.ram_bytes),
    }
    return {name: text for name, value in found.items() if value and (text := told(value))}


def versions(figure: Figure) -> dict[str, str]:
    """Return what its processes had loaded; where they differ, what the last one had."""
    found: dict[str, str] = {}
    for process in figure.processes:
        found |= process.observation.versions
    return {told(name): text for name, value in found.items() if (text := told(value))}


def identity(figure: Figure) -> dict[str, str]:
    """Return what was measured, by the names of the contract."""
    case = figure.case
    return {
        "case": case.case,
        "workload": case.workload,
        "candidate": case.candidate,
        "backend": case.backend,
        "device": case.device,
        "size": str(case.size),
        "dtype": case.dtype,
        "cache_mode": figure.mode,
    }


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _ram(size_bytes: int | None) -> str | None:
    return None if size_bytes is None else f"{round(size_bytes / _GIB)} GiB"
