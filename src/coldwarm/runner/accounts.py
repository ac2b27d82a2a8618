"""The parts of a call and of a whole loop: exclusive seconds that add up to the whole. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.contracts.observation import FirstCallParts, LoopAccount

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.observation import Phase

_PARTS = ("trace_s", "lower_s", "compile_s", "cache_read_s")
_CLOCKS_S, _CLOCKS_SHARE = 1e-3, 0.01
"""By how much clocks may disagree about one call."""


def of_call(said: Mapping[str, Any], whole_s: float) -> FirstCallParts:
    """Return the parts of a call, or of a loop; ``rest_s`` is what they leave of the whole.

    Parts and whole come from several clocks: parts that exceed the whole by no more than
    1 ms or 1 % are scaled to it. By more, the account is wrong, and none is published.
    """
    known = {name: said.get(name) for name in _PARTS}
    reasons = dict(said.get("reasons", {}))
    total_s = sum(value for value in known.values() if value is not None)
    if total_s > whole_s + max(_CLOCKS_S, _CLOCKS_SHARE * whole_s):
        why = f"the parts, {total_s:.4g} s together, exceed the call, {whole_s:.4g} s"
        known, reasons, total_s = dict.fromkeys(_PARTS), dict.fromkeys(_PARTS, why), 0.0
    elif total_s > whole_s:
        scale = whole_s / total_s
        known = {name: None if v is None else v * scale for name, v in known.items()}
        total_s = whole_s
    for name, value in known.items():
        if value is None:
            reasons.setdefault(name, "the backend gives no account of it")
    return FirstCallParts(
        **known,
        rest_s=max(0.0, whole_s - total_s),
        null_reasons={name: reasons[name] for name in _PARTS if known[name] is None},
    )


def of_loop(said: Mapping[str, Any], phases: Mapping[str, Phase]) -> LoopAccount | None:
    """Return the account of a scenario's loop, ``None`` for what is no scenario."""
    told = said.get("loop")
    if told is None:
        return None
    first, remaining = phases["first_call"], phases["remaining_calls"]
    loop_s = first.duration_s + remaining.duration_s
    total_s = remaining.start_s + remaining.duration_s
    found = of_call(_joined(said["parts"], told["parts"]), loop_s)
    compiling = None
    if told["compiles"] is not None:
        compiling = [place for place, number in enumerate(told["compiles"]) if number]
    known = [getattr(found, name) for name in _PARTS if getattr(found, name) is not None]
    reasons = {}
    if compiling is None:
        reasons["compiling_steps"] = "the backend keeps no count of compiles"
    if not known:
        reasons["compiling_share"] = found.null_reasons["compile_s"]
    return LoopAccount(
        total_s=total_s,
        loop_s=loop_s,
        steps_s=[step / 1e9 for step in told["steps_ns"]],
        compiling_steps=compiling,
        parts=found,
        compiling_share=sum(known) / total_s if known else None,
        null_reasons=reasons,
    )


def _joined(first: Mapping[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    """Add the parts of the first step and of the others; a part that neither has is absent."""
    found: dict[str, Any] = {"reasons": {**first.get("reasons", {}), **rest.get("reasons", {})}}
    for name in _PARTS:
        known = [side[name] for side in (first, rest) if side.get(name) is not None]
        found[name] = sum(known) if known else None
    return found
