"""Selection of the observations, and of their samples, that count for a cache mode.

A mode is proved, not declared: an observation counts for its own mode and for each of
``also_modes`` only where the judgement of that mode says so.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coldwarm.contracts.base import WARM
from coldwarm.contracts.observation import published
from coldwarm.contracts.reasons import because
from coldwarm.stats.steady import Steadiness, detect, settles_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Block, Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.steady import Steadiness


@dataclass(frozen=True)
class WarmProcess:
    """One process that counts for the warm regime, and where it became steady."""

    observation: Observation
    blocks: tuple[Block, ...]
    """Blocks of one batch in which nothing was compiled."""
    steadiness: Steadiness
    warmup: int
    """Samples of all its blocks, those with compiles too, before the steady state."""


def claims(observation: Observation, mode: CacheMode) -> bool:
    """Say whether the observation was made for the mode, be it valid or not."""
    return observation.cache_mode == mode or mode in observation.also_modes


def counts(observation: Observation, mode: CacheMode) -> bool:
    """Say whether the observation is valid for the mode, by its status and its evidence."""
    judgement = observation.judgements.get(mode)
    proved = judgement is not None and judgement.proved
    return observation.status == "ok" and claims(observation, mode) and proved


def is_beside(observation: Observation) -> bool:
    """Say whether a process was to show what another setting changes, or a ratio alone.

    Only where there are others: before there were, all kept memory.
    """
    by_default = observation.cache_settings == "framework_default"
    return by_default or observation.allocator == "keeps_memory" or observation.turns > 0


def keeping(observations: Iterable[Observation]) -> list[Observation]:
    """Return the observations of processes that kept memory, beside others that did not."""
    seen = [one for one in observations if one.cache_settings == "keep_all"]
    kept = [one for one in seen if one.allocator == "keeps_memory"]
    return kept if len(kept) < len(seen) else []


def filled_by_default(observations: Iterable[Observation]) -> list[Observation]:
    """Return the observations of starts with what the framework's own settings keep."""
    return [seen for seen in observations if seen.cache_settings == "framework_default"]


def starts_in_turns(observations: Iterable[Observation], mode: CacheMode) -> list[Observation]:
    """Return the observations of starts in turns that are valid for a mode."""
    return [seen for seen in observations if seen.turns and counts(seen, mode)]


def counted(observations: Iterable[Observation], mode: CacheMode) -> list[Observation]:
    """Return the observations that figures of the mode are from."""
    return [observation for observation in published(observations) if counts(observation, mode)]


def failure(observations: Iterable[Observation]) -> Observation | None:
    """Return the observation that made a case fail; ``None``: none did."""
    return next((seen for seen in published(observations) if seen.status == "failed"), None)


def rejected(observations: Iterable[Observation], mode: CacheMode) -> list[Reason]:
    """Return the reason of each observation whose evidence does not prove the mode."""
    return [
        one.reason
        for one in rejects(published(observations))
        if one.mode == mode and one.observation.status != "failed"
    ]


def _why_rejected(observation: Observation, mode: CacheMode) -> Reason:
    judgement = observation.judgements.get(mode)
    if judgement is not None and not judgement.proved:
        return judgement.reason
    if observation.status == "rejected":
        return observation.reason or because("unstated")
    return because("not_judged", cache_mode=mode)


def _clean_blocks(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks with samples in which nothing was compiled, all of one batch.

    Single calls that only served to choose the batch are left out: their noise is another one.
    """
    clean = [block for block in blocks if block.samples_s and is_clean(block)]
    return [block for block in clean if block.batch == clean[-1].batch]


def warmup_s(blocks: Iterable[Block]) -> float | None:
    """Return the seconds of calls before the steady state of a process; ``None``: it has none."""
    alike = _clean_blocks(blocks)
    found = detect([block.samples_s for block in alike])
    samples = list(chain.from_iterable(block.samples_s for block in alike))
    settled = settles_at(np.array(samples), np.ones(len(samples), dtype=np.int64))
    if not found.steady or settled is None:
        return None
    return alike[0].batch * sum(samples[: max(found.warmup, settled)])


def is_clean(block: Block) -> bool:
    """Say whether a block is known to have compiled nothing."""
    return block.compiles == 0


def warm_processes(observations: Sequence[Observation]) -> list[WarmProcess]:
    """Return the processes that count for the warm regime and have samples."""
    processes = []
    for observation in counted(observations, WARM):
        blocks = _clean_blocks(observation.blocks)
        steadiness = detect([block.samples_s for block in blocks])
        if steadiness.samples:
            warmup = _raw_position(observation, blocks, steadiness.warmup)
            processes.append(WarmProcess(observation, tuple(blocks), steadiness, warmup))
    return processes


def _raw_position(observation: Observation, clean: Sequence[Block], position: int) -> int:
    """Turn a position among the clean samples into one among all samples of the process."""
    raw = 0
    orders = {block.order for block in clean}
    for block in observation.blocks:
        length = len(block.samples_s)
        if block.order in orders:
            if position < length:
                return raw + position
            position -= length
        raw += length
    return raw


def by_round(pairs: Iterable[tuple[Observation, Sequence[float]]]) -> dict[str, list[float]]:
    """Return the samples of each process under its round, ``3``, and ``3.1`` for a second one."""
    rounds: dict[str, list[float]] = {}
    places: dict[int, int] = {}
    for observation, samples in pairs:
        place = places.get(observation.round, 0)
        places[observation.round] = place + 1
        key = f"{observation.round}.{place}" if place else str(observation.round)
        rounds[key] = list(samples)
    return rounds


class _Reject(NamedTuple):
    """A process, and why it does not count for a mode."""

    observation: Observation
    mode: CacheMode
    reason: Reason


def rejects(observations: Iterable[Observation]) -> Iterator[_Reject]:
    """Yield processes that failed, and for each mode that one claims in vain, that it does."""
    for seen in observations:
        if seen.status == "failed":
            yield _Reject(seen, seen.cache_mode, seen.reason or because("unstated"))
            continue
        for mode in dict.fromkeys((seen.cache_mode, *seen.also_modes)):
            if not counts(seen, mode):
                yield _Reject(seen, mode, _why_rejected(seen, mode))


_FAULT_S = 2e-6
"""Highest cost of a page fault, the page cleared: in a virtual machine. Elsewhere a quarter."""
GAIN = 0.05
"""The share of a call below which its page faults are not reported."""


def _per_call(blocks: Iterable[Block]) -> float | None:
    """Return the page faults of one call, ``None`` where they were not counted."""
    known = [block for block in blocks if block.page_faults is not None and block.samples_s]
    calls = sum(block.batch * len(block.samples_s) for block in known)
    return sum(block.page_faults or 0 for block in known) / calls if calls else None


def gives_back(blocks: Sequence[Block]) -> bool:
    """Say whether page faults could cost these calls a share that matters."""
    faults = _per_call(blocks)
    calls = sum(block.batch * len(block.samples_s) for block in blocks)
    spent_s = sum(block.batch * sum(block.samples_s) for block in blocks)
    return faults is not None and faults * calls * _FAULT_S >= GAIN * spent_s


def median_per_call(processes: Iterable[Sequence[Block]]) -> float | None:
    """Return the median over processes, given by their blocks, of the page faults of one call."""
    known = [faults for blocks in processes if (faults := _per_call(blocks)) is not None]
    return statistics.median(known) if known else None
