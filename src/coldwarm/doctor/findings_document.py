"""Views of a doctor's report: the document of it, and the words of its parts."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from statistics import median
from textwrap import shorten
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from coldwarm.catalogue.spec import patterns
from coldwarm.contracts.reasons import because
from coldwarm.doctor.judge import SMALL, is_small
from coldwarm.doctor.rules import change_of, pages
from coldwarm.report import units
from coldwarm.report.document import (
    Document,
    Heading,
    Notice,
    Paragraph,
    Piece,
    Table,
    Terms,
    table,
)
from coldwarm.report.sentences import counted, words
from coldwarm.report.shown import told as one_line
from coldwarm.report.shown import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.catalogue.spec import PatternSpec
    from coldwarm.contracts.doctor import (
        Account,
        CallSite,
        DoctorReport,
        Finding,
        Fix,
        LineTime,
    )
    from coldwarm.contracts.reasons import Reason
    from coldwarm.report.document import Block, Line


def _estimate(one: Finding) -> str:
    """Return how the saving was estimated, or why there is no figure."""
    reason = one.saving_from or one.null_reasons.get("saving_s")
    said = words(reason) if reason is not None else ""
    if one.saving_s is not None and one.n_processes > 1:
        said += f", in one of {one.n_processes} processes: they may run side by side"
    return said


def _saved(one: Finding) -> str:
    """Return about what the change saves, and how that was estimated."""
    if one.saving_s is not None:
        return f"about {units.duration(one.saving_s)}, {_estimate(one)}"
    return f"no figure: {_estimate(one)}"


def misses(sites: Sequence[CallSite], most: int) -> Iterator[str]:
    """Yield for the first ``most`` of these lines what was not in Numba's cache, and why."""
    for one in [one for one in sites if one.misses][:most]:
        told = (
            (counted(n, "program"), words(because(f"numba_{kind}")))
            for kind, n in one.misses.items()
        )
        why = "; ".join(f"{programs}: {reason}" for programs, reason in told)
        yield f"Not in Numba's cache on disk: {_where(one)}: {why}"


def _where(one: CallSite) -> str:
    return f"{place(one.path)}:{one.line}, {one.function}"


def pattern_of(finding: str) -> PatternSpec | None:
    """Return the pattern of a kind of finding; ``None``: no pattern shows it."""
    return patterns().get(pages().get(finding, finding))


_WORTH_BYTES = 2**20
"""Least temporary memory that a terminal tells."""
_LEAST_ARGUMENTS_BYTES, _MOST_TIMES = 1000, 100
"""Least size of arguments, and how many times these: a random key, or a number, is no measure of
memory."""


def _temporary(one: CallSite) -> str:
    """Return the temporary memory of the programs of a line, against their arguments."""
    if one.temporary_bytes is None:
        return units.MISSING
    text = units.size(one.temporary_bytes)
    given = one.arguments_bytes or 0
    if given >= _LEAST_ARGUMENTS_BYTES and given < one.temporary_bytes <= _MOST_TIMES * given:
        text += f" ({units.times(one.temporary_bytes / given)} its arguments)"
    return text


_MANY = 100
"""Calls through Python that are reported."""
_MOST_FINDINGS, _MOST_SITES, _MOST_LINES, _MOST_MISSES = 8, 10, 5, 2
_WORTH_IMPORTS_S = 1.0
"""Seconds that other processes imported for, from which they are told."""
_SOURCE = 40
"""Characters of a line's source that stand in a table."""
_BAR = 36
"""Characters of the bars of all parts of the time together."""
_CACHES = {
    "empty": "compilation caches on disk empty for each process",
    "filled": "compilation caches on disk filled by a run of the same side before",
}
_LONGEST = 60


