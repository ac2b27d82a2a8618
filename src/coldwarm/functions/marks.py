"""Marks functions of a user's file as candidates, so that the file alone can be named.

The mark changes nothing of the function; it is a note beside it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

MARKED: "list[tuple[str, dict[str, Any]]]" = []
"""Name and options of each marked function, in the order of their definition."""


def workload(
    function: "F | None" = None,
    *,
    inputs: "dict[str, str] | None" = None,
    reference: bool = False,
    tolerance: "float | None" = None,
) -> "Any":
    """Mark a function as a candidate that ``coldwarm bench FILE`` measures.

    Args:
        function: The function, where the decorator is used without parentheses.
        inputs: Its inputs as ``--input`` has them: ``{"x": "f32[512,512]", "n": "3"}``.
        reference: Whether its answer is the one that the others are checked against; else
            the first marked function's is.
        tolerance: The largest error of a number of an answer, over its magnitude in the
            reference.

    Returns:
        The function, unchanged.
    """

    def mark(marked: "F") -> "F":
        name = getattr(marked, "__name__", None)
        if not isinstance(name, str):
            text = f"a {type(marked).__name__} without a name cannot be marked as a workload"
            raise TypeError(text)
        options = {"inputs": inputs or {}, "reference": reference, "tolerance": tolerance}
        MARKED.append((name, options))
        return marked

    return mark if function is None else mark(function)
