"""Documents of a cache: what lies in it, and what a program found of it."""

from __future__ import annotations

import shlex
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from coldwarm.commands import commands_document
from coldwarm.commands.commands_document import FRAMEWORKS
from coldwarm.doctor.findings_document import place
from coldwarm.report import units
from coldwarm.report.document import Cell, Document, Notice, Paragraph, Shell, Terms, table
from coldwarm.report.sentences import advice, counted, with_advice, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.cache import (
        CacheCheck,
        CacheComparison,
        CacheKey,
        CacheListing,
        CacheOutcome,
        CachePack,
        CheckedLine,
    )
    from coldwarm.contracts.kept_entry import KeptEntry
    from coldwarm.contracts.reasons import Reason
    from coldwarm.report.document import Block

_MOST_ROWS = 30
_RESULTS: dict[CacheOutcome, str] = {
    "found": "found",
    "missed": "missed",
    "elsewhere": "another cache",
    "not_kept": "not kept",
}
_SHOWN = ("operations", "types", "processor", "version")
"""Parts of an entry that a table has room for."""


def listed(found: CacheListing) -> Document:
    """Return what lies in a folder."""
    n_bytes = sum(one.n_bytes for one in found.entries)
    owners = Counter(one.owner for one in found.entries)
    blocks: list[Block] = [
        Paragraph(f"{counted(len(found.entries), 'file')}: {units.size(n_bytes)}.", "strong")
    ]
    blocks += [Paragraph(f"{FRAMEWORKS[owner]}: {n}", "dim") for owner, n in owners.items()]
    entries = sorted(found.entries, key=lambda one: -one.n_bytes)
    if entries:
        blocks.append(
            table(
                ("program", "of", "made for", "size", "written"),
                map(_entry_row, entries[:_MOST_ROWS]),
                labels=3,
            )
        )
    if len(entries) > _MOST_ROWS:
        text = f"… and {len(entries) - _MOST_ROWS} more, which are smaller: --format json has all"
        blocks.append(Paragraph(text, "dim"))
    blocks += [
        Paragraph(f"Not readable: {one.path}: {words(one.fault)}.")
        for one in entries
        if one.fault is not None
    ][:_MOST_ROWS]
    if found.n_others:
        size = units.size(found.others_bytes)
        text = f"{counted(found.n_others, 'other file')}: {size}, of no cache that coldwarm knows"
        blocks.append(Paragraph(text, "dim"))
    return Document("coldwarm cache list", tuple(blocks))


def _entry_row(one: KeptEntry) -> tuple[Cell | str, ...]:
    made_for = "; ".join(one.parts[name] for name in _SHOWN if name in one.parts)
    written = datetime.fromtimestamp(one.modified_ns / 1e9, UTC).date()
    return (
        Cell(one.program or one.path, style="name"),
        FRAMEWORKS[one.owner],
        made_for or units.MISSING,
        units.size(one.n_bytes),
        str(written),
    )


def compared(found: CacheComparison) -> Document:
    """Return what differs between two caches."""
    differing = [one for one in found.programs if one.n_kept or one.n_new]
    n_same = sum(one.n_same for one in found.programs)
    text = f"{counted(n_same, 'program')} in both"
    n_kept, n_new = (sum(getattr(one, name) for one in differing) for name in ("n_kept", "n_new"))
    said = f"{text}; {n_kept} only in {found.a}, {n_new} only in {found.b}."
    blocks: list[Block] = [Paragraph(said if differing else f"{text}, and no other.", "strong")]
    rows = [
        (
            Cell(one.program, style="name"),
            FRAMEWORKS[one.owner],
            str(one.n_same),
            str(one.n_kept),
            str(one.n_new),
        )
        for one in differing[:_MOST_ROWS]
    ]
    if rows:
        columns = ("program", "of", "in both", "only in the first", "only in the second")
        blocks.append(table(columns, rows, labels=2))
    blocks += _causes((one.program, one.why) for one in differing[:_MOST_ROWS])
    return Document("coldwarm cache why", tuple(blocks))


def keyed(found: CacheKey) -> Document:
    """Return a fingerprint with all that it is made of."""
    rows = [(of, name, value) for of, parts in found.parts.items() for name, value in parts.items()]
    shown = table(("of", "part", "value"), rows, labels=3)
    return Document("coldwarm cache key", (Paragraph(found.key, "strong"), shown))


def packed(found: CachePack, path: str) -> Document:
    """Return what was packed into an archive."""
    n_bytes = units.size(sum(one.n_bytes for one in found.files))
    names = ", ".join(FRAMEWORKS[one] for one in found.frameworks)
    text = f"{counted(len(found.files), 'file')} of {names}, {n_bytes}, in {path}."
    blocks: list[Block] = [Paragraph(text, "strong")]
    if found.n_left_out:
        text = f"{counted(found.n_left_out, 'link')} or special files were left out"
        blocks.append(Paragraph(text, "failure"))
    return Document("coldwarm cache pack", tuple(blocks))


def unpacked(found: CachePack, folder: str, settings: Mapping[str, str]) -> Document:
    """Return what was put into a folder, and how it is used."""
    n_bytes = units.size(sum(one.n_bytes for one in found.files))
    text = f"{counted(len(found.files), 'file')}, {n_bytes}, in {folder}: each as it was packed."
    lines = [Shell(f"export {name}={shlex.quote(value)}") for name, value in settings.items()]
    warning = "A program that loads this cache runs code of whoever made it."
    blocks: list[Block] = [Paragraph(text, "strong"), Paragraph(warning), *lines]
    return Document("coldwarm cache unpack", tuple(blocks))


