"""Errors of frameworks that ended the program and that have a page of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import ProgramError, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_error": "{error} was raised here",
}
_CHANGES = {
    "traced-branch": "use jax.lax.cond or jnp.where",
    "boolean-mask-index": "use jnp.where(mask, x, 0), or jnp.nonzero with size=",
    "numpy-on-traced": "use jax.numpy inside of jit",
    "traced-shape": "make it a static argument, or work on the full length with a mask",
    "use-after-donation": "use what the function returns, not the argument that was given away",
}

_PATTERNS = {
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


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the user's line at which the program ended."""
    ended = because("doctor_ended")
    for row in trace.rows_of(ProgramError):
        pattern = _PATTERNS.get(row.error) or next(
            (_INSIDE[name] for name in row.inside if name in _INSIDE), None
        )
        if pattern is not None and row.stack:
            path, line, function = row.stack[0]
            site, says = (
                SourceLine(path, line or 0, function),
                because("doctor_error", error=row.error),
            )
            yield trace.finding(pattern, site, says, no_figure=ended)


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
