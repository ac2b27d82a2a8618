"""Snapshots in words: made, registered, packed, verified, compared and measured again."""

from __future__ import annotations

import shlex
from textwrap import wrap
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import distinct
from coldwarm.errors import printable, shorten
from coldwarm.report import comparison_text, units
from coldwarm.report.comparison_text import figure as named
from coldwarm.report.document import Cell, Document, Heading, Paragraph, Rows, Table, row, terms
from coldwarm.report.sentences import counted, with_advice, words
from coldwarm.report.verdict_table import changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.base import Difference
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.snapshot import (
        ComparedRuns,
        ComparedSnapshots,
        PackageMade,
        RepeatedFigure,
        RepeatedRun,
        Replication,
        SnapshotFault,
        SnapshotMade,
        SnapshotRegistry,
        Verification,
    )
    from coldwarm.report.document import Block


_MOST = 6
"""Names of distributions without a wheel that are told."""


def made_lines(made: SnapshotMade) -> Iterator[str]:
    """Yield what was made, what its lock lacks, and what is left in it that identifies."""
    size = units.size(made.n_bytes)
    yield printable(f"Snapshot {made.snapshot_id}: {made.n_files} files, {size}, in {made.folder}")
    yield f"SHA-256 of its index: {made.snapshot_index_sha256}"
    if made.lock is None:
        why = with_advice(made.null_reasons["lock"])
        yield printable(f"No pylock.toml, only requirements.txt without hashes: {why}")
    elif made.without_wheel:
        names = ", ".join(made.without_wheel[:_MOST])
        more = len(made.without_wheel) - _MOST
        names += f" and {more} more" if more > 0 else ""
        yield printable(f"Without a wheel in {made.lock}, as no index has one: {names}")
    for reason, cases in _by_reason(made.not_repeatable):
        yield printable(f"Others cannot measure again {', '.join(cases)}: {words(reason)}")
    if made.masked:
        yield "Masked now, since it is private here and was not masked when it was measured:"
    for field in made.masked:
        yield printable(f"  {field}")
    if made.identifying:
        yield "These could identify you. To remove them, measure again with --leave-out-private,"
        yield "which writes what stands in []:"
    for one in made.identifying:
        yield printable(f"  {one.field}: {one.holds} [{one.left_out}]")
    yield printable(f"Check it: coldwarm snapshot verify {shlex.quote(made.folder)}")


def _by_reason(found: Mapping[str, Reason]) -> Iterator[tuple[Reason, list[str]]]:
    """Yield each reason once, with the cases that have it."""
    for reason in distinct(found.values()):
        yield reason, [case for case, one in found.items() if one == reason]


def registry_lines(registry: SnapshotRegistry) -> Iterator[str]:
    """Yield a line for each snapshot of a registry."""
    for one in registry.snapshots:
        sha256 = one.artifacts.snapshot_index_sha256
        yield printable(f"{one.snapshot_id}  {one.suite}  {one.generated_at}  {sha256}")
    if not registry.snapshots:
        yield "no snapshot"


def packed_lines(made: PackageMade) -> Iterator[str]:
    """Yield what was packed, and its digest."""
    size = units.size(made.n_bytes)
    yield printable(f"{made.path}: {made.n_files} files, {size}")
    yield f"SHA-256: {made.sha256}"


_SIGNATURES = {
    "valid": "signed by the key that was given ({key})",
    "unknown_key": "signed by the key {key}, which lies beside it; only --public-key, with a key"
    " that you have from its owner, tells whose that is",
    "unchecked": "signed, and not checked: --public-key names the key of its owner",
    "absent": "not signed",
    "invalid": "the signature is not of this snapshot",
}
_LONGEST = 200
"""Characters of a path that are shown."""


def verified_lines(found: Verification) -> list[str]:
    """Return what to print: the first fault in one line, or what is only hashed and what proved."""
    if found.faults:
        more = len(found.faults) - 1
        told = f" (and {counted(more, 'more fault')}: --json has all)" if more else ""
        return [f"{_fault(found, found.faults[0])}{told}"]
    size = units.size(found.n_bytes)
    about = f"{found.snapshot_id}, {counted(found.n_files, 'file')}, {size}"
    signature = _SIGNATURES[found.signature].format(key=_short(found.key_sha256))
    texts = [
        f"{found.path}: {about}: hashes, sizes and contracts agree",
        *_only_hashed(found),
        *_otherwise(found),
        *_proved(found),
        signature,
        *([f"signed through sigstore by {found.identity}"] if found.identity else []),
    ]
    return [_first(found), *(line for text in texts for line in _wrapped(text))]


