"""Static arguments that are so large that hashing them takes a part of every call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace


_REASONS = {
    "doctor_hashed": "JAX hashes the static argument `{argument}` of {function} in each call,"
    " {hash_s:time} each: about {spent_s:time} in {n_calls:# call}",
}
_CHANGES = {
    "static-argument-large": "give arrays as arguments that are not static; or keep the large part"
    " in an object whose hash and equality are those of a short key",
}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each such argument at the line that calls most often."""
    done: set[tuple[str, str]] = set()
    for call in sorted(trace.calls, key=lambda one: -max(one.hashing_s.values(), default=0.0)):
        for argument, hash_s in call.hashing_s.items():
            key = call.short_name, argument
            places = [one for one in trace.places_of("jitted") if one.name == call.short_name]
            if key in done or not places or _is_ambiguous(trace, call):
                continue
            done.add(key)
            n_calls = sum(one.n for one in places)
            if trace.is_worth(n_calls * hash_s):
                told = {"hash_s": hash_s, "n_calls": n_calls, "spent_s": n_calls * hash_s}
                says = because("doctor_hashed", argument=argument, function=call.name, **told)
                site = max(places, key=lambda one: one.n).site
                yield trace.finding_of_seconds(
                    "static-argument-large", site, says, framework="jax", n=n_calls
                )


def _is_ambiguous(trace: ProcessTrace, call: CompiledCall) -> bool:
    """Say whether several functions have the name by which calls are counted."""
    alike = [one for one in trace.calls if one.short_name == call.short_name]
    return len({(one.function.path, one.function.line) for one in alike}) > 1


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