def fix_blocks(fix: Fix) -> Iterator[Paragraph]:
    """Yield the answer, what it is from, and what to know before it is believed."""
    yield Paragraph(_answer(fix), "strong")
    rounds = f"{counted(len(fix.before_s), 'round')} of both in turns, before: {fix.before}"
    yield Paragraph(f"{rounds}; {_CACHES[fix.caches]}", "dim")
    if fix.comparison.verdict == "undecided":
        yield Paragraph(words(fix.comparison.reason), "dim")
    if fix.output == "differs":
        before, after = (repr(one)[:_LONGEST] for one in fix.differing)
        yield Paragraph(f"its output is another: {before}, now {after}", "failure")
    elif fix.output == "varies" and not any(map(_is_uncompared, fix.limitations)):
        text = "Some output lines differ from run to run; all others are unchanged."
        yield Paragraph(text, "dim")
    for one in fix.limitations:
        yield Paragraph(words(one), "dim")


def _is_uncompared(one: Reason) -> bool:
    return one.code in {"output_not_compared", "output_all_varies"}


def _answer(fix: Fix) -> str:
    """Return what the change has brought in one sentence."""
    text = f"after the change the whole program {_takes(fix)}"
    if fix.programs_before != fix.programs_after:
        text += (
            f", and needs {counted(fix.programs_after, 'compiled program')}"
            f" in place of {fix.programs_before}"
        )
    return text


def _takes(fix: Fix) -> str:
    low, high = fix.saved_low_s, fix.saved_high_s
    of = f"(of {units.duration(median(fix.before_s))})"
    if low is None or high is None:
        return f"was measured too seldom {of}"
    verdict = fix.comparison.verdict
    if verdict == "faster" and low > 0:
        return f"takes {units.between(low, high)} less {of}"
    if verdict == "slower" and high < 0:
        return f"takes {units.between(-high, -low)} longer {of}"
    if verdict == "same":
        return f"takes the same time {of}: {_span(low, high)}"
    return f"takes a time that cannot be told apart {of}: {_span(low, high)}"


def _span(low: float, high: float) -> str:
    """Write bounds around zero, such as ``between 0.1 s longer and 0.2 s less``."""
    ends = [f"{units.duration(abs(one))} {'less' if one >= 0 else 'longer'}" for one in (low, high)]
    return f"between {ends[0]} and {ends[1]}"


def in_words(report: DoctorReport) -> DoctorReport:
    """Return a report with the evidence, and what to change, in words."""
    return replace(report, findings=[_in_words(one) for one in report.findings])


def _evidence(one: Finding) -> str:
    """Return what was seen, and in how many processes, in words."""
    said = "; ".join([words(one.says), *map(words, one.says.parts)])
    n_read = one.says.values.get("n_read")
    if n_read:
        which = "all" if n_read == one.says.values.get("n_again") else str(n_read)
        said += f"; {which} of these programs were found in a cache on disk"
    if caller := one.says.values.get("caller"):
        said += f"; first for {caller}"
    if not one.function:
        said += "; no line of the program calls it: a thread does, or a package"
    if one.after is not None:
        said += f"; {words(one.after)}"
    if one.n_processes == 1:
        return said
    return f"{said}; in {one.n_processes} processes: this is of one of them"


def _in_words(one: Finding) -> Finding:
    spec = pattern_of(one.pattern)
    return replace(
        one,
        text=_evidence(one),
        change=change_of(one),
        estimate=_estimate(one),
        page=spec.page if spec is not None else "",
    )


_COMPILING = ("trace_s", "lower_s", "compile_s", "cache_s")
_PARTS = (
    ("import", "import_s"),
    ("devices", "devices_s"),
    ("trace", "trace_s"),
    ("lower", "lower_s"),
    ("compile", "compile_s"),
    ("cache", "cache_s"),
    ("run", "run_s"),
    ("other", "other_s"),
)
"""The parts of an account, in the order of the bar."""
_BEFORE = {"imported_before", "devices_before"}
"""Reasons of parts that were over before a block began, and are no part of its time."""
_NOTHING = "Nothing to change was found."
_NOTHING_SEEN = "Nothing to change was found in what could be seen."
_NOTHING_LARGE = f"Nothing that matters was found: all of it is less than {SMALL:.0%} of the time."
_UNKNOWN = "Nothing could be watched."


def compiling(account: Account) -> float:
    """Return the seconds that went into programs, compiled or read from a cache."""
    return float(sum(getattr(account, name) for name in _COMPILING))


