"""Factories: functions without arguments that return a function and the arguments of its calls."""

from coldwarm.functions import arguments, target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NEW_SHAPES = 8
"""At most so many further inputs of a factory's generator are called."""


def from_factory(
    factory: "Callable[[], Any]",
) -> "tuple[Callable[..., Any], arguments.Call, list[tuple[Any, ...]]]":
    """Return a factory's function, its call, and the arguments of further calls.

    Raises:
        TargetError: it returned something else.
    """
    made = factory()
    if callable(made):
        return made, arguments.Call((), {}), []
    expected = "a factory returns (function, arguments), with a tuple of arguments"
    if not isinstance(made, tuple | list) or not 0 < len(made) <= 3 or not callable(made[0]):  # noqa: PLR2004 - function, arguments, keywords
        text = f"{expected}; this one returned a {type(made).__name__}"
        raise target.TargetError(text)
    positional: Any = made[1] if len(made) > 1 else ()
    named = made[2] if len(made) > 2 else {}  # noqa: PLR2004 - as above
    if not isinstance(named, dict):
        text = f"{expected} and a dict of named ones; this one's are a {_kind(named)}"
        raise target.TargetError(text)
    further = []
    if hasattr(positional, "__next__"):
        first, *further = _taken(positional)
        positional, further = first, [(*more, *named.values()) for more in further]
    if not isinstance(positional, tuple | list):
        text = f"{expected}; its arguments are a {type(positional).__name__}"
        raise target.TargetError(text)
    return made[0], arguments.Call(tuple(positional), named), further


def _taken(generator: "Any") -> "list[tuple[Any, ...]]":
    from itertools import islice

    taken = list(islice(generator, 1 + NEW_SHAPES))
    if not taken:
        text = "the factory's generator of arguments gave none"
        raise target.TargetError(text)
    for one in taken:
        # An array would come apart into its rows.
        if not isinstance(one, tuple | list):
            text = f"the factory's generator gives tuples of arguments, and gave a {_kind(one)}"
            raise target.TargetError(text)
    return [tuple(one) for one in taken]


def _kind(value: "Any") -> str:
    return type(value).__name__
