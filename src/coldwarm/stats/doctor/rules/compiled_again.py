"""What is compiled again and again at one line, by the cause that most of it has."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Cause
from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.of_torch import code_of, code_of_value, in_guard, limits_of
from coldwarm.stats.doctor.sites import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import CauseKind
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Call, Line, Seen

FEWEST: dict[CauseKind, int] = {
    "static": 3,
    "shape": 4,
    "dtype": 1,
    "weak_type": 1,
    "tree": 2,
    "type": 2,
    "commitment": 1,
    "sharding": 1,
    "context": 1,
    "transform": 4,
    "new_function": 2,
    "guard": 3,
    "unknown": 3,
}
"""How often a cause must have made a function compile again to be worth a word: a few static
values and a few shapes are what they are for."""
PATTERNS: dict[CauseKind, str] = {
    "static": "varying-static-arg",
    "shape": "shape-change",
    "dtype": "dtype-change",
    "weak_type": "weak-type-flip",
    "tree": "tree-change",
    "type": "numba-signatures",
    "commitment": "recompile-by-commitment",
    "sharding": "recompile-by-commitment",
    "context": "context-change",
    "transform": "transform-of-traced",
    "new_function": "fresh-callable",
    "guard": "recompile",
    "unknown": "recompile",
}


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line at which one cause made a function compile again."""
    groups: dict[tuple[Line, str, CauseKind], list[Call]] = {}
    for call in seen.calls:
        kind = kind_of(call)
        if kind is None or call.site is None or call.is_frameworks:
            continue
        # A type of a declared signature is meant; another function of the same code is not.
        if kind == "new_function" or not seen.sources.defines(call.site.path, call.site.line):
            groups.setdefault((call.site, call.name, kind), []).append(call)
    limits = limits_of(seen)
    for (site, name, kind), calls in groups.items():
        after = limits.get(code_of(calls[0].function))
        if len(calls) >= FEWEST[kind] or (after is not None and kind != "unknown"):
            yield replace(_draft(seen, site, name, kind, calls), after=after)


def _draft(seen: Seen, site: Line, name: str, kind: CauseKind, calls: list[Call]) -> Draft:
    cost_s = sum(one.total_s for one in calls)
    others = [_others(kind, one) for one in calls]
    alone = [one for one, more in zip(calls, others, strict=True) if not more]
    mixed = sorted({name for more in others for name in more})
    is_first_seen = _is_first_seen(seen, calls[0])
    cause = _cause(kind, calls, is_first_seen=is_first_seen)
    return Draft(
        pattern=_pattern(seen, site, kind, calls),
        framework=calls[0].framework,
        site=site,
        n=len(calls),
        cost_s=cost_s,
        saving_s=sum(one.total_s for one in alone) if alone else None,
        saving_from=_estimate(alone) if alone else None,
        null_reasons={} if alone else {"saving_s": because("saving_other", other_names=mixed)},
        says=because(
            _code(kind, calls, cause),
            function=name,
            n_again=len(calls),
            n_read=sum(one.hit for one in calls),
            argument=cause.argument,
            n_values=cause.n_values,
            before=cause.before,
            now=cause.now,
        ),
        cause=cause,
    )


def _estimate(alone: list[Call]) -> Reason:
    """Return how the saving is estimated of calls that this cause alone has compiled again."""
    n_read = sum(one.hit for one in alone)
    if n_read:
        return because("saving_read", n_times=len(alone), n_read=n_read)
    return because("saving_again", n_times=len(alone))


def _others(kind: CauseKind, call: Call) -> set[str]:
    """Return which other arguments differed too, in another way.

    Without this cause such a call would have been compiled all the same.
    """
    if call.cause["kind"] != "again":
        return set()
    ours = {one["argument"] for one in call.differences if one["kind"] == kind}
    differing = (one for one in call.differences if one["argument"] not in ours)
    return {one["argument"] or one["kind"] for one in differing if one["kind"] != kind}


def _is_first_seen(seen: Seen, call: Call) -> bool:
    """Say whether what was compiled first is seen too: it may have been before a block began."""
    where = _where(call)
    return any(one.cause["kind"] == "first" and _where(one) == where for one in seen.calls)


def _where(call: Call) -> tuple[object, ...]:
    return call.framework, *code_of(call.function)


def _code(kind: CauseKind, calls: list[Call], cause: Cause) -> str:
    """Return which words fit."""
    if any(one.get("fixed") for call in calls for one in call.differences[:1]):
        return "doctor_no_array"  # a package has made it static, not the user
    if kind == "new_function" and cause.argument:
        return "doctor_new_closure"
    if kind == "static" and calls[0].framework == "torch":
        return code_of_value(cause.now)
    return f"doctor_{kind}"


def _cause(kind: CauseKind, calls: list[Call], *, is_first_seen: bool) -> Cause:
    differing = [one for call in calls for one in _differing(kind, call)]
    if kind == "guard":
        return Cause(kind=kind, argument=calls[-1].guard or "")
    if not differing:
        return Cause(kind=kind, n_values=len(calls) + is_first_seen)
    argument = Counter(one["argument"] for one in differing).most_common(1)[0][0]
    ours = [one for one in differing if one["argument"] == argument]
    sides = ("before", "now") if is_first_seen else ("now",)
    values = {one[side] for one in ours for side in sides}
    last = ours[-1]
    return Cause(
        kind=kind,
        argument=argument,
        before=last["before"],
        now=last["now"],
        n_values=len(values),
    )


def _differing(kind: CauseKind, call: Call) -> Sequence[Mapping[str, str]]:
    if kind == "new_function":
        held: Sequence[Mapping[str, str]] = call.cause.get("held") or ()
        return held
    return in_guard([one for one in call.differences if one["kind"] == kind], call.guard)


def _pattern(seen: Seen, site: Line, kind: CauseKind, calls: list[Call]) -> str:
    framework = calls[0].framework
    if framework == "torch" and kind == "static":
        return "torch-changing-scalar"
    if kind == "new_function" and _made_in_loop(seen, site, calls[0]):
        return "jit-in-loop"
    return PATTERNS[kind]


def _made_in_loop(seen: Seen, site: Line, call: Call) -> bool:
    """Say whether the function is written inside of the loop that calls it."""
    loop = seen.sources.loop(site.path, site.line)
    path, line = call.function.get("path"), int(call.function.get("line", 0))
    return loop is not None and path == site.path and loop[0] <= line <= loop[1]
