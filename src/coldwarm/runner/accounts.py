"""The parts of a call and of a whole loop: exclusive seconds that add up to the whole. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.contracts.observation import PARTS, FirstCallParts, LoopAccount
from coldwarm.contracts.reasons import because
from coldwarm.runner.process.replies import Parts, as_reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.observation import Phase
    from coldwarm.runner.process.replies import Loop

_CLOCKS_S, _CLOCKS_SHARE = 1e-3, 0.01
"""By how much clocks may disagree about one call."""
_NO_ACCOUNT = because("not_told", by="the backend")


def of_call(parts: Parts, whole_s: float) -> FirstCallParts:
    """Return the parts of a call, or of a loop; ``rest_s`` is what they leave of the whole.

    Parts and whole come from several clocks: parts that exceed the whole by no more than
    1 ms or 1 % are scaled to it. By more, the account is wrong, and none is published.
    """
    known: dict[str, float | None] = {name: getattr(parts, name) for name in PARTS}
    reasons = {name: as_reason(stated) for name, stated in parts.reasons.items()}
    total_s = sum(value for value in known.values() if value is not None)
    if total_s > whole_s + max(_CLOCKS_S, _CLOCKS_SHARE * whole_s):
        exceed = because("parts_exceed", parts_s=total_s, whole_s=whole_s)
        known, reasons, total_s = dict.fromkeys(PARTS), dict.fromkeys(PARTS, exceed), 0.0
    elif total_s > whole_s:
        scale = whole_s / total_s
        known = {name: None if v is None else v * scale for name, v in known.items()}
        total_s = whole_s
    return FirstCallParts(
        **known,
        rest_s=max(0.0, whole_s - total_s),
        null_reasons={
            name: reasons.get(name, _NO_ACCOUNT) for name, value in known.items() if value is None
        },
    )


def of_loop(loop: Loop | None, first: Parts, phases: Mapping[str, Phase]) -> LoopAccount | None:
    """Return the account of a scenario's loop, ``None`` for what is no scenario.

    ``first`` are the parts of its first step.
    """
    if loop is None:
        return None
    first_call, remaining = phases["first_call"], phases["remaining_calls"]
    total_s = remaining.start_s + remaining.duration_s
    loop_s = first_call.duration_s + remaining.duration_s
    parts = of_call(_joined(first, loop.parts), loop_s)
    compiling = None
    if loop.compiles is not None:
        compiling = [place for place, number in enumerate(loop.compiles) if number]
    known = [value for name in PARTS if (value := getattr(parts, name)) is not None]
    reasons = {}
    if compiling is None:
        reasons["compiling_steps"] = _NO_ACCOUNT
    if not known:
        reasons["compiling_share"] = parts.null_reasons["compile_s"]
    return LoopAccount(
        total_s=total_s,
        loop_s=loop_s,
        steps_s=[step / 1e9 for step in loop.steps_ns],
        compiling_steps=compiling,
        parts=parts,
        compiling_share=sum(known) / total_s if known else None,
        null_reasons=reasons,
    )


def _joined(first: Parts, rest: Parts) -> Parts:
    """Add the parts of the first step and of the others; a part that neither has is absent."""
    sums = {}
    for name in PARTS:
        known = [value for side in (first, rest) if (value := getattr(side, name)) is not None]
        sums[name] = sum(known) if known else None
    return replace(first, **sums, reasons={**first.reasons, **rest.reasons})
