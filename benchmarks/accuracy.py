"""Accuracy: what is reported of the example plug-in, whose every cost is known.

Each phase is the median of five processes. A phase may be off by 1 ms or 1 %, whichever is
larger; a steady call by 1 %, since 1 ms would be no bound for calls of microseconds.
"""

from __future__ import annotations

import statistics
import tempfile
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import runs
from benchmarks.rows import Row

if TYPE_CHECKING:
    from types import ModuleType

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

PLUGIN = Path(__file__).resolve().parent.parent / "examples" / "known-costs"
GROUP = "accuracy"
PROCESSES = "5"


def measure() -> list[Row]:
    """Install the plug-in into a temporary folder, run it, and compare."""
    with tempfile.TemporaryDirectory() as name:
        site, out_dir = Path(name, "site"), Path(name, "out")
        runs.install(PLUGIN, site)
        known = declared(site)
        run = runs.coldwarm(
            out_dir,
            *("--case", "known_costs_known_costs_2000_f32"),
            *("--case", "known_costs_known_costs_50_f32"),
            *("--cache-mode", "cold_process_cold_cache", "--cache-mode", "warm_process"),
            *("--rounds", PROCESSES, "--max-rounds", PROCESSES),
            path=site,
        )
    by_size = {case.size: case for case in run.cases}
    return [
        *phases(by_size[2000], known),
        parts_sum(by_size[2000]),
        *steady(by_size[2000], known),
        batched(by_size[50], known),
    ]


def declared(site: Path) -> ModuleType:
    """Return the plug-in's backend module, for the costs it declares."""
    spec = util.spec_from_file_location("known", site / "coldwarm_known_costs" / "backend.py")
    if spec is None or spec.loader is None:
        text = f"no backend in {site}"
        raise FileNotFoundError(text)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def phases(case: CaseResult, known: Any) -> list[Row]:
    """Compare each phase, and each part of the first call."""
    costs_ms = {
        "import": known.IMPORT_MS,
        "device_init": known.DEVICE_INIT_MS,
        "wrap": known.WRAP_MS,
        "first_call": known.FIRST_CALL_MS,
        "first_call.trace": known.TRACE_MS,
        "first_call.lower": known.LOWER_MS,
        "first_call.compile": known.COMPILE_MS,
        "first_call.rest": known.REST_MS,
        "second_call": known.SECOND_CALL_MS,
    }
    found = case.cold[0].seconds
    return [
        _row(name, found[name].median * 1e3, known_ms, "ms", max(1.0, known_ms / 100))
        for name, known_ms in costs_ms.items()
    ]


def parts_sum(case: CaseResult) -> Row:
    """Compare the parts of each first call with the whole: they must agree to rounding."""
    seen = [one for one in case.observations if one.first_call_parts is not None]
    worst_ns = max(abs(_parts_s(one) - (one.phase_s("first_call") or 0.0)) * 1e9 for one in seen)
    what = "first_call parts − whole"
    return Row(GROUP, what, f"{worst_ns:.3g} ns", "0 ns", worst_ns, 0.001, "ns")


def _parts_s(seen: Observation) -> float:
    parts = seen.first_call_parts
    if parts is None:
        return 0.0
    known = (parts.trace_s, parts.lower_s, parts.compile_s, parts.cache_read_s, parts.rest_s)
    return sum(part for part in known if part is not None)


def steady(case: CaseResult, known: Any) -> list[Row]:
    """Compare the median and the 95th percentile of calls that are timed one by one."""
    base_us = case.size * known.STEADY_NS_PER_ELEMENT / 1e3
    summary = case.warm.call_s if case.warm else None
    if summary is None or summary.p95 is None:
        text = f"{case.case} has no warm series to compare"
        raise ValueError(text)
    p95_us = base_us * max(known.NOISE)
    return [
        _row("steady call, median", summary.median * 1e6, base_us, "µs", base_us / 100),
        _row("steady call, p95", summary.p95 * 1e6, p95_us, "µs", p95_us / 100),
    ]


def batched(case: CaseResult, known: Any) -> Row:
    """Compare calls too short for the clock: a batch holds whole cycles of the noise."""
    mean_us = case.size * known.STEADY_NS_PER_ELEMENT * statistics.fmean(known.NOISE) / 1e3
    samples = [s for o in case.observations for b in o.blocks if b.batch > 1 for s in b.samples_s]
    measured_us = statistics.median(samples) * 1e6
    return _row("short call, batched", measured_us, mean_us, "µs", mean_us / 100)


def _row(what: str, measured: float, known: float, unit: str, bound: float) -> Row:
    against = f"{known:g} {unit} known"
    figure = abs(measured - known)
    return Row(GROUP, what, f"{measured:.3f} {unit}", against, figure, bound, unit)
