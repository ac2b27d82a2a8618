"""The final tables as Markdown, for a README or the summary of a CI job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coldwarm.errors import printable
from coldwarm.report import filled, scenarios
from coldwarm.report.view import suite_view
from coldwarm.report.words import COLD_MODES, MADE_TITLE, MODE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.answer import Answer
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.report.answers import Line
    from coldwarm.report.filled import Needed
    from coldwarm.report.scenarios import Loops
    from coldwarm.report.view import Cell, Group

_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|~#&!$"})
_LINKED = re.compile(r"(?<=\w):(?=//)|(?<=\bwww)\.|(?<=\w)@(?=\w)", re.IGNORECASE)
"""Signs that make a link of text without any markup."""
_WITHIN = re.compile(r"(?<=\w)\\_(?=\w)")
_BEGINS = re.compile(r"^(\s*)(?:([-+](?=\s|$)|=)|(\d+)([.)])(?=\s|$))")
"""What begins a list, or underlines a heading, at the beginning of a line."""


def render(  # noqa: PLR0913 - what stands where, each by name
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    *,
    answers: Sequence[Answer] = (),
    ahead: Sequence[str] = (),
    more: Sequence[str] = (),
    care: Sequence[tuple[str, str]] = (),
    verbose: bool = False,
) -> str:
    """Return the answers, the tables, what to read with care, and a legend.

    ``answers`` are of its groups, ``ahead`` leads, ``more`` follows the tables, ``care`` is read
    with care too. ``verbose``: also the parts of the first results.
    """
    view = suite_view(suite, cases, answers, verbose=verbose)
    blocks = [*ahead]
    for group in view.groups:
        blocks += _group(group, verbose=verbose)
    if view.loops.rows:
        blocks += [f"### {escaped(scenarios.TITLE)}", _shares(view.loops)]
    blocks += more
    if remarks := (*view.care, *care):
        blocks += ["Read with care:", terms(remarks)]
    if view.unavailable:
        blocks.append(terms(("not measured", line) for line in view.unavailable))
    if view.legend:
        blocks += ["How to read this:", terms(view.legend)]
    # They name commands in backticks, which the name of a suite does not hold.
    blocks.append("\n".join(escaped(line).replace("\\`", "`") for line in view.closing))
    return "\n\n".join(blocks) + "\n"


def _group(group: Group, *, verbose: bool) -> list[str]:
    blocks = [f"### {escaped(group.title)}", escaped(group.about)]
    if group.answer:
        blocks.append(answered(group.answer))
    if group.rows:
        blocks.append(_main_table(group))
    if group.failures:
        blocks.append(terms(("failed", failure) for failure in group.failures))
    if verbose and any(row.parts for row in group.rows):
        blocks += [f"{escaped(group.parts_title)}:", _parts_table(group)]
    if group.made:
        blocks += [f"{MADE_TITLE}:", terms(group.made)]
    return blocks + filled_by(group.filled, group.by_default)


def answered(found: Sequence[Line]) -> str:
    """Return the answer as a list, verdicts in bold."""
    said, label = [], ""
    for one in found:
        label = one.label or label
        pieces = [
            f"**{escaped(piece.text)}**" if piece.verdict else escaped(piece.text)
            for piece in one.pieces
        ]
        said.append(f"- {escaped(label)}: {''.join(pieces)}")
    return "\n".join(said)


def filled_by(needed: Sequence[Needed], by_default: Sequence[tuple[str, str]]) -> list[str]:
    """Lay out what filled caches need, the lines for the shell as code."""
    if not needed:
        return []
    blocks = [f"{filled.TITLE}:"]
    for one in needed:
        blocks.append(escaped(": ".join(filter(None, (one.candidates, one.code)))))
        blocks += [_shell(one.line)] if one.line else []
    if by_default:
        blocks += [f"{filled.DEFAULT}:", terms(by_default)]
    return blocks


def _shell(line: str) -> str:
    """Return a line for the shell as code, in a fence that nothing in it can end."""
    marks = "".join(one if one == "`" else " " for one in line)
    fence = "`" * max(3, 1 + max(map(len, marks.split()), default=0))
    return f"{fence}sh\n{line}\n{fence}"


def _main_table(group: Group) -> str:
    names = ["<br>".join(filter(None, group.headings[mode])) for mode in group.modes]
    rows = [
        [
            code(row.candidate),
            *(_figure(row.figures[mode]) for mode in group.modes),
            *([] if row.memory is None else [row.memory]),
        ]
        for row in group.rows
    ]
    memory = [] if group.rows[0].memory is None else ["peak memory"]
    return table(["candidate", *names, *memory], rows)


def _parts_table(group: Group) -> str:
    rows = [
        [MODE_NAMES[mode], code(row.candidate), *map(escaped, row.parts[mode])]
        for mode in COLD_MODES
        for row in group.rows
        if mode in row.parts
    ]
    return table(["caches", "candidate", *group.parts.values()], rows, labels=2)


def _shares(loops: Loops) -> str:
    rows = [
        [label(scenario), code(name), *map(escaped, figures)]
        for scenario, candidates in loops.rows.items()
        for name, figures in candidates
    ]
    names = [heading.replace("\n", "<br>") for heading in loops.headings]
    return table(["scenario", "candidate", *names], rows, labels=2)


def code(name: str) -> str:
    """Write a name as code, in which Markdown reads no markup but its own end."""
    return f"`{printable(name).replace('`', '').replace('|', '')}`"


def _figure(cell: Cell) -> str:
    text = " ".join(filter(None, (cell.text, escaped(cell.spread))))
    bounds = f" ({escaped(cell.bounds)})" if cell.bounds else ""
    return f"{text}<br>{escaped(cell.verdict)}{bounds}" if cell.verdict else text


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int = 1) -> str:
    """Lay out a table whose first columns are labels, aligned left, and the others figures."""
    rule = [":--" if place < labels else "--:" for place in range(len(heading))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heading, rule, *rows))


def terms(items: Iterable[tuple[str, str]]) -> str:
    """Return terms and what is said of them as a list."""
    listed, last = [], ""
    for term, meaning in items:
        last = term or last
        listed.append(f"- **{label(last)}**: {escaped(meaning)}")
    return "\n".join(listed)


def label(text: str) -> str:
    """Return a name as text: an underscore within a word is none of Markdown's."""
    return _WITHIN.sub("_", escaped(text))


def escaped(text: str) -> str:
    """Return foreign text as one line in which Markdown finds no markup, HTML or link."""
    plain = _LINKED.sub(lambda sign: f"\\{sign[0]}", printable(text).translate(_SPECIAL))
    return _BEGINS.sub(r"\1\3\\\2\4", plain)