def _wrapped(text: str) -> list[str]:
    """Return a text in lines of a terminal; nothing within it is broken that has no blank."""
    before = text[: len(text) - len(text.lstrip())] + "  "
    return wrap(
        text.lstrip(),
        79,
        initial_indent=before,
        subsequent_indent=f"{before}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _first(found: Verification) -> str:
    """Return the line that says what is not proved before what is."""
    parts = ["No fault found"]
    if not found.proved:
        hashed = _counted(found.n_only_hashed, found.n_figures_only_hashed)
        parts.append(f"only hashed: {hashed}")
    parts.append(f"proved: {_counted(found.n_proved, found.n_figures_proved)}")
    if found.n_signed:
        parts.append(f"signed: {counted(found.n_signed, 'file')}")
    return "; ".join(parts)


def _counted(n_files: int, n_figures: int) -> str:
    told = [(n_files, "file"), (n_figures, "figure")]
    return " and ".join(counted(number, name) for number, name in told if number) or "nothing"


def _only_hashed(found: Verification) -> Iterator[str]:
    """Yield which files have the bytes that the index names, and why that is all that is known."""
    groups: dict[str, list[str]] = {}
    n_plain = 0
    for one in found.files:
        if one.answer == "only_hashed" and one.reason is not None:
            if one.reason.code == "nothing_else_tells":
                n_plain += 1
                continue
            # How many values of each file is in the record.
            other = one.reason.code == "other_rules"
            why = "today's rules make values of it otherwise" if other else words(one.reason)
            groups.setdefault(why, []).append(one.path)
    if groups and found.signature == "valid":
        yield "only hashed: its maker has signed it, and this version does not make the same"
    elif groups or n_plain:
        yield (
            "only hashed: the bytes are those of the index, and nothing here shows whether they are"
            " true; whoever changes a file can make the hashes anew. --public-key, with a key that"
            " you have from its maker, tells who says so"
        )
    for why, (path, *others) in groups.items():
        more = f" and {len(others)} more" if others else ""
        yield f"  {shorten(path, _LONGEST)}{more}: {why}"
    if n_plain:
        told = "that nothing else here tells, such as machines and dates: --json"
        yield f"  {counted(n_plain, 'file')} {told}"


def _otherwise(found: Verification) -> Iterator[str]:
    """Yield what today's rules do not say, and verdicts that were not judged again."""
    n_told = found.n_figures_only_hashed - len(found.not_judged)
    if n_told:
        yield (
            f"{counted(n_told, 'figure')} only hashed: another version measured, as it says, and"
            " this one computes them differently: --json has all; the first is"
        )
        yield f"  {_fault(found, found.otherwise[0]).removeprefix(f'{found.path}/')}"
    for left in found.not_judged:
        yield f"{left.name}: verdict only hashed, {words(left.reason)}"


def _proved(found: Verification) -> Iterator[str]:
    if found.n_cases:
        told = counted(found.n_cases, "case")
        yield f"proved: {told} computed again from the raw samples, and what is made of them"
    if found.n_verdicts:
        told = counted(found.n_verdicts, "verdict")
        yield f"proved: {told} on patterns and claims judged again from their evidence"


def _fault(found: Verification, one: SnapshotFault) -> str:
    path = shorten(one.path, _LONGEST)
    place = f"{found.path}/{path}" if path else found.path
    line = f":{one.line}" if one.line is not None else ""
    named = f" {one.field}:" if one.field else ""
    return f"{place}{line}:{named} {words(one.reason)}"


def _short(key_sha256: str | None) -> str:
    return f"SHA-256 {key_sha256}" if key_sha256 else ""


_SHOWN = 6
"""Differences of one kind that are named."""


def comparison(found: ComparedSnapshots) -> Document:
    """Return what differs between two snapshots, run by run, and the figures of each."""
    blocks: list[Block] = [*map(Paragraph, _lines(found))]
    for kind, changed in (("pattern", found.patterns), ("claim", found.claims)):
        if changed is not None:
            blocks += [Heading(f"{kind}s"), *changes(changed, kind)]
    for run in found.runs:
        blocks += [Heading(run.suite), *terms(("", text) for text in _compared_lines(run))]
        if run.timings is not None:
            blocks += comparison_text.document(run.timings, everything=False).blocks
    return Document("coldwarm snapshot compare", tuple(blocks))


def _lines(found: ComparedSnapshots) -> Iterator[str]:
    """Yield what the two are, and how many of their files are the same."""
    for label, side in (("A", found.a), ("B", found.b)):
        yield f"{label}  {side.snapshot_id}, index {side.snapshot_index_sha256}"
    n_same = found.files.overlap_paths - len(found.files.mismatches)
    text = f"{counted(n_same, 'file')} the same"
    text += f", {len(found.files.mismatches)} with different content"
    yield f"{text}, {len(found.only_a)} only in A, {len(found.only_b)} only in B"
    for label, names in (("A", found.runs_only_a), ("B", found.runs_only_b)):
        if names:
            yield f"measured only in {label}: {', '.join(names)}"


def _compared_lines(run: ComparedRuns) -> Iterator[str]:
    """Yield what differs in the inputs, answers and statuses of one suite."""
    kinds = (("inputs", run.datasets), ("answers", run.gates), ("status", run.statuses))
    for name, differences in kinds:
        yield from _listed(name, differences)
    if not any(differences for _, differences in kinds):
        yield "inputs, answers and statuses are the same"
    if "timings" in run.null_reasons:
        yield f"timings not compared: {words(run.null_reasons['timings'])}"


def _listed(named: str, differences: list[Difference]) -> Iterator[str]:
    for one in differences[:_SHOWN]:
        yield f"{named} differ: {one.name}: A has {one.a[:16]}, B has {one.b[:16]}"
    if len(differences) > _SHOWN:
        yield f"{named} differ in {len(differences) - _SHOWN} more cases"


_HEADINGS = ("", "original", "replica", "replica over original", "agreement")
_BASES = {
    "seconds": "on the same machine: seconds, within the stated intervals",
    "baseline": "on another machine: ratios to the baseline, each within its own run",
}
_HARNESSES = {
    "same_sources": "the sources of coldwarm that measured the original",
    "wheel_of_snapshot": "the wheel of coldwarm in the snapshot",
    "other_sources": "other sources of coldwarm than those of the original",
}


def replication(report: Replication) -> Document:
    """Return a table for each run that was measured again, and how many cases agree."""
    blocks: list[Block] = [Paragraph(text, "dim") for text in _about(report)]
    for run in report.runs:
        blocks += [Heading(f"{run.suite}, {_BASES[run.basis]}"), _table(run)]
        blocks += [Paragraph(text, "dim") for text in _remarks(run)]
    return Document("coldwarm snapshot replicate", (*blocks, Paragraph(_summary(report), "strong")))


def _about(report: Replication) -> Iterator[str]:
    """Yield what was repeated and where."""
    original, environment = report.original, report.environment
    yield f"{original.snapshot_id}, index {original.snapshot_index_sha256}"
    if environment.kind == "as_it_is":
        yield f"measured in this environment, by {_HARNESSES[environment.harness]}"
        return
    n_installed = counted(len(environment.installed), "distribution")
    told = f"measured in a fresh environment of {n_installed}, each by its hash"
    yield f"{told}, by {_HARNESSES[environment.harness]}"


def _summary(report: Replication) -> str:
    """Return how many cases agree, and the names of those that do not."""
    text = f"Cases that agree: {report.n_agree}; disagree: {report.n_disagree}; "
    text += f"undecided: {report.n_undecided}"
    if report.n_lost:
        text += f"; without a valid answer: {report.n_lost}"
    differing = [
        case.case for run in report.runs for case in run.cases if case.agreement == "disagrees"
    ]
    return f"{text}. Disagreeing: {', '.join(differing)}." if differing else f"{text}."


def _remarks(run: RepeatedRun) -> Iterator[str]:
    """Yield what was left out, and what was not the same."""
    for one in run.left_out:
        yield f"{one.case}: not compared: {words(one.reason)}"
    names = list(dict.fromkeys(one.name for one in run.differing))
    if names:
        yield f"not the same: {', '.join(names[:8])}"
    if run.software:
        yield f"other software: {', '.join(one.name for one in run.software[:8])}"
    if any(one.agreement == "undecided" for case in run.cases for one in case.figures):
        yield "undecided: neither was shown; more processes tell more"
    yield from (with_advice(reason) for reason in run.warnings)


def _table(run: RepeatedRun) -> Table:
    """Return the figures of each case below its name."""
    parts = [
        Rows(
            case.case if case.reason is None else f"{case.case}: {words(case.reason)}",
            tuple(map(_figure, case.figures)),
        )
        for case in run.cases
    ]
    return Table(_HEADINGS, tuple(parts), of_parts="case")


def _figure(figure: RepeatedFigure) -> tuple[Cell, ...]:
    write = units.duration if figure.basis == "seconds" else units.significant
    values = (
        units.MISSING if value is None else write(value)
        for value in (figure.original, figure.replica)
    )
    told = Cell(figure.agreement, verdict=figure.agreement)
    return row(named(figure.metric), *values, _apart(figure), told)


def _apart(figure: RepeatedFigure) -> str:
    if figure.ratio is None or figure.low is None or figure.high is None:
        return units.MISSING
    return f"{units.significant(figure.ratio)} ({units.interval(figure.low, figure.high, ' to ')})"
