"""Records in which every text that may be any text is one that means harm."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import msgspec

from coldwarm.contracts.observation import PhaseCounts
from coldwarm.contracts.reasons import Reason

if TYPE_CHECKING:
    from coldwarm.contracts.result import Measured

R = TypeVar("R", bound=msgspec.Struct)
SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
BAD = (
    f"{SCRIPT}\x1b[2J\x1b]0;owned\x07\u202eevil\u2066\u200b\r\n::error::owned\n"
    '[x](javascript:alert(3)) | `a` | ]]> --> {{ 7*7 }} {% x %} $(id) #eval("1") @import \\ \x00'
)
"""Script, control characters, turns of direction, commands of a workflow, Markdown, templates and
the language of the PDF."""
NAME = "<img src=x onerror=alert(2)>](javascript:alert(3))|`#eval(1)`::error::x "
"""The same for names, in which every character is seen."""

KNOWN = {"judgements", "seconds", "null_reasons", "process"}
"""Mappings whose keys are names of the program's own: others are refused when they are read."""
NAMING = {"baseline", "case", "candidate"}
"""Fields that name a case or a candidate, which has such a name."""


def measured(found: Measured) -> Measured:
    """Return a result with such texts everywhere."""
    cases = [record(case) for case in found.cases.values()]
    return replace(
        found,
        path=BAD,
        suite=None if found.suite is None else record(found.suite),
        cases={case.case: case for case in cases},
        files={case.case: f"{BAD}{found.path}{case.case}" for case in cases},
        environment=None if found.environment is None else record(found.environment),
    )


def record(one: R) -> R:
    """Return a record with such texts, wherever its contract allows them."""
    if isinstance(one, Reason):
        values = {name: _value(value) for name, value in one.values.items()}
        return msgspec.structs.replace(one, values=values, parts=[record(p) for p in one.parts])
    hints = get_type_hints(type(one), include_extras=True)
    for name in one.__struct_fields__:
        if name == "name" and isinstance(one, PhaseCounts):
            continue  # of what its figures are, so it is one of the program's own
        value = getattr(one, name)
        made = _spoiled(value, hints[name], keys=name not in KNOWN)
        if name in NAMING and isinstance(value, str):
            made = NAME + value
        try:
            changed = msgspec.structs.replace(one, **{name: made})
            msgspec.convert(msgspec.to_builtins(changed), type(one))
        except (msgspec.ValidationError, ValueError, TypeError):
            continue
        one = changed
    return one


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return BAD + value
    return [BAD + one for one in value] if isinstance(value, list) else value


def _spoiled(value: Any, hint: Any, *, keys: bool = True) -> Any:
    """Return a value with such texts; each is tried with the type of its own place."""
    if isinstance(value, msgspec.Struct):
        return record(value)
    if isinstance(value, str):
        for bad in (BAD, NAME):
            try:
                return msgspec.convert(bad + value, hint)
            except (msgspec.ValidationError, TypeError):
                continue
        return value
    inner = _arguments(hint)
    if isinstance(value, list):
        return [_spoiled(one, inner[0] if inner else str) for one in value]
    if isinstance(value, dict):
        kinds = inner if len(inner) == 2 else (str, str)
        return {
            _spoiled(key, kinds[0]) if keys else key: _spoiled(one, kinds[1])
            for key, one in value.items()
        }
    return value


def _arguments(hint: Any) -> tuple[Any, ...]:
    """Return what a list or a mapping is of, also where it may be missing."""
    for one in (hint, *getattr(hint, "__args__", ())):
        if getattr(one, "__origin__", None) in {list, dict}:
            found: tuple[Any, ...] = one.__args__
            return found
    return ()
