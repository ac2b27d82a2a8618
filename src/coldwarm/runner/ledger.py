"""State of a run: what it has, what its caches need and cannot control, who hears of it.

A process that somebody else has killed, the kernel out of memory among them, is nobody's failure;
which of two killed it, a signal does not say. So it is tried again, a bounded number of times: what
kills itself each time has failed in the end.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from coldwarm.caches import listing, modes
from coldwarm.contracts.base import EMPTY, FILLED
from coldwarm.contracts.observation import published
from coldwarm.contracts.reasons import because
from coldwarm.runner.harness import MOST_TRIES
from coldwarm.stats.selection import claims, counted, counts, failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from coldwarm.contracts.answer import CacheSetting
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Making
    from coldwarm.runner.case_list import Case


_SIGNALS = {"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"}
_Answer = TypeVar("_Answer")


def killed_from_outside(reason: Reason | None) -> bool:
    """Say whether a process ended by a signal that others send."""
    if reason is None:
        return False
    if reason.code == "signal":
        return reason.values["name"] in _SIGNALS
    wraps = reason.code in {"reference_failed", "making_failed", "failed_before", "not_for_commit"}
    return reason.code == "killed" or (wraps and any(map(killed_from_outside, reason.parts)))


def as_tried(observation: Observation) -> Observation:
    """Return an observation as one that was tried, if its process was killed from outside."""
    if observation.status == "failed" and killed_from_outside(observation.reason):
        return replace(observation, status="rejected")
    return observation


def retry_killed(attempt: Callable[[], _Answer], failed: type[Exception]) -> _Answer:
    """Return what an attempt gives, repeated where its process was killed from outside.

    Raises:
        Exception: what the last attempt has raised; its ``reason`` says why.
    """
    for _ in range(MOST_TRIES - 1):
        try:
            return attempt()
        except failed as error:
            if not killed_from_outside(getattr(error, "reason", None)):
                raise
    return attempt()


class Ledger:
    """Observations in the order they came; one of a later attempt does not erase another."""

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        """Start with what a journal held."""
        self._by_case: dict[str, dict[tuple[str, int, int], Observation]] = defaultdict(dict)
        self._made: dict[str, list[Making]] = defaultdict(list)
        for observation in observations:
            self.add(observation)

    def add_making(self, making: Making) -> None:
        """Add what was made ahead of time for a case."""
        self._made[making.case].append(making)

    def made(self, case: Case) -> list[Making]:
        """Return the makings of a case; a run that went on has one for each part."""
        return list(self._made[case.id])

    def add(self, observation: Observation) -> None:
        """Add an observation; the end of a process replaces what its start had said."""
        key = (observation.cache_mode, observation.round, observation.attempt)
        self._by_case[observation.case][key] = observation

    def holds(self, observation: Observation) -> bool:
        """Say whether there is an observation of the same mode, round and attempt."""
        key = (observation.cache_mode, observation.round, observation.attempt)
        return key in self._by_case.get(observation.case, {})

    def of(self, case: Case) -> list[Observation]:
        """Return a case's observations."""
        return list(self._by_case[case.id].values())

    def failure(self, case: Case) -> Observation | None:
        """Return the observation that made a case fail."""
        return failure(self.of(case))

    def good(self, case: Case, mode: CacheMode) -> list[Observation]:
        """Return the observations that are valid for a mode."""
        return counted(self.of(case), mode)

    def done(self, case: Case, mode: CacheMode, round_: int) -> bool:
        """Say whether a mode's process of a round is there."""
        return any(seen.round == round_ for seen in self.good(case, mode))

    def shows_both(self, case: Case) -> bool:
        """Say whether a start of a case with empty caches shows one with filled caches, too."""
        seen = self.good(case, EMPTY)
        return bool(seen) and all(counts(one, FILLED) for one in seen)

    def n_rounds(self, case: Case, mode: CacheMode) -> int:
        """Return in how many rounds a mode's process was tried, whatever came of it."""
        seen = published(self.of(case))
        return len({o.round for o in seen if claims(o, mode) or mode in o.judgements})

    def next_round(self, cases: Iterable[Case]) -> int:
        """Return the number of the next round of a group: after all that it has."""
        return max((seen.round for case in cases for seen in self.of(case)), default=-1) + 1

    def next_attempt(self, case: Case, mode: CacheMode, round_: int) -> int:
        """Return the number of the next attempt at a process."""
        tried = [s.attempt for s in self.of(case) if (s.cache_mode, s.round) == (mode, round_)]
        return max(tried, default=-1) + 1

    def refuted(self, case: Case, mode: CacheMode, code: str) -> int:
        """Return how many processes of all rounds have not shown a mode, for this reason."""
        judged = (seen.judgements.get(mode) for seen in self.of(case))
        return sum(one is not None and one.reason.code == code for one in judged)

    def contradicted(self, case: Case, mode: CacheMode, round_: int) -> int:
        """Return how many attempts gave evidence against what they were to show."""
        return sum(
            any(not judgement.proved for judgement in seen.judgements.values())
            for seen in published(self.of(case))
            # A persistent process shows its start in one mode and its blocks in another.
            if seen.round == round_ and mode in {seen.cache_mode, *seen.judgements}
        )


def used_s(observation: Observation) -> float:
    """Return the seconds in which a process ran, without those in which it was held."""
    if not observation.blocks or not observation.phases:
        return observation.wall_s
    last = observation.phases[-1]
    calls_s = sum(block.batch * sum(block.samples_s) for block in observation.blocks)
    return last.start_s + last.duration_s + calls_s


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
    return [controlled, *modes.limitations(owners), *listing.page_limitations(asked)]


class Listener:
    """Hears of a run's events, always between processes, never inside a window.

    As it is, it shows nothing.
    """

    def started(self, plan_total: int, budget_s: float | None) -> None:
        """Say that a run begins: planned processes, and the budget if there is one."""

    def process(self, case: str, mode: str, number: int, of: int) -> None:
        """Say that a process is about to start: the ``number``-th of its case and mode."""

    def observed(self, observation: Observation) -> None:
        """Give an observation that was just written down."""

    def case_updated(self, case_result: CaseResult) -> None:
        """Give a case's result so far."""

    def note(self, reason: Reason) -> None:
        """Say something a person should read."""

    def estimate(self, done: float, left_s: float | None) -> None:
        """Say how far the run is: a share, and seconds left where they are known."""
