"""What a factory gives: a function, its arguments, and those of further calls."""

from coldwarm.functions import arguments, target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

NEW_SHAPES = 8
"""At most so many further inputs of a factory's generator are called."""


def from_factory(
    factory: "Callable[[], Any]",
) -> "tuple[Callable[..., Any], arguments.Call, Iterator[tuple[Any, ...]]]":
    """Return a factory's function, its call, and the arguments of further calls.

    Of a generator only the first arguments are made here: a first result needs no others.

    Raises:
        TargetError: it returned something else.
    """
    made = factory()
    if callable(made):
        return made, arguments.Call((), {}), iter(())
    expected = "a factory returns (function, arguments), with a tuple of arguments"
    if not isinstance(made, tuple | list) or not 0 < len(made) <= 3 or not callable(made[0]):  # noqa: PLR2004 - function, arguments, keywords
        text = f"{expected}; this one returned a {type(made).__name__}"
        raise target.TargetError(text)
    positional: Any = made[1] if len(made) > 1 else ()
    named = made[2] if len(made) > 2 else {}  # noqa: PLR2004 - as above
    if not isinstance(named, dict):
        text = f"{expected} and a dict of named ones; this one's are a {_kind(named)}"
        raise target.TargetError(text)
    further: Iterator[tuple[Any, ...]] = iter(())
    if hasattr(positional, "__next__"):
        taken = _taken(positional)
        positional = next(taken, None)
        if positional is None:
            text = "the factory's generator of arguments gave none"
            raise target.TargetError(text)
        further = ((*more, *named.values()) for more in taken)
    if not isinstance(positional, tuple | list):
        text = f"{expected}; its arguments are a {type(positional).__name__}"
        raise target.TargetError(text)
    return made[0], arguments.Call(tuple(positional), named), further


def _taken(generator: "Any") -> "Iterator[tuple[Any, ...]]":
    for _, one in zip(range(1 + NEW_SHAPES), generator, strict=False):
        # An array would come apart into its rows.
        if not isinstance(one, tuple | list):
            text = f"the factory's generator gives tuples of arguments, and gave a {_kind(one)}"
            raise target.TargetError(text)
        yield tuple(one)


def _kind(value: "Any") -> str:
    return type(value).__name__
