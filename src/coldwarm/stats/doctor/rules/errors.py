"""Errors of frameworks that ended the program and that have a page of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.seen import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.stats.doctor.seen import Seen

REASONS = {
    "doctor_error": "{error} was raised here",
}
CHANGES = {
    "traced-branch": "use jax.lax.cond or jnp.where",
    "boolean-mask-index": "use jnp.where(mask, x, 0), or jnp.nonzero with size=",
    "numpy-on-traced": "use jax.numpy inside of jit",
    "traced-shape": "make it a static argument, or work on the full length with a mask",
    "use-after-donation": "use what the function returns, not the argument that was given away",
}

PATTERNS = {
    "TracerBoolConversionError": "traced-branch",
    "NonConcreteBooleanIndexError": "boolean-mask-index",
    "TracerArrayConversionError": "numpy-on-traced",
    "TracerIntegerConversionError": "traced-shape",
    "ConcretizationTypeError": "traced-shape",
    "UnexpectedTracerError": "side-effect-in-traced",
    "KeyReuseError": "key-reuse",
}
"""By the error's class."""
_INSIDE = {
    "canonicalize_shape": "traced-shape",
    "_check_if_deleted": "use-after-donation",
}
"""By a function of JAX that it passed, where the class is a common one."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name the user's line at which the program ended."""
    for row in seen.of_kind("error"):
        pattern = PATTERNS.get(row["error"]) or next(
            (_INSIDE[name] for name in row["inside"] if name in _INSIDE), None
        )
        if pattern is not None and row["stack"]:
            path, line, function = row["stack"][0]
            yield Draft(
                pattern=pattern,
                framework="jax",
                site=Line(str(path), int(line), str(function)),
                n=1,
                cost_s=None,
                saving_s=None,
                says=because("doctor_error", error=row["error"]),
                null_reasons=dict.fromkeys(("cost_s", "saving_s"), because("doctor_ended")),
            )
