"""Findings of a program's processes, put together and ranked, and what a change brought. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from coldwarm.contracts.doctor import Fix, Others
from coldwarm.contracts.reasons import because
from coldwarm.doctor.rules import rules
from coldwarm.doctor.time_account import compiling_s, import_s
from coldwarm.errors import UsageError
from coldwarm.stats.intervals import FEWEST_FOR_INTERVAL, paired
from coldwarm.stats.ratio import CONFIDENCE, compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import (
        CachesAs,
        CallSite,
        CauseKind,
        DoctorReport,
        Finding,
        MissKind,
    )
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import ProcessTrace

    Rounds = Sequence[tuple[float, float]]
    """Seconds before and after, of each round."""
    Outputs = Sequence[Sequence[str]]
    """The lines that each run wrote."""
    Compared = Literal["same", "differs", "varies"]


_LITTLE = {"doctor_few_waits", "doctor_little_copied"}
"""Reasons why there is no cost, where it would be little."""
SMALL = 0.01
"""The share of a run below which a cost is of little matter."""


def is_small(one: Finding, total_s: float) -> bool:
    """Say whether a finding costs next to nothing of a run of so many seconds."""
    if one.cost_s is None:
        reason = one.null_reasons.get("cost_s")
        return reason is not None and reason.code in _LITTLE
    return one.cost_s < SMALL * total_s


_WITHOUT_COST = {"doctor_ended": -1, "doctor_once": 2}
"""By the reason why there is no cost: where such a finding stands, if not in the middle."""


def ranked(found: Iterable[Finding], total_s: float) -> list[Finding]:
    """Return findings in the order in which they matter: those that cost most first.

    What ended the program comes first of all. What makes a figure or a result wrong costs no time,
    and comes before what costs little; what may be meant as it is comes behind it.
    """

    def rank(one: Finding) -> tuple[int, float]:
        if is_small(one, total_s):
            return 3, -(one.cost_s or 0.0)
        if one.cost_s is None:
            reason = one.null_reasons.get("cost_s")
            return _WITHOUT_COST.get(reason.code if reason is not None else "", 1), 0.0
        return 0, -one.cost_s

    return sorted(found, key=rank)


def findings(trace: ProcessTrace) -> list[Finding]:
    """Return what every rule finds."""
    found = [one for rule in rules() for one in rule.findings(trace)]
    return sorted(
        found, key=lambda one: (-(one.cost_s or 0.0), one.path, one.line, one.function, one.pattern)
    )


def findings_across(traces: Sequence[ProcessTrace]) -> list[Finding]:
    """Return what rules find in several processes together."""
    return [one for rule in rules() if rule.across is not None for one in rule.across(traces)]


def findings_of_all(processes: Iterable[Sequence[Finding]]) -> list[Finding]:
    """Return the findings of all processes, each once; ``processes`` has those of each.

    Of several processes the words and the saving are of the one that saves most: processes may
    run side by side, so that their savings do not add up. Costs are seconds of processes, and do.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for found in processes:
        earlier: Counter[tuple[object, ...]] = Counter()
        for one in found:
            key = _key(one)
            groups.setdefault((*key, earlier[key]), []).append(one)
            earlier[key] += 1  # those of one process stay apart
    return [_together(group) for group in groups.values()]


def _key(one: Finding) -> tuple[object, ...]:
    cause = (one.cause.kind, one.cause.argument) if one.cause is not None else None
    return one.pattern, one.path, one.line, one.function, cause, one.says.values.get("function")


def _together(group: Sequence[Finding]) -> Finding:
    if len(group) == 1:
        return group[0]
    most = max(group, key=lambda one: (one.saving_s or 0.0, one.cost_s or 0.0))
    costs = [one.cost_s for one in group if one.cost_s is not None]
    cost_s = sum(costs) if costs else None
    savings = [one.saving_s for one in group if one.saving_s is not None]
    saving_s = max(savings, default=None)
    known = {"cost_s": cost_s, "saving_s": saving_s}
    return replace(
        most,
        n=sum(one.n for one in group),
        n_processes=sum(one.n_processes for one in group),
        cost_s=cost_s,
        saving_s=saving_s,
        null_reasons={
            name: reason for name, reason in most.null_reasons.items() if known.get(name) is None
        },
    )


def sites_of_all(processes: Iterable[Iterable[CallSite]]) -> list[CallSite]:
    """Return the call sites of all processes, the slowest first, each line and function once."""
    groups: dict[tuple[str, ...], list[CallSite]] = {}
    for found in processes:
        for one in found:
            key = one.path, str(one.line), one.caller, one.framework, one.function
            groups.setdefault(key, []).append(one)
    return sorted(map(_added, groups.values()), key=lambda one: -one.total_s)


