"""What a change has brought, from the whole times of the program before and after it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from coldwarm.contracts.doctor import Fix
from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import FEWEST_FOR_INTERVAL, paired
from coldwarm.stats.ratio import CONFIDENCE, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import CachesAs, DoctorReport
    from coldwarm.contracts.reasons import Reason

    Rounds = Sequence[tuple[float, float]]
    """Seconds before and after, of each round."""
    Outputs = Sequence[Sequence[str]]
    """The lines that each run wrote."""
    Compared = Literal["same", "differs", "varies"]

_METRIC = "program_s"


def fix(
    before: str,
    caches: CachesAs,
    rounds: Rounds,
    reports: tuple[DoctorReport, DoctorReport],
    outputs: tuple[Outputs, Outputs],
) -> Fix:
    """Judge the rounds as ``compare`` does, and say what one saved in seconds.

    ``reports`` are of runs under the doctor, both with empty caches, and ``outputs`` were written,
    before and after.
    """
    ours = {str(at): [after_s] for at, (_, after_s) in enumerate(rounds)}
    theirs = {str(at): [before_s] for at, (before_s, _) in enumerate(rounds)}
    comparison = compare(_METRIC, "before", ours, theirs)
    enough = len(rounds) >= FEWEST_FOR_INTERVAL
    differences = [before_s - after_s for before_s, after_s in rounds]
    saved = paired(differences, CONFIDENCE) if enough else None
    same, differing = output(*outputs)
    return Fix(
        before=before,
        caches=caches,
        limitations=list(_limitations(caches, reports, outputs[0], same)),
        before_s=[before_s for before_s, _ in rounds],
        after_s=[after_s for _, after_s in rounds],
        saved_s=saved.middle if saved else None,
        saved_low_s=saved.low if saved else None,
        saved_high_s=saved.high if saved else None,
        comparison=comparison,
        programs_before=_programs(reports[0]),
        programs_after=_programs(reports[1]),
        output=same,
        differing=differing,
        null_reasons=(
            {}
            if saved
            else dict.fromkeys(("saved_s", "saved_low_s", "saved_high_s"), comparison.reason)
        ),
    )


def _programs(report: DoctorReport) -> int:
    """Return how many programs a run compiled or read from a cache on disk."""
    return sum(one.n_compiles + one.n_reads for one in report.sites)


def _limitations(
    caches: CachesAs, reports: Sequence[DoctorReport], before: Outputs, compared: Compared
) -> Iterator[Reason]:
    if len({len(lines) for lines in before}) > 1:
        yield because("output_not_compared")
    elif compared == "varies" and not any(_steady(before)):
        yield because("output_all_varies")
    n_reads = max(sum(one.n_reads for one in report.sites) for report in reports)
    if caches == "empty" and n_reads:
        yield because("cache_not_empty", n_reads=n_reads)


def _steady(outputs: Outputs) -> list[bool]:
    """Say of each line whether all runs wrote it alike; all wrote as many."""
    return [len(set(lines)) == 1 for lines in zip(*outputs, strict=True)]


def output(before: Outputs, after: Outputs) -> tuple[Compared, list[str]]:
    """Compare what runs wrote; lines that were not always the same before are left out.

    Returns how it compares, and the first line that differs, before and after.
    """
    first = before[0]
    if any(len(lines) != len(first) for lines in before):
        return "varies", []
    steady = _steady(before)
    for lines in after:
        for at, line in enumerate(first):
            now = lines[at] if at < len(lines) else ""
            if steady[at] and now != line:
                return "differs", [line, now]
        if len(lines) > len(first):
            return "differs", ["", lines[len(first)]]
    return ("same" if all(steady) else "varies"), []
