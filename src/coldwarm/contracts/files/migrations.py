"""Older documents brought to the versions of today: plain values in, plain values out.

Version 1 had sentences where version 2 has reasons. Those that were short and fixed become the
codes they are today, what a machine did gets its numbers with their units back, and every other
sentence is kept as it was, as ``stated``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.base import CACHE_MODES

if TYPE_CHECKING:
    from collections.abc import Callable

Plain = dict[str, Any]

_KINDS = (
    "observation",
    "case_result",
    "suite_result",
    "environment",
    "run_comparison",
    "plan_report",
    "bench_report",
    "noise_report",
)
_FREE = {"raw", "versions", "distributions", "variables", "protocol", "compiled", "new_files"}
"""Fields whose keys are somebody else's names."""
_CAUTIONS = {
    "few": ("few_valid", ["n_processes"]),
    "compiled": ("compiled_blocks", ["n_blocks"]),
    "second_call": ("slow_second_call", ["steady_ratio"]),
    "precision": ("imprecise", ["reached_share", "asked_share"]),
    "bimodal": ("two_levels", ["upper_share", "gap_share"]),
    "bytecode": ("no_bytecode", ["n_missing", "n_modules"]),
}
"""By kind of a caution, its code and parameters."""

_NUMBER = r"(?P<number>\d[\d.,]*(?:e[+-]?\d+)?)"
_NUMBERS: tuple[tuple[str, str, str, float], ...] = (
    (rf"other processes used {_NUMBER} processors", "foreign_cpu", "foreign_processors", 1),
    (
        rf"other processes used {_NUMBER} processors during warm calls",
        "foreign_cpu_warm",
        "foreign_processors",
        1,
    ),
    (rf"the host took {_NUMBER}% of the processor time", "steal", "steal_share", 0.01),
    (rf"the CPU quota throttled it for {_NUMBER} s", "throttled", "throttled_s", 1),
    (rf"{_NUMBER} thermal throttles", "thermal", "n_throttles", 1),
    (rf"{_NUMBER} involuntary switches a second", "switches", "switches_per_s", 1),
    (rf"timeout: no answer within {_NUMBER} s", "timeout", "limit_s", 1),
)
"""A sentence of version 1, its code, its parameter, and what its figure is multiplied with."""
_TEXTS: tuple[tuple[str, str], ...] = (
    (r"correctness_gate", "correctness_gate"),
    (r"gpu_unavailable", "gpu_unavailable"),
    (r"unlimited", "unlimited"),
    (r"signal: SIGKILL.*", "killed"),
    (r"signal: (?P<name>\w+)", "signal"),
    (r"exit: (?P<status>\d+) before a result", "exited"),
    (r"missing_dependency: (?P<name>.+)", "missing_dependency"),
    (r"exception: (?P<error>\w+): (?P<text>.*)", "exception"),
    (r"not_measured: the run ended before (?P<mode_names>.+)", "not_measured"),
    (r"not_proved: no valid process in (?P<mode_names>[\w, ]+) \((?P<part>.*)\)", "not_proved"),
)
_AT_WORST = re.compile(r"\d+ of \d+ process(?:es)?(?:, at worst:|[^:]*:) (?P<what>.*)", re.DOTALL)
_SIDES = re.compile(r"(?:(?P<name>[^:]+): )?A has (?P<a>.*), B has (?P<b>.*)", re.DOTALL)
_BECAME = re.compile(r"(?P<name>[^:]+): (?P<a>.*) became (?P<b>.*)", re.DOTALL)