def headline(report: DoctorReport) -> str:
    """Return how much of the time was compiling."""
    total = units.duration(report.account.total_s)
    if not is_known(report):
        return f"The program took {total}; more is not known."
    compiling_s = compiling(report.account)
    others = report.others
    if others is not None:
        total += f" of the first of {report.n_processes} processes"
    if compiling_s:
        said = _compiling(report, compiling_s)
    elif others is not None and others.compiling_s:
        said = "nothing was compiling"
    else:
        said = f"nothing was compiling: {_why_nothing(report)}"
    return f"Of {total}, {said}{_beside(report)}."


def _compiling(report: DoctorReport, seconds: float) -> str:
    """Return how much of the time of the first process was compiling, or reading from a cache."""
    others = report.others
    n = sum(one.n_compiles for one in report.sites) - (others.n_compiles if others else 0)
    n_reads = sum(one.n_reads for one in report.sites) - (others.n_reads if others else 0)
    if report.n_sites > len(report.sites):
        return f"{units.duration(seconds)} were compiling"
    said = f"{units.duration(seconds)} were {_spent_on(n, n_reads)}"
    return said if n or not n_reads else f"{said}, and nothing was compiled"


def _spent_on(n: int, n_reads: int) -> str:
    """Return what was done for so many programs that were compiled, and read from a cache."""
    if n_reads and not n:
        return f"getting {counted(n_reads, 'program')} from a cache"
    read = f"; {n_reads} more from a cache" if n_reads else ""
    return f"compiling ({counted(n, 'program')}{read})" if n else "compiling"


def _beside(report: DoctorReport) -> str:
    """Return what the other processes compiled: it is no part of the time of the first."""
    others = report.others
    if others is None:
        return ""
    imported = ""
    if others.import_s >= _WORTH_IMPORTS_S:
        imported = f"; they imported for {units.duration(others.import_s)}, added up"
    if not others.compiling_s:
        begun = any(one.code == "ended_compiling" for one in report.unseen)
        return f"; the others compiled nothing{' to its end' if begun else ''}{imported}"
    spent = f"{units.duration(others.compiling_s)} {_spent_on(others.n_compiles, others.n_reads)}"
    return f"; the others spent {spent}, added up{imported}"


def is_known(report: DoctorReport) -> bool:
    """Say whether anything could be watched."""
    return all(one.code != "no_journal" for one in report.unseen)


def _why_nothing(report: DoctorReport) -> str:
    if report.sites:
        return "what was begun was not compiled to its end"
    loaded = [name for name in ("jax", "torch", "numba") if name in report.versions]
    if not loaded:
        return "neither JAX, torch.compile nor Numba was loaded"
    return f"{' and '.join(loaded)} compiled nothing"


def ending(report: DoctorReport) -> str:
    """Return how the program ended, where it did not end as it should; else nothing."""
    status = report.exit_status
    if not status:
        return ""
    if status > 0:
        return f"The program ended with exit status {status}."
    known = {one.value: one.name for one in signal.Signals}
    return f"The program was ended by the signal {known.get(-status, -status)}."


def first_change(report: DoctorReport) -> str:
    """Return what to change first, in one sentence, or that nothing was found."""
    if not report.findings:
        if not is_known(report):
            return _UNKNOWN
        return _NOTHING_SEEN if report.unseen else _NOTHING
    one = report.findings[0]
    if is_small(one, report.account.total_s):  # then all others are: those that matter come first
        return _NOTHING_LARGE
    saves = f"; saves about {units.duration(one.saving_s)}" if one.saving_s else ""
    if saves and one.n_processes > 1:
        saves += f" in one of {one.n_processes} processes"
    return f"Change first: {place(one.path)}:{one.line}, {change_of(one)}{saves}."


def named_parts(account: Account) -> list[tuple[str, str, float]]:
    """Return the parts that took time: what each is called, its name in the bar, and its seconds.

    What could not be told apart is named together.
    """
    unseen = [
        name
        for name, field in _PARTS
        if getattr(account, field) is None and account.null_reasons[field].code not in _BEFORE
    ]
    found = []
    for name, field in _PARTS:
        seconds = getattr(account, field) or 0.0
        if seconds > 0:
            called = ", ".join([*unseen, "other"]) if name == "other" and unseen else name
            found.append((called, name, seconds))
    return found