def _added(group: Sequence[CallSite]) -> CallSite:
    if len(group) == 1:
        return group[0]
    calls = [one.n_calls for one in group if one.n_calls is not None]
    untold = next((one for one in group if one.n_calls is None), None)
    largest = max(group, key=lambda one: -1 if one.temporary_bytes is None else one.temporary_bytes)
    causes: Counter[CauseKind] = Counter()
    misses: Counter[MissKind] = Counter()
    for one in group:
        causes.update(one.causes)
        misses.update(one.misses)
    untraced = next((one for one in group if one.trace_s is None), None)
    of_calls = {"n_calls", "n_slow_calls"}
    left_out = of_calls | {"trace_s"}
    reasons = {name: one for name, one in largest.null_reasons.items() if name not in left_out}
    if untraced is not None:
        reasons["trace_s"] = untraced.null_reasons["trace_s"]
    if untold is not None:
        reasons |= dict.fromkeys(of_calls, untold.null_reasons["n_calls"])
    return replace(
        group[0],
        n_processes=len(group),
        n_compiles=sum(one.n_compiles for one in group),
        n_reads=sum(one.n_reads for one in group),
        n_calls=sum(calls) if untold is None else None,
        n_slow_calls=sum(one.n_slow_calls or 0 for one in group) if untold is None else None,
        total_s=sum(one.total_s for one in group),
        trace_s=None if untraced is not None else sum(one.trace_s or 0.0 for one in group),
        lower_s=sum(one.lower_s for one in group),
        compile_s=sum(one.compile_s for one in group),
        cache_s=sum(one.cache_s for one in group),
        causes=dict(causes),
        misses=dict(misses),
        temporary_bytes=largest.temporary_bytes,
        arguments_bytes=largest.arguments_bytes,
        null_reasons=reasons,
    )


def others(processes: Sequence[ProcessTrace], sites: Sequence[Iterable[CallSite]]) -> Others | None:
    """Return what all but the first process compiled; ``None``: there is no other.

    ``sites`` are those of each process.
    """
    if len(processes) == 1:
        return None
    return Others(
        compiling_s=sum(map(compiling_s, processes[1:])),
        import_s=sum(map(import_s, processes[1:])),
        n_compiles=sum(one.n_compiles for found in sites[1:] for one in found),
        n_reads=sum(one.n_reads for found in sites[1:] for one in found),
    )


_RECOMPILE = "recompile"
"""Whatever was compiled again, by any pattern or by none."""
_COMPILED = "compiled"
"""Functions that were compiled at all, and not read from a cache on disk."""


def limits(written: str, known: Iterable[str]) -> dict[str, int]:
    """Return how often each pattern may happen, from a text such as ``recompile:3,missing-sync``.

    Raises:
        UsageError: a name is no pattern, or what stands behind it is no number.
    """
    names = {*known, _RECOMPILE, _COMPILED}
    short = {name: pattern for rule in rules() for name, pattern in rule.short.items()}
    found = {}
    for part in filter(None, (one.strip() for one in written.split(","))):
        name, _, number = part.partition(":")
        name = short.get(name, name)
        if name not in names:
            known_names = ", ".join((_RECOMPILE, _COMPILED, *short))
            what = f"no finding is called {name}; write {known_names}, or the id of a pattern"
            raise UsageError(f"--fail-on: {what} (`coldwarm patterns list`)")
        if number and not number.isdecimal():
            raise UsageError(f"--fail-on {part}: what stands behind the colon is no whole number")
        found[name] = int(number or 0)
    return found


def broken(report: DoctorReport, allowed: Mapping[str, int]) -> dict[str, int]:
    """Return how often what is limited happened, where it was more often than is allowed."""
    counts: Counter[str] = Counter()
    sizes = {pattern for rule in rules() for pattern in rule.sizes}
    for one in report.findings:
        counts[one.pattern] += 1 if one.pattern in sizes else one.n
    counts[_RECOMPILE] = _n_again(report)
    counts[_COMPILED] = sum(one.n_compiles for one in report.sites if not one.is_operation)
    return {name: counts[name] for name, limit in allowed.items() if counts[name] > limit}


def _n_again(report: DoctorReport) -> int:
    """Return how often something was compiled again, also where that was too seldom for a finding.

    At each line it is the larger of both counts: a body of a loop of JAX's that is ever new has no
    cause, and is counted by its finding alone.
    """
    by_cause: Counter[tuple[str, int]] = Counter()
    by_finding: Counter[tuple[str, int]] = Counter()
    for site in (one for one in report.sites if not one.is_operation):
        by_cause[site.path, site.line] += sum(site.causes.values())
    again = {pattern for rule in rules() for pattern in rule.compiled_again}
    for one in report.findings:
        if one.pattern in again:
            by_finding[one.path, one.line] += one.n
    return (by_cause | by_finding).total()


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
    same, differing = _output(*outputs)
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


def _output(before: Outputs, after: Outputs) -> tuple[Compared, list[str]]:
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