def reasons(value: Any) -> Any:
    """Return a plain value of any depth with its sentences of version 1 as reasons."""
    if isinstance(value, list):
        return [reasons(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _field(str(name), item) for name, item in value.items()}


def _field(name: str, value: Any) -> Any:
    if value is None or name in _FREE:
        return value
    return _FIELDS.get(name, reasons)(value)


def reason(text: Any) -> Any:
    """Return the reason that a sentence of version 1 stands for."""
    if not isinstance(text, str):
        return text
    for pattern, code, parameter, factor in _NUMBERS:
        matched = re.fullmatch(pattern, text)
        if matched is not None:
            number = float(matched["number"].replace(",", ""))
            if parameter.startswith("n_"):
                return {"code": code, "values": {parameter: int(number)}}
            return {"code": code, "values": {parameter: round(number * factor, 9)}}
    for pattern, code in _TEXTS:
        matched = re.fullmatch(pattern, text, re.DOTALL)
        if matched is not None:
            values: Plain = matched.groupdict()
            part = values.pop("part", None)
            if "mode_names" in values:
                values["mode_names"] = values["mode_names"].split(", ")
            return {"code": code, "values": values, "parts": [_stated(part)] if part else []}
    return _stated(text)


def _stated(text: str) -> Plain:
    return {"code": "stated", "values": {"text": text}}


def _caution(old: Plain) -> Plain:
    if "subject" not in old:
        return old
    subject = old["subject"]
    return {
        "kind": old["kind"],
        "cache_mode": subject if subject in CACHE_MODES else None,
        "n_processes": old["n_processes"],
        "of_processes": old["of_processes"],
        "reason": _caution_reason(old),
    }


def _caution_reason(old: Plain) -> Any:
    """Return the reason of a caution, from its figure where it had one."""
    kind, text = old["kind"], old["text"]
    value = old.get("value")
    counts = [int(count) for count in re.findall(r"\d+", old.get("figure") or "")]
    shares = [float(share) / 100 for share in re.findall(r"([\d.]+)%", text)]
    if kind in _CAUTIONS:
        code, names = _CAUTIONS[kind]
        given: dict[str, list[Any]] = {
            "few": [old["n_processes"]],
            "compiled": [] if value is None else [int(value)],
            "second_call": [value],
            "precision": [value, *shares[-1:]],
            "bimodal": shares,
            "bytecode": counts,
        }
        if len(given[kind]) == len(names) and None not in given[kind]:
            return {"code": code, "values": dict(zip(names, given[kind], strict=True))}
        return _stated(text)
    matched = _AT_WORST.fullmatch(text)
    return reason(matched["what"] if matched is not None else text)


def _difference(old: Any) -> Any:
    if not isinstance(old, str):
        return old
    matched = _BECAME.fullmatch(old) or _SIDES.fullmatch(old)
    if matched is None:
        return {"name": old, "a": "", "b": ""}
    return {**matched.groupdict(), "name": matched["name"] or ""}


def _allowed(old: Plain) -> Plain:
    if "text" not in old:
        return old
    matched = _SIDES.fullmatch(old["text"])
    sides = matched.groupdict() if matched is not None else {"a": old["text"], "b": ""}
    name = sides.pop("name", None) or old["field"]
    return {"field": old["field"], "name": name, **sides, "cases": old["cases"]}


def _by_name(old: Any) -> Any:
    return {name: reason(text) for name, text in old.items()}


def _each(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda old: [change(item) for item in old]


def _told(old: Any) -> Any:
    return _caution(old) if isinstance(old, dict) else reason(old)


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "schema_version": lambda named: _SUCCESSORS.get(named, named),
    "reason": reason,
    "null_reasons": _by_name,
    "not_measured": _by_name,
    "not_steady": _by_name,
    "limitations": _each(reason),
    "flags": _each(reason),
    "warnings": _each(_told),
    "software": _each(_difference),
    "allowed": _each(_allowed),
}
"""By name of a field, what becomes of its value; of any other, its fields are migrated."""
_SUCCESSORS: dict[str, str] = {f"coldwarm.{kind}.v1": f"coldwarm.{kind}.v2" for kind in _KINDS}
MIGRATIONS: dict[str, Callable[[Plain], Plain]] = dict.fromkeys(_SUCCESSORS, reasons)
"""By older ``schema_version``, the function that turns its document into the next one."""