def place(path: str) -> str:
    """Return a path as short as it can be from here."""
    near = os.path.relpath(path) if Path(path).is_absolute() else path
    return near if not near.startswith("..") else path


def document(
    report: DoctorReport, *, everything: bool = False, more: str = "--verbose shows them"
) -> Document:
    """Return what the doctor says: where the time went, what to change, and where it compiled.

    Args:
        report: What was seen.
        everything: Leave nothing out.
        more: What shows the findings that are left out.
    """
    findings = report.findings if everything else _worth(report)[:_MOST_FINDINGS]
    blocks: list[Block] = [Paragraph(headline(report), "strong")]
    if ending(report):
        blocks.append(Paragraph(ending(report), "strong"))
    # Who sees less than usual is to know it before they read what was found.
    unmonitored = [one for one in report.unseen if one.code == "needs_monitoring"]
    blocks += _not_seen(unmonitored)
    if is_known(report):
        blocks.append(_account_table(report.account))
    for rank, one in enumerate(findings, 1):
        blocks += [finding_terms(rank, one), notice(one)]
    left = len(report.findings) - len(findings)
    if left:
        small = all(is_small(one, report.account.total_s) for one in report.findings[-left:])
        why = f", each of less than {SMALL:.0%} of the time" if small else ""
        blocks.append(Paragraph(f"… and {left} more{why}: {more}", "dim"))
    blocks += _where_it_compiled(report, more, everything=everything)
    blocks += _where_it_ran(report, everything=everything)
    blocks += _not_seen([one for one in report.unseen if one not in unmonitored])
    for one in report.findings[:1]:
        spec = pattern_of(one.pattern)
        if spec is not None and not is_small(one, report.account.total_s):
            text = f"coldwarm patterns show {spec.id}: what to do instead, and why"
            blocks.append(Paragraph(text, "dim"))
    # The last lines are those that a terminal still shows.
    blocks.append(Paragraph(first_change(report), "strong"))
    if report.fix is not None:
        blocks += [Heading("What the change has brought"), *fix_blocks(report.fix)]
    return without_secrets(Document("coldwarm doctor", tuple(blocks)))


def _where_it_compiled(report: DoctorReport, more: str, *, everything: bool) -> Iterator[Block]:
    if not report.sites:
        return
    shown = report.sites[: None if everything else _MOST_SITES]
    yield sites_table(shown)
    if report.n_sites > len(shown):
        lines = counted(report.n_sites - len(shown), "more line")
        where = "which are not kept" if everything else more
        yield Paragraph(f"… and {lines}: {where}", "dim")
    yield from _of_sites(report.sites, _MOST_SITES if everything else _MOST_MISSES)


def _where_it_ran(report: DoctorReport, *, everything: bool) -> Iterator[Block]:
    """Yield the lines at which the rest of the time went, as far as it matters."""
    least_s = SMALL * report.account.total_s
    lines = [one for one in report.lines if one.seconds >= least_s]
    if lines:
        yield _lines_table(lines, everything=everything)


def _not_seen(reasons: Iterable[Reason]) -> list[Block]:
    return [Paragraph(f"Not seen: {words(one)}.", "dim") for one in reasons]


def _worth(report: DoctorReport) -> list[Finding]:
    """Return the findings that matter; all of them where none does."""
    worth = [one for one in report.findings if not is_small(one, report.account.total_s)]
    return worth or report.findings


def _account_table(account: Account) -> Table:
    """Return the parts of the time, each with its share as a bar."""
    parts = named_parts(account)
    whole = sum(seconds for *_, seconds in parts) or 1.0
    rows = (
        (called, "█" * round(_BAR * seconds / whole), units.duration(seconds))
        for called, _, seconds in parts
    )
    return table(("where the time went", "", "time"), rows, labels=2)


def finding_terms(rank: int, one: Finding) -> Terms:
    """Return one thing to change: what was seen, what to do, and what that saves."""
    cost = units.duration(one.cost_s) if one.cost_s else ""
    title = (f"{rank}", one.pattern, f"{place(one.path)}:{one.line}", cost)
    items: list[tuple[str, Line]] = [
        ("seen", _evidence(one)),
        ("change", change_of(one)),
        ("saves", _saved(one)),
    ]
    if one.source:
        items.insert(0, ("source", (Piece(one.source, style="name"),)))
    return Terms(tuple(items), title="  ".join(filter(None, title)))