def filled(found: CacheCheck, settings: Mapping[str, str]) -> Document:
    """Return what a program found of a cache that it has filled, and how that is used."""
    said = checked(found)
    lines = [Shell(f"export {name}={shlex.quote(value)}") for name, value in settings.items()]
    text = "Set where it is used, with the path that it has there:"
    blocks = (*said.blocks, Paragraph(text), *lines)
    return Document("coldwarm cache warm", blocks)


def checked(found: CacheCheck, least_s: float | None = None) -> Document:
    """Return what a program found of a cache; ``least_s``: the time that it has to save."""
    blocks: list[Block] = [Paragraph(_answer(found), "strong")]
    if found.exit_status:
        text = f"The program ended with exit status {found.exit_status}: what it had not come to is"
        blocks.append(Paragraph(f"{text} not told.", "failure"))
    kept = f"{counted(found.n_kept, 'file')}, {units.size(found.kept_bytes)}"
    text = f"In a copy of {found.folder} ({kept}) at another place, in a new process"
    if found.image is not None:
        text = f"In {found.folder} ({kept}) of the image {found.image}, in a new container"
    blocks.append(Paragraph(text, "dim"))
    shown = found.lines[:_MOST_ROWS]
    if shown:
        columns = ("where", "what", "result", "found", "missed", "time")
        blocks.append(table(columns, map(_line_row, shown), labels=3))
    if len(found.lines) > len(shown):
        rest = counted(len(found.lines) - len(shown), "more line")
        blocks.append(Paragraph(f"… and {rest}: --format json has all", "dim"))
    blocks += _causes((f"{one.function}  {_where(one)}", one.why) for one in shown)
    blocks += [_remark(one) for one in shown if one.n_missed]
    if found.left_out:
        names = ", ".join(found.left_out)
        text = f"No program of {names} lies in the cache: lines that compile with it are left out"
        blocks.append(Paragraph(text, "failure"))
    blocks += [Paragraph(f"Not seen: {words(one)}.", "dim") for one in found.unseen]
    if found.measured is not None:
        blocks += commands_document.document(found.measured).blocks
    if least_s is not None and not saves(found, least_s):
        text = f"FAIL  it is not shown to save {units.duration(least_s)}"
        why = "" if found.measured is not None else ": nothing was found, so nothing was measured"
        blocks.append(Paragraph(f"{text}{why}.", "failure"))
    return Document("coldwarm cache check", tuple(blocks))


def saves(found: CacheCheck, least_s: float) -> bool:
    """Say whether a cache has been shown to save so many seconds."""
    savings = [] if found.measured is None else found.measured.savings
    return any(one.low is not None and one.low >= least_s for one in savings)


def _answer(found: CacheCheck) -> str:
    n_found, n_missed = (sum(getattr(one, name) for one in found.lines) for name in _COUNTS)
    if n_missed:
        spent_s = sum(one.compile_s for one in found.lines if one.n_missed)
        text = f"{counted(n_missed, 'program')} not found in the cache ({units.duration(spent_s)})"
        return f"{text}; {n_found or 'none'} found."
    if is_blind(found):
        return (
            "What was compiled could not all be seen, so it is not known whether the cache works."
        )
    if n_found:
        return f"The cache works here: {counted(n_found, 'program')} found, none missed."
    return "Nothing was read from the cache, and nothing was missed."


_COUNTS = ("n_found", "n_missed")


def _where(one: CheckedLine) -> str:
    return f"{place(one.path)}:{one.line}" if one.path else units.MISSING


def _line_row(one: CheckedLine) -> tuple[str, ...]:
    return (
        _where(one),
        one.function,
        _RESULTS[one.outcome],
        str(one.n_found),
        str(one.n_missed),
        units.duration(one.compile_s),
    )


def _causes(named: Iterable[tuple[str, Sequence[Reason]]]) -> Iterator[Terms]:
    """Yield each cause once, under the first name that has it: why, and what to change."""
    groups: dict[tuple[str, ...], list[tuple[str, Sequence[Reason]]]] = {}
    for name, why in named:
        if why:
            groups.setdefault(tuple(map(words, why)), []).append((name, why))
    for said, ((name, why), *others) in groups.items():
        items = [("why", text) for text in said]
        items += [("change", text) for text in dict.fromkeys(filter(None, map(advice, why)))]
        yield Terms(tuple(items), title=f"{name} and {len(others)} more" if others else name)


def _remark(one: CheckedLine) -> Notice:
    """Return what a line missed as a remark beside the code."""
    title = f"coldwarm cache: {one.function} missed"
    return Notice("error", title, "; ".join(map(with_advice, one.why)), place(one.path), one.line)


def is_blind(found: CacheCheck) -> bool:
    """Say whether something may have been compiled that nobody has told of."""
    return any(one.code in _BLIND for one in found.unseen)


_BLIND = {"listeners_removed", "lines_lost", "journal_cut", "no_journal", "doctor_failed"}


def missed(lines: Sequence[CheckedLine]) -> int:
    """Return how many programs were not found in the cache."""
    return sum(one.n_missed for one in lines)
