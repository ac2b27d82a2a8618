"""Where else a compiled function is called: after a warm-up, a loop compiles nothing. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.stats.doctor.seen import Call, Line, Seen


def called_at(seen: Seen, call: Call) -> Iterator[list[Line]]:
    """Yield the stacks from which the function of a call was called, that of the call first.

    Functions of one name cannot be told apart where they are called: of these, there are none.
    """
    if call.stack:  # a thread may call it by itself
        yield call.stack
    name = call.name.rpartition(".")[2]
    alike = [one for one in seen.calls if one.name.rpartition(".")[2] == name]
    if len({_definition(one) for one in alike}) > 1:
        return
    compiled = {one.site for one in alike}
    for place in seen.places_of("jitted"):
        if place.name == name and place.site not in compiled:
            yield place.stack


def _definition(call: Call) -> tuple[object, object]:
    return call.function.get("path"), call.function.get("line")
