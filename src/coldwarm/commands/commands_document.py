"""The document of commands: how long until each is ready, and where that time goes."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.commands.figures import MODES, good, headline
from coldwarm.contracts.base import EMPTY, FILLED
from coldwarm.contracts.commands import AS_IT_IS
from coldwarm.report import units
from coldwarm.report.document import Cell, Document, Paragraph, Terms, table
from coldwarm.report.sentences import advice, counted, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.commands.figures import FailingCommand
    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.commands import (
        CommandAdvice,
        CommandBench,
        CommandMetric,
        CommandSaving,
        CommandStart,
        CommandVerdict,
        StartAdvice,
    )
    from coldwarm.contracts.reasons import Reason
    from coldwarm.report.document import Block

_CACHES = {EMPTY: "empty", FILLED: "filled"}
_HEADINGS: dict[CommandMetric, str] = {
    "ready_s": "ready",
    "first_answer_s": "first answer",
    "request_s": "later requests",
}
_PARTS = {
    "interpreter": ("interpreter_s",),
    "imports": ("import_s",),
    "compiling": ("trace_s", "lower_s", "compile_s"),
    "from cache": ("cache_read_s",),
    "rest": ("rest_s",),
}


def document(
    found: CommandBench, *, verbose: bool = False, failing: Sequence[FailingCommand] = ()
) -> Document:
    """Return what commands took; ``verbose``: with what is not controlled."""
    blocks: list[Block] = [Paragraph(one, "strong") for one in _answers(found)]
    blocks += [Paragraph(_failing(*one), "failure") for one in failing]
    metrics = [one for one in _HEADINGS if any(each.metric == one for each in found.figures)]
    first, *others = [one.label for one in found.commands]
    columns = ["command", "caches", *(_HEADINGS[one] for one in metrics)]
    columns += [f"over {first}"] if others else []
    rows: list[tuple[Cell | str, ...]] = [
        (
            Cell(one.label, style="name"),
            _CACHES[mode],
            *_cells(found, one.label, mode, metrics),
            *([_against(found, one.label, mode)] if others else []),
        )
        for one in found.commands
        for mode in MODES
    ]
    if found.figures:
        blocks.append(table(tuple(columns), rows, labels=2))
    parts = [*_part_rows(found)]
    if parts:
        blocks.append(table(("command", "caches", *_PARTS), parts, labels=2))
    blocks += _left_out(found.starts)
    blocks += _notes(found)
    if verbose:
        limits = tuple(("not controlled", words(one)) for one in found.limitations)
        blocks.append(Terms(limits, role="note"))
    return Document("coldwarm bench --command", tuple(blocks))


_SHOWN_S = 0.001
"""From which on compiling in other processes is told."""


def _answers(found: CommandBench) -> Iterator[str]:
    savings = {one.command: one for one in found.savings}
    metric = headline(found.starts)
    what = "ends" if found.ready == "end" else "is ready"
    what = "has answered a request" if metric == "first_answer_s" else what
    for one in found.commands:
        told = {
            each.cache_mode: units.duration(each.summary.median)
            for each in found.figures
            if (each.command, each.metric) == (one.label, metric)
        }
        said = [f"{told[mode]} with {_CACHES[mode]} caches" for mode in MODES if mode in told]
        if not said:
            yield f"{one.label}: no start proved the state of its caches."
            continue
        saved = savings.get(one.label)
        sure = saved is not None and (saved.low or 0.0) > 0
        more = f": they save {_saved(saved)}" if saved is not None and sure else ""
        yield f"{one.label} {what} after {', '.join(said)}{more}."


def _failing(one: CommandVerdict, limit: float) -> str:
    judged, caches = one.comparison, _CACHES[one.cache_mode]
    where = f"{one.command}, {_HEADINGS[judged.metric]} with {caches} caches"  # type: ignore[index] # of commands
    verdict, share = judged.verdict, f"{100 * limit:.3g} %"
    if verdict == "undecided":
        return f"FAIL  {where}: undecided, and a difference above {share} is not excluded."
    more = f" by more than {share}" if limit else ""
    return f"FAIL  {where}: {verdict} than {judged.baseline}{more}."


def _saved(one: CommandSaving) -> str:
    return f"{units.duration(one.seconds)} ({_between(one)})"


def _cells(
    found: CommandBench, label: str, mode: CacheMode, metrics: Sequence[CommandMetric]
) -> list[Cell]:
    known = {
        one.metric: one.summary
        for one in found.figures
        if (one.command, one.cache_mode) == (label, mode)
    }
    return [_cell(known[one]) if one in known else Cell() for one in metrics]


def _cell(summary: Summary) -> Cell:
    below = counted(summary.n_processes, "start")
    if summary.low is not None and summary.high is not None:
        below = f"{units.duration(summary.low)} to {units.duration(summary.high)}"
    return Cell(units.duration(summary.median), below=below)


def _against(found: CommandBench, label: str, mode: CacheMode) -> Cell:
    """Return how many times as long as the first command it takes."""
    metric = headline(found.starts)
    for one in found.verdicts:
        judged = one.comparison
        if (one.command, one.cache_mode, judged.metric) != (label, mode, metric):
            continue
        if judged.ratio is None or judged.low is None or judged.high is None:
            break
        return Cell(
            f"{judged.ratio:.3g}",
            below=f"{judged.low:.3g} to {judged.high:.3g}",
            verdict=judged.verdict,
        )
    return Cell()


def _part_rows(found: CommandBench) -> Iterator[tuple[Cell | str, ...]]:
    """Yield for each command and mode the medians of its parts."""
    for one in found.commands:
        for mode in MODES:
            seen = [each.parts for each in good(found.starts, one.label, mode) if each.parts]
            if seen:
                sums = [
                    median(sum(getattr(each, name) or 0.0 for name in names) for each in seen)
                    for names in _PARTS.values()
                ]
                yield Cell(one.label, style="name"), _CACHES[mode], *map(units.duration, sums)


def _left_out(starts: Sequence[CommandStart]) -> Iterator[Block]:
    """Yield why starts count for nothing."""
    groups: dict[tuple[str, str, str], tuple[int, Reason]] = {}
    for one in starts:
        if one.status != "ok" and one.reason is not None:
            key = one.command, one.cache_mode, words(one.reason)
            groups[key] = groups.get(key, (0, one.reason))[0] + 1, one.reason
    for (label, mode, said), (n, reason) in groups.items():
        text = f"{label}, {_CACHES[mode]} caches: {counted(n, 'start')} left out: {said}"  # type: ignore[index] # of these modes
        told = advice(reason)
        yield Paragraph(f"{text}; {told}" if told else text, "failure")


def _notes(found: CommandBench) -> Iterator[Block]:
    notes = {(one.command, words(note)): note for one in found.starts for note in one.notes}
    items = [
        (label, f"{said}; {told}" if (told := advice(note)) else said)
        for (label, said), note in notes.items()
    ]
    beside = {one.command: one for one in found.starts if one.compiling_beside_s >= _SHOWN_S}
    items += [(label, _beside(one)) for label, one in beside.items()]
    if items:
        yield Terms(tuple(items), role="care")


def _beside(one: CommandStart) -> str:
    n = counted(one.n_processes - 1, "further process")
    return f"{n} compiled for {units.duration(one.compiling_beside_s)} in all"


FRAMEWORKS = {"jax": "JAX", "inductor": "torch.compile", "numba": "Numba"}
"""Names of the frameworks, by the owner of their cache."""
_KINDS = {
    "cache": "keep what {name} compiles",
    "bytecode": "keep the bytecode of modules",
    "import": "import {name} in the function that uses it",
}
_HOW = {
    "cache": "DIR: a folder that is kept between starts",
    "bytecode": "FOLDER: where the modules lie",
    "import": "only if the import does nothing else that the program needs",
}
_ALREADY = "the program does so already: see that it finds it at each start"
_BY_ITSELF = "PyTorch keeps it by itself; set it where the folder for temporary files is lost"


def advised(found: CommandAdvice) -> Document:
    """Return what shortens a start, by what it saves."""
    sure = [one for one in found.advice if one.is_shown]
    blocks: list[Block] = [Paragraph(_first_advice(found, sure), "strong")]
    if not found.complete:
        blocks.append(Paragraph("It was interrupted: fewer starts count.", "failure"))
    if sure:
        rows = [
            (
                Cell(_change(one), style="name"),
                Cell(units.duration(one.seconds), below=_between(one)),
            )
            for one in sure
        ]
        blocks.append(table(("change", "saves"), rows, labels=1))
        blocks += [Terms(tuple(_lines(one)), title=_change(one)) for one in sure]
    others = [_change(one) for one in found.advice if one not in sure]
    if others:
        text = f"Tried, and not shown to save anything: {'; '.join(others)}"
        blocks.append(Paragraph(text, "dim"))
    labels = {f"{kind}_": text for kind, text in _KINDS.items()}
    failed = [
        text.format(name=one.removeprefix(begin))
        for one in found.failed
        for begin, text in labels.items()
        if one.startswith(begin)
    ]
    if failed:
        blocks.append(Paragraph(f"Could not be tried: {'; '.join(failed)}", "dim"))
    as_it_is = [replace(one, command="as it is") for one in found.starts if one.command == AS_IT_IS]
    blocks += _left_out(as_it_is)
    if len(sure) > 1:
        text = "Each change was tried by itself: together, they may save less than the sum"
        blocks.append(Paragraph(text, "dim"))
    return Document("coldwarm advise", tuple(blocks))


def _lines(one: StartAdvice) -> Iterator[tuple[str, str]]:
    """Yield what to set or to write for a change."""
    for number, line in enumerate(one.lines):
        yield ("" if number else "write" if one.kind == "import" else "set"), line
    if one.is_made:
        by_itself = one.name == "inductor"
        yield (
            "note",
            _BY_ITSELF if by_itself else "the program does so already; see that it finds it",
        )
    yield "where", _HOW[one.kind]


def _change(one: StartAdvice) -> str:
    return _KINDS[one.kind].format(name=FRAMEWORKS.get(one.name, one.name))


def _first_advice(found: CommandAdvice, sure: Sequence[StartAdvice]) -> str:
    what = "ends" if found.ready == "end" else "is ready"
    what = "has answered a request" if found.request else what
    if found.before is None:
        return f"{found.command.label}: no start counts."
    time = units.duration(found.before.median)
    if not sure:
        text = "nothing that was tried was shown to save time"
        return f"{found.command.label} {what} after {time}; {text}."
    most = units.duration(sure[0].seconds)
    return f"{found.command.label} {what} after {time} with empty caches; one change saves {most}."


def _between(one: StartAdvice | CommandSaving) -> str:
    return f"{units.duration(one.low or 0.0)} to {units.duration(one.high or 0.0)}"
