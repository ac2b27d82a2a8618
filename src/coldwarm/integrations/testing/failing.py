"""What an assertion says when it fails: where, what was compiled, and which argument changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.stats.doctor.seen import Call

_MOST_CALLS, _MOST_DIFFERENCES, _MOST_VALUES = 10, 3, 4
_LONGEST = 240
"""Characters of the arguments of a call."""
_LISTED = ("static", "shape", "dtype", "type")
"""Kinds of difference of which each earlier call has a value that can be shown."""


def told(calls: Sequence[Call], everything: Sequence[Call]) -> str:
    """Return where something was compiled, and why again, with the argument's earlier values.

    ``everything``: all calls of this process so far, these among them.
    """
    lines = [line for one in calls[:_MOST_CALLS] for line in _lines(one, everything)]
    if len(calls) > _MOST_CALLS:
        lines.append(f"  … and {len(calls) - _MOST_CALLS} more")
    return "\n".join(lines)


def _lines(call: Call, everything: Sequence[Call]) -> Iterator[str]:
    where = f"{call.site.path}:{call.site.line}" if call.site else "at no line of a file"
    given = ", ".join(
        [f"{name}: {kind}" for name, kind in call.arguments.items()]
        + [f"{name}={value}" for name, value in call.static.items()]
    )
    given = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}…"
    read = "read from the cache in" if call.hit else "compiled in"
    yield f"  {where}: {call.name}({given}), {read} {units.duration(call.total_s)}"
    if call.cause.get("kind") == "first" and not call.differences:
        yield "    for the first time"
        return
    number = call.cause.get("n_objects")
    if call.cause.get("kind") == "new_function":
        what = f"the {_ordinal(number)} function object" if number else "another function object"
        yield f"    `jit` got {what} of this code: make the jitted function once, and keep it"
        for each in call.cause.get("held") or ():
            held = f"`{each['argument']}`, which is {each['now']}; it was {each['before']}"
            yield f"    the function holds {held}"
    elif not call.differences:
        yield "    again, and nothing that is watched differed"
    earlier = [
        one
        for one in everything
        if one.number < call.number and one.name == call.name and _code(one) == _code(call)
    ]
    for each in call.differences[:_MOST_DIFFERENCES]:
        yield f"    {_difference(each, earlier)}"
    if len(call.differences) > _MOST_DIFFERENCES:
        yield f"    … and {len(call.differences) - _MOST_DIFFERENCES} more differences"


def _code(call: Call) -> tuple[object, object]:
    return call.function.get("path"), call.function.get("line")


def _ordinal(number: int) -> str:
    tens = number % 100 in {11, 12, 13}
    return f"{number}{'th' if tens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _difference(each: Mapping[str, str], earlier: Sequence[Call]) -> str:
    kind, name, now = each["kind"], each["argument"], each["now"]
    before = each["before"]
    if kind in _LISTED:
        return f"`{name}` is {now}; it was {_values(name, now, before, earlier)}"
    if kind == "tree":
        return f"`{name}` is built otherwise: {now}; it was {before}"
    if kind == "commitment":
        words = {"True": "was put on a device by name", "False": "was not put on a device by name"}
        return f"`{name}` {words.get(now, now)}; before, it {words.get(before, before)}"
    if kind == "context":
        return f"the setting `{name}` is {now}; it was {before}"
    if kind == "transform":
        return f"it is called inside of {_inside(now)}; before, inside of {_inside(before)}"
    return f"`{name}` is {now}; it was {before}"


def _inside(tracers: str) -> str:
    return "no transformation" if tracers == "none" else tracers


def _values(name: str, now: str, nearest: str, earlier: Sequence[Call]) -> str:
    """Return the value in the call that is most alike, and those that the argument had besides."""
    had = [{**one.arguments, **one.static}.get(name) for one in earlier]
    others = list(dict.fromkeys(one for one in had if one not in {None, now, nearest}))
    if not others:
        return nearest
    left = len(others) - _MOST_VALUES
    more = f" and {left} more" if left > 0 else ""
    return f"{nearest}, and before {', '.join(map(str, others[:_MOST_VALUES]))}{more}"
