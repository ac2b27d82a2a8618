"""Limits of counts, as ``--fail-on`` has them: ``programs:+1``, ``equations:5%``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.cli import _options
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.answer import CountVerdict
    from coldwarm.contracts.policy import CountLimit


def split(values: Iterable[str]) -> tuple[list[str], dict[str, CountLimit]]:
    """Return what ``--fail-on`` says of verdicts, and the limits of counts.

    Raises:
        BadParameter: a limit is none, or one is given twice.
    """
    from coldwarm.contracts.answer import COUNT_NAMES

    limits: dict[str, CountLimit] = {}
    others = []
    for part in _options.parts(values, "--fail-on"):
        name, colon, limit = part.partition(":")
        if name not in COUNT_NAMES:
            others.append(part)
            continue
        if name in limits:
            raise _options.wrong("--fail-on", f"{name} is given twice; give one limit")
        limits[name] = _limit(name, limit if colon else "+0")
    return others, limits


def _limit(name: str, given: str) -> CountLimit:
    from coldwarm.contracts.policy import CountLimit

    more = given.removeprefix("+")
    if more != given and more.isdecimal() and more.isascii():
        return CountLimit(more=int(more[:9]))
    if given[-1:] == "%":
        return CountLimit(share=_options.relative("--fail-on", given, zero=True))
    wrong = f"{given!r:.40} is no limit of {name}: write how many more are allowed, +1 or 5%"
    raise _options.wrong("--fail-on", wrong)


def refuse_unheard(limits: Mapping[str, CountLimit], verdicts: Sequence[CountVerdict]) -> None:
    """Refuse to guard what nothing has counted.

    Raises:
        UsageError: a build would guard it in vain.
    """
    from coldwarm.stats.compare.figures import unheard

    names = unheard(limits, verdicts)
    if names:
        counted = dict.fromkeys(one.name for one in verdicts if one.name not in names)
        there = f"there are {', '.join(counted)}" if counted else "there is no count at all"
        message = f"--fail-on: nothing here has counted {', '.join(names)}; {there}"
        raise UsageError(message)
