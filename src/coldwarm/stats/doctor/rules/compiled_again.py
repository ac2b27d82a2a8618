"""What is compiled again and again at one line, by the cause that most of it has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Cause
from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.blamed import Blamed, blamed
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.of_torch import code_of, code_of_value, limits_of
from coldwarm.stats.doctor.sites import kind_of
from coldwarm.stats.doctor.spent import estimate, freed_s, spent_s
from coldwarm.stats.doctor.values import kind_of_types, kind_of_values

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_FEW, _USED_AGAIN = 16, 3
"""Functions that are kept, and calls of each, for them to be made on purpose."""
_MOST_NAMED = 2
"""Arguments that are named besides the one that changed most often."""
_BOTH_TOLD: set[CauseKind] = {"static", "dtype", "weak_type", "type", "context", "new_function"}
"""Causes of which both values say something a second time."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line at which one cause made a function compile again, by its arguments."""
    groups: dict[tuple[Line, str, CauseKind], list[Call]] = {}
    for call in seen.calls:
        kind = kind_of(call)
        if kind is None or call.site is None or call.is_frameworks or not call.compiled:
            continue
        # A type of a declared signature is meant; another function of the same code is not.
        is_declared = call.stack and seen.sources.defines(call.site.path, call.site.line)
        if kind == "new_function" or not is_declared:
            groups.setdefault((call.site, call.name, kind), []).append(call)
    limits = limits_of(seen)
    for (site, name, kind), calls in groups.items():
        after = limits.get(code_of(calls[0].function))
        is_worth = len(calls) >= FEWEST[kind] or (after is not None and kind != "unknown")
        if is_worth and not _are_kept(seen, site, kind, calls):
            for one in blamed(kind, calls):
                yield replace(_draft(seen, site, name, one), after=after)


def _are_kept(seen: Seen, site: Line, kind: CauseKind, calls: list[Call]) -> bool:
    """Say whether these are a few functions that the program has made once and calls again.

    A program that makes them anew in each turn keeps one at a time.
    """
    cause = calls[-1].cause
    if kind != "new_function" or cause.get("n_kept") != cause.get("n_objects", 0):
        return False
    if not seen.sees_calls:
        return len(calls) < _FEW
    name = calls[0].name.rpartition(".")[2]
    n = sum(one.n for one in seen.places_at("jitted", site) if one.name == name)
    return n >= _USED_AGAIN * (len(calls) + 1)


def _draft(seen: Seen, site: Line, name: str, group: Blamed) -> Draft:
    calls = group.calls
    is_first_seen = _is_first_seen(seen, calls[0])
    cause = _cause(group, is_first_seen=is_first_seen)
    untold = _untold(group, cause)
    return Draft(
        pattern=_pattern(seen, site, group.kind, calls),
        framework=calls[0].framework,
        site=site,
        n=len(calls),
        cost_s=spent_s(calls),
        saving_s=None if untold else freed_s(seen, group.alone),
        saving_from=None if untold else estimate(group.alone),
        null_reasons={"saving_s": untold} if untold else {},
        says=because(
            _code(group, cause),
            *_more(group),
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


def _untold(group: Blamed, cause: Cause) -> Reason | None:
    """Return why there is no figure of what a change saves; ``None``: there is one."""
    if group.kind == "unknown":
        return because("saving_unknown")
    if not group.alone:
        return because("saving_other", other_names=group.others)
    is_value = group.kind in {"static", "new_function"} and cause.argument
    # Each text is compiled for itself in any case.
    if is_value and kind_of_values(cause.before, cause.now) == "text":
        return because("doctor_depends")
    return None


def _more(group: Blamed) -> Iterator[Reason]:
    """Name the other arguments that changed in these calls, or say how many there are."""
    more = group.arguments[1:]
    for name in more[:_MOST_NAMED]:
        n_times = group.n_times(name)
        if group.kind in _BOTH_TOLD:
            example = group.example(name)
            values = {"before": example["before"], "now": example["now"]}
            yield because("doctor_also", argument=name, n_times=n_times, **values)
        else:
            yield because("doctor_too", argument=name, n_times=n_times)
    for name in group.taken[:_MOST_NAMED]:
        yield because("doctor_taken", argument=name)
    if len(more) > _MOST_NAMED:
        yield because("doctor_more", n_arguments=len(more) - _MOST_NAMED)


def _is_first_seen(seen: Seen, call: Call) -> bool:
    """Say whether what was compiled first is seen too: it may have been before a block began."""
    where = _where(call)
    return any(one.cause["kind"] == "first" and _where(one) == where for one in seen.calls)


def _where(call: Call) -> tuple[object, ...]:
    return call.framework, *code_of(call.function)


def _code(group: Blamed, cause: Cause) -> str:
    """Return which words fit."""
    if any(one.get("fixed") for call in group.calls for one in call.differences[:1]):
        return "doctor_no_array"  # a package has made it static, not the user
    if group.kind == "new_function" and cause.argument:
        return "doctor_new_closure"
    if group.kind == "type" and kind_of_types(cause.before, cause.now) == "function":
        return "doctor_functions"
    if group.kind == "static" and group.calls[0].framework == "torch":
        return code_of_value(cause.now)
    return f"doctor_{group.kind}"


def _cause(group: Blamed, *, is_first_seen: bool) -> Cause:
    if group.kind == "guard":
        return Cause(kind=group.kind, argument=group.calls[-1].guard or "")
    if not group.arguments:
        return Cause(kind=group.kind, n_values=len(group.calls) + is_first_seen)
    argument = group.arguments[0]
    example = group.example(argument)
    return Cause(
        kind=group.kind,
        argument=argument,
        before=example["before"],
        now=example["now"],
        n_values=group.n_values(argument, with_first=is_first_seen),
    )


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
