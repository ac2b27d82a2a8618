"""The timed loops: of a measured process, and of the one that calls ``coldwarm.bench``.

They are generated for the number of arguments, as ``timeit`` does, so that a timed call
costs what it costs in a user's own loop: no argument unpacking, no closure.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_HEAD = """
def loop(clock, repeat, function, sync, arguments, batch, limit, budget_ns):
    {unpack}
    samples = []
    keep = samples.append
    last = clock() + budget_ns
"""
_SERIES = """
    for _ in repeat(None, limit if {asked} else 0):
        {before}
        begin = clock()
        {calls}
        end = clock()
        keep(end - begin)
        if end >= last:
            return samples
"""


def make_loop(
    n_arguments: int,
    keywords: "tuple[str, ...]" = (),
    *,
    synchronous: bool,
    renewing: bool = False,
) -> "Callable[..., list[int]]":
    """Return the timed loop for a candidate of so many arguments.

    The last of them go by the names in ``keywords``. ``renewing``: instead of arguments the
    loop takes the function that gives them anew, which it calls outside the timed window.

    Each sample is the wall clock in ns of ``batch`` calls; inside are the call, the
    synchronisation on its own output, and the release of that output.
    """
    names = [f"a{index}" for index in range(n_arguments)]
    given = [""] * (n_arguments - len(keywords)) + [f"{keyword}=" for keyword in keywords]
    inner = f"function({', '.join(map(str.__add__, given, names))})"
    call = inner if synchronous else f"sync({inner})"
    left = f"{', '.join(names)}, = " if names else ""
    if renewing:
        text = _HEAD.format(unpack="pass")
        text += _SERIES.format(asked=True, before=f"{left}arguments()", calls=call)
    else:
        text = _HEAD.format(unpack=f"{left}arguments")
        text += _SERIES.format(asked="batch == 1", before="pass", calls=call)
        batched = {"before": "calls = repeat(None, batch)", "calls": f"for _ in calls: {call}"}
        text += _SERIES.format(asked="batch > 1", **batched)
    text += "    return samples"
    scope: dict[str, Any] = {}
    exec(text, scope)  # noqa: S102 - the text above, and keywords of a call that was made
    loop: Callable[..., list[int]] = scope["loop"]
    return loop
