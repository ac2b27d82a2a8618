"""Figures of commands, from their starts alone. Pure, in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import EMPTY, FILLED
from coldwarm.contracts.commands import CommandFigure, CommandSaving, CommandVerdict
from coldwarm.stats.compared_figures import fails
from coldwarm.stats.intervals import CONFIDENCE, difference, summary
from coldwarm.stats.ratio import compare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode, MetricKind
    from coldwarm.contracts.commands import CommandMetric, CommandStart
    from coldwarm.contracts.policy import Policy


class FailingCommand(NamedTuple):
    """A verdict, and the limit that it is beyond, as a share."""

    verdict: CommandVerdict
    limit: float


MODES: tuple[CacheMode, CacheMode] = EMPTY, FILLED
_METRICS: tuple[CommandMetric, ...] = ("ready_s", "first_answer_s", "request_s")


def good(starts: Sequence[CommandStart], label: str, mode: CacheMode) -> list[CommandStart]:
    """Return the starts of a command that figures are from."""
    wanted = label, mode, "ok"
    return [one for one in starts if (one.command, one.cache_mode, one.status) == wanted]


def figures(labels: Sequence[str], starts: Sequence[CommandStart]) -> list[CommandFigure]:
    """Return the figures of each command and cache mode, as far as there are starts."""
    named = [(label, mode, metric) for label in labels for mode in MODES for metric in _METRICS]
    known = {one: [*_by_round(starts, *one).values()] for one in named}
    return [
        CommandFigure(command=label, cache_mode=mode, metric=metric, summary=summary(groups))
        for (label, mode, metric), groups in known.items()
        if groups
    ]


def savings(labels: Sequence[str], starts: Sequence[CommandStart]) -> list[CommandSaving]:
    """Return what filled caches save of each command, from its rounds with both."""
    found = []
    metric = headline(starts)
    for label in labels:
        empty, filled = (
            {key: one[0] for key, one in _by_round(starts, label, mode, metric).items()}
            for mode in MODES
        )
        if empty and filled:
            saved = difference(empty, filled, CONFIDENCE)
            low, high = saved.ends
            found.append(
                CommandSaving(
                    command=label,
                    seconds=saved.middle,
                    low=low,
                    high=high,
                    confidence=CONFIDENCE,
                )
            )
    return found


def verdicts(
    labels: Sequence[str], starts: Sequence[CommandStart], threshold: float
) -> list[CommandVerdict]:
    """Judge each command against the first one, with empty and with filled caches."""
    found = []
    first, *others = labels
    named = [(label, mode, metric) for label in others for mode in MODES for metric in _METRICS]
    for label, mode, metric in named:
        ours, theirs = (_by_round(starts, one, mode, metric) for one in (label, first))
        if ours and theirs:
            judged = compare(metric, first, ours, theirs, threshold=threshold)
            found.append(CommandVerdict(command=label, cache_mode=mode, comparison=judged))
    return found


def failing(verdicts: Sequence[CommandVerdict], policy: Policy) -> list[FailingCommand]:
    """Return the verdicts that lie beyond a limit: warm ones are of later requests."""
    found = []
    for one in verdicts:
        kind: MetricKind = "warm" if one.comparison.metric == "request_s" else "cold"
        limits = policy.limits(one.command, one.comparison.metric, kind).fail_on
        shares = {str(name): share for name, share in limits.items()}
        beyond = fails(one.comparison, one.comparison.verdict, shares)
        if beyond is not None:
            found.append(FailingCommand(one, beyond))
    return found


def _by_round(
    starts: Sequence[CommandStart], label: str, mode: CacheMode, metric: CommandMetric
) -> dict[str, list[float]]:
    found = {str(one.round): samples(one, metric) for one in good(starts, label, mode)}
    return {round_: values for round_, values in found.items() if values}


def headline(starts: Sequence[CommandStart]) -> CommandMetric:
    """Return the figure that matters most: until it has answered, where something is asked."""
    return "first_answer_s" if any(one.requests_s for one in starts) else "ready_s"


def samples(start: CommandStart, metric: CommandMetric) -> list[float]:
    """Return the seconds of a start that a figure is of."""
    if start.ready_s is None:
        return []
    if metric == "ready_s":
        return [start.ready_s]
    if metric == "request_s":
        return start.requests_s[1:]
    return [start.ready_s + one for one in start.requests_s[:1]]
