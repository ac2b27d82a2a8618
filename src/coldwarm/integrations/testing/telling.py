"""What was measured in a test, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.compare import change
from coldwarm.report.figures import around
from coldwarm.report.sentences import counted, with_advice
from coldwarm.report.units import duration, significant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.summary import Summary
    from coldwarm.integrations.testing.asked import Asked
    from coldwarm.integrations.testing.judging import Against

_MOST_CHANGES = 4
_DOCTOR = "coldwarm doctor PROGRAM.py names what it compiles, and where"


def first_result(asked: Asked, taken: Summary) -> str:
    """Return the figure of a first result with its interval."""
    caches = f"{asked.caches} caches"
    return f"{asked.target}, first result, {caches}: {_figure(taken)}"


def _figure(taken: Summary) -> str:
    level = f"{taken.confidence:.0%} interval".replace("%", " %")
    interval = around(taken).replace("…", "to")
    from_ = counted(taken.n_processes, "process")
    return (
        f"{duration(taken.median)} ({level} {interval}, {from_})"
        if interval
        else (f"{duration(taken.median)} ({from_}, no interval)")
    )


def above(asked: Asked, taken: Summary, below_s: float) -> str:
    """Say that a first result comes later than it may."""
    lines = [
        f"{first_result(asked, taken)}: all of it above the {duration(below_s)} that it may take",
        f"to do: {_DOCTOR}; if it is to take longer now, raise below={below_s:g}",
    ]
    return "\n".join(lines)


def ratio(judged: Against) -> str:
    """Return the ratio to the stored result with its interval, and the verdict."""
    one = judged.metric
    if one.ratio is None or one.low is None or one.high is None:
        return f"not to be compared with {judged.comparison.a.path}: {with_advice(one.reason)}"
    interval = f"{one.confidence:.0%} interval {significant(one.low)} to {significant(one.high)}"
    text = f"{significant(one.ratio)} times that of {judged.comparison.a.path}"
    return f"{text} ({interval.replace('%', ' %')}): {one.verdict}"


def later(asked: Asked, taken: Summary, judged: Against) -> str:
    """Say that a first result comes later than a stored one allows."""
    return "\n".join(_later(asked, taken, judged))


def _later(asked: Asked, taken: Summary, judged: Against) -> Iterator[str]:
    yield f"{asked.target} has its first result too late: {ratio(judged)}"
    most = f"at most {significant(judged.below)} times"
    if judged.most > judged.below:
        most += f" ({significant(judged.most)}, as two equal runs differ by so much here)"
    yield f"allowed: {most}, by below={judged.below:g}"
    yield f"B, now:  {_figure(taken)}"
    side, one = judged.comparison.a, judged.metric
    when = f", of {side.started_at}" if side.started_at else ""
    then = "" if one.a is None else f"{duration(one.a)} ({counted(one.n_a, 'process')}{when})"
    yield f"A, then: {then}"
    software = judged.comparison.software
    if software:
        more = "; …" if len(software) > _MOST_CHANGES else ""
        yield f"differs: {'; '.join(map(change, software[:_MOST_CHANGES]))}{more}"
    for reason in judged.comparison.warnings:
        yield f"care:    {with_advice(reason)}"
    yield (
        f"to do:   {_DOCTOR}; coldwarm bench {asked.target} --before COMMIT measures two"
        " commits together; if it is to take longer now, store a new result (--coldwarm-save)"
    )
