"""Cache modes over all owners: where each owner's cache lies, and one judgement. Pure."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

import coldwarm.caches
from coldwarm.caches import HOME, Owner, judge_by_default, proved, refuted
from coldwarm.contracts.base import EMPTY, FILLED
from coldwarm.contracts.observation import COUNTS, Block, CacheEvidence, Judgement
from coldwarm.contracts.reasons import because, distinct, together
from coldwarm.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.answer import CacheSetting
    from coldwarm.contracts.base import CacheMode, CacheSettings
    from coldwarm.contracts.reasons import Reason

    _Kept = Literal["all", "some", "none"]

EVERY_CALL = "every_call_compiled"
"""The code of the judgement that a function compiles whenever it is called."""
_FEWEST_CALLS = 2
"""Calls below which nothing can be said of every one."""


def kept_by_default(evidence: CacheEvidence, *, on_request: bool) -> _Kept | None:
    """Say how much of what a process compiled its framework keeps by itself.

    ``on_request``: it keeps nothing unless the program asks for it.
    """
    if not evidence.compiles:
        return None
    if on_request:
        return "none"
    known = owner(evidence.owner).kept_by_default
    return "all" if known is None else known(evidence)


def settings(evidence: Iterable[CacheEvidence], *, on_request: bool) -> list[CacheSetting]:
    """Return what a program must set to find the caches filled that this process hit."""
    used = {one.owner: owner(one.owner) for one in evidence if one.hits}
    needed = [one.setting for one in used.values() if one.setting is not None]
    # Where the program is the user's own, it already has what must stand in it.
    asked = [one if on_request else replace(one, code=None) for one in needed]
    return [one for one in asked if one.variables or one.code]


@cache
def owners() -> dict[str, Owner]:
    """Return every cache owner in this folder by its name."""
    names = (module.name for module in pkgutil.iter_modules(coldwarm.caches.__path__))
    modules = (importlib.import_module(f"coldwarm.caches.{name}") for name in names)
    found = (vars(module).get("OWNER") for module in modules)
    return {one.name: one for one in found if isinstance(one, Owner)}


def of_programs() -> list[Owner]:
    """Return the owners whose caches hold compiled programs."""
    return [one for one in owners().values() if one.holds_programs]


def readable() -> dict[str, Owner]:
    """Return, by framework, the owners whose caches can be read."""
    return {one.framework: one for one in of_programs() if one.read is not None}


def of_functions() -> tuple[str, ...]:
    """Return the caches that a user's own function may have."""
    found = [(one.of_function, name) for name, one in owners().items() if one.of_function]
    return tuple(name for _, name in sorted(found))


def places() -> dict[str, Any]:
    """Return how a measured process finds out that its program has moved a cache elsewhere."""
    known = of_programs()
    return {
        "variables": sorted(name for one in known for name in one.folders),
        "configured": {
            name: variable for one in known for name, variable in one.configured.items()
        },
    }


def owner(name: str) -> Owner:
    """Return one owner.

    Raises:
        PluginError: a backend names a cache that nobody here knows how to isolate.
    """
    known = owners()
    if name not in known:
        text = f"no cache owner is called {name!r}; known are {', '.join(sorted(known))}"
        raise PluginError(text)
    return known[name]


def judge(
    mode: CacheMode,
    evidence: Iterable[CacheEvidence],
    *,
    compiles: bool,
    cache_settings: CacheSettings = "keep_all",
) -> Judgement:
    """Judge a start: every owner must prove the mode."""
    by_default = cache_settings == "framework_default"
    evidence = _with_home(list(evidence))
    judgements = [
        judge_by_default(e)
        if by_default and owner(e.owner).has_default
        else owner(e.owner).judge(mode, e, compiles=compiles)
        for e in evidence
    ]
    if not judgements:
        return proved("no_cache")
    failed = [judgement.reason for judgement in judgements if not judgement.proved]
    reasons = failed or [judgement.reason for judgement in judgements]
    return Judgement(proved=not failed, reason=together(reasons))


def judge_other(
    mode: CacheMode, evidence: Iterable[CacheEvidence], cache_settings: CacheSettings
) -> dict[CacheMode, Judgement]:
    """Judge a start with empty caches as one with filled caches, where it has left nothing in any.

    What the next start finds is what this one has found.
    """
    if mode != EMPTY or cache_settings == "framework_default" or not all(map(_leaves_no, evidence)):
        return {}
    return {FILLED: proved("nothing_left")}


def _leaves_no(evidence: CacheEvidence) -> bool:
    """Say whether a process had no file in a cache, left none, and had nothing to put there."""
    listed = (evidence.files_before, evidence.files_after)
    # Of files that a program opens, requests are counted too, whosever they are.
    asked = any(getattr(evidence, name) for name in COUNTS if name != "requests")
    elsewhere = evidence.owner == HOME and evidence.raw  # files that others may find, too
    return listed == (0, 0) and not asked and not evidence.new_files and not elsewhere


def _with_home(evidence: list[CacheEvidence]) -> list[CacheEvidence]:
    """Count the files in a process's home for a cache that has none in its own folder.

    Libraries may give a framework another folder for what they compile with it.
    """
    home = next((one for one in evidence if one.owner == HOME), None)
    if home is None:
        return evidence
    counted = {"files_before": home.files_before, "files_after": home.files_after}
    return [
        replace(one, **counted) if owner(one.owner).in_home and not one.files_after else one
        for one in evidence
    ]


def judge_blocks(blocks: Sequence[Block]) -> Judgement:
    """Judge the warm regime: there are blocks, and in the later half of calls nothing compiled.

    What was compiled before, such as another branch at the tenth call, belongs to the warm-up.
    """
    uncounted = sum(block.compiles is None for block in blocks)
    compiled = sum(block.compiles or 0 for block in blocks)
    if not blocks:
        return refuted("no_warm_block")
    if uncounted:
        given = (block.null_reasons.get("compiles") for block in blocks)
        why = distinct(reason for reason in given if reason is not None)
        reason = because("blocks_uncounted", *why, n_blocks=uncounted)
        return Judgement(proved=False, reason=reason)
    calls = [block.batch * len(block.samples_s) for block in blocks]
    each = all((block.compiles or 0) >= n for block, n in zip(blocks, calls, strict=True))
    if each and sum(calls) >= _FEWEST_CALLS:
        return refuted(EVERY_CALL, n_programs=compiled, n_calls=sum(calls))
    if not compiled:
        return proved("nothing_compiled", n_blocks=len(blocks))
    last = max(place for place, block in enumerate(blocks) if block.compiles)
    n_since = sum(calls[last + 1 :])
    if 2 * n_since >= sum(calls):
        return proved("nothing_compiled_since", n_programs=compiled, n_calls=n_since)
    return refuted("compiled_in_window", n_programs=compiled)


def limitations(names: Iterable[str]) -> list[Reason]:
    """Return what cannot be controlled for these owners."""
    return [reason for name in names for reason in owner(name).limitations]
