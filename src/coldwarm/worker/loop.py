"""The timed loops: of a measured process, and of the one that calls ``coldwarm.bench``.

They are generated for the number of arguments, as ``timeit`` does, so that a timed call
costs what it costs in a user's own loop: no argument unpacking, no closure.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_TEMPLATE = """
def loop(clock, repeat, function, sync, arguments, batch, limit, budget_ns):
    {unpack}
    samples = []
    keep = samples.append
    if batch == 1:
        last = clock() + budget_ns
        for _ in repeat(None, limit):
            begin = clock()
            {call}
            end = clock()
            keep(end - begin)
            if end >= last:
                break
        return samples
    last = clock() + budget_ns
    for _ in repeat(None, limit):
        calls = repeat(None, batch)
        begin = clock()
        for _ in calls:
            {call}
        end = clock()
        keep(end - begin)
        if end >= last:
            break
    return samples
"""


_RENEWING_TEMPLATE = """
def loop(clock, repeat, function, sync, arguments, batch, limit, budget_ns):
    samples = []
    keep = samples.append
    last = clock() + budget_ns
    for _ in repeat(None, limit):
        {unpack_fresh}
        begin = clock()
        {call}
        end = clock()
        keep(end - begin)
        if end >= last:
            break
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
    template = _RENEWING_TEMPLATE if renewing else _TEMPLATE
    text = template.format(unpack=f"{left}arguments", unpack_fresh=f"{left}arguments()", call=call)
    scope: dict[str, Any] = {}
    exec(text, scope)  # noqa: S102 - the text above, and keywords of a call that was made
    loop: Callable[..., list[int]] = scope["loop"]
    return loop
