"""What the caches of a case need of a program, and what of them cannot be controlled. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import modes, pages
from coldwarm.contracts.base import FILLED
from coldwarm.contracts.reasons import because
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.answer import CacheSetting
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason


def filled_by(observations: Iterable[Observation], *, on_request: bool) -> list[CacheSetting]:
    """Return what a program must set for the filled caches that the figures have."""
    filled = [seen for seen in counted(observations, FILLED) if seen.cache_mode == FILLED]
    known = set(modes.owners())
    found = [
        one
        for seen in filled
        for one in modes.settings(
            [part for part in seen.evidence if part.owner in known], on_request=on_request
        )
    ]
    return [one for place, one in enumerate(found) if one not in found[:place]]


def limitations(names: Iterable[str], asked: Sequence[CacheMode]) -> list[Reason]:
    """Return what cannot be controlled where these caches are, in the modes asked for."""
    owners = sorted(set(names))
    controlled = because("caches_controlled", owner_names=owners)
    return [controlled, *modes.limitations(owners), *pages.limitations(asked)]