def notice(one: Finding) -> Notice:
    """Return the same as a remark beside the code."""
    title, text = f"coldwarm doctor: {one.pattern}", f"{_evidence(one)}; change: {change_of(one)}"
    spec = pattern_of(one.pattern)
    page = spec.page if spec is not None else ""
    return Notice("warning", title, text, place(one.path), one.line, one.pattern, page)


def sites_table(sites: Sequence[CallSite], *, memory: bool = False) -> Table:
    """Return where it compiled; ``memory``: with how often it was called, and memory."""
    cache = any(one.n_reads or one.cache_s for one in sites)
    stages = ("trace", "lower", "compile", *(("cache",) if cache else ()), "in all")
    more = ("called", "temporary memory") if memory else ()
    columns = ("where it compiled", "what", "times", *stages, *more)
    rows = (_site_row(one, cache=cache)[: len(columns)] for one in sites)
    return table(columns, rows, labels=2)


def _site_row(one: CallSite, *, cache: bool) -> tuple[str, ...]:
    read = f"{one.n_reads} read" if one.n_reads else ""
    compiled = str(one.n_compiles) if one.n_compiles or not read else ""
    cached = (one.cache_s,) if cache else ()
    seconds = (one.trace_s, one.lower_s, one.compile_s, *cached, one.total_s)
    return (
        f"{place(one.path)}:{one.line}",
        one.function,
        "+".join(filter(None, (compiled, read))),
        *(units.MISSING if one is None else units.duration(one) for one in seconds),
        units.MISSING if one.n_calls is None else units.count(one.n_calls),
        _temporary(one),
    )


def _lines_table(lines: Sequence[LineTime], *, everything: bool = False) -> Table:
    """Return where the time went that was not compiling, imports among it.

    ``everything``: also what each line calls that is written in Python.
    """
    columns = ("where it ran", "source", "in", "time")
    if everything and any(one.runs for one in lines):
        rows = ((*_of_line(one), one.runs, _about(one.seconds)) for one in lines)
        return table(columns, rows, labels=3)
    seconds: dict[tuple[str, str], float] = {}
    for one in lines:
        seconds[_of_line(one)] = seconds.get(_of_line(one), 0.0) + one.seconds
    longest = sorted(seconds.items(), key=lambda one: -one[1])
    return table(
        (*columns[:2], columns[-1]),
        (
            (where, shorten(source, _SOURCE, placeholder=" …"), _about(spent_s))
            for (where, source), spent_s in longest[: None if everything else _MOST_LINES]
        ),
        labels=2,
    )


def _of_line(one: LineTime) -> tuple[str, str]:
    return f"{place(one.path)}:{one.line}", one.source


def _about(seconds: float) -> str:
    return f"~{units.duration(seconds)}"


def _of_sites(sites: Sequence[CallSite], most_misses: int) -> Iterator[Paragraph]:
    """Yield what is to be known of the lines at which it compiled."""
    if any(one.n_processes > 1 for one in sites):
        yield Paragraph("Times of several processes are added up.", "dim")
    largest = max(sites, key=lambda one: one.temporary_bytes or 0)
    if (largest.temporary_bytes or 0) >= _WORTH_BYTES:
        yield Paragraph(f"Most temporary memory: {_where(largest)}: {_temporary(largest)}")
    slow = max(sites, key=lambda one: one.n_slow_calls or 0)
    n, n_calls = slow.n_slow_calls or 0, slow.n_calls or 0
    if n >= _MANY and 2 * n >= n_calls:
        what = f"{_where(slow)}: {n} of {n_calls} calls"
        yield Paragraph(f"Through Python, not JAX's fast dispatch: {what}")
    yield from map(Paragraph, misses(sites, most_misses))


def say(text: str) -> None:
    """Print a line beside what the program itself prints, with nothing private in it."""
    click.echo(one_line(f"coldwarm: {text}"), err=True)
