"""Settings that give a program of one's own the filled caches of a figure, in lines to copy."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import FILLED
from coldwarm.errors import printable
from coldwarm.report import units
from coldwarm.report.document import Heading, Paragraph, Shell, terms
from coldwarm.report.headline import around

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import CacheSetting, DefaultSettings
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.document import Block

FILLED_TITLE = "Filled caches come with these settings; DIR is a folder of your own"
_CODE = "{code} in the program"
_BY_DEFAULT = "with the framework's own settings, only a cache directory set"


class Needed(NamedTuple):
    """For some candidates: what has to stand in the program, and a line for the shell."""

    candidates: str
    code: str
    line: str
    """Empty where nothing has to be set."""


def needed(settings: Mapping[str, Sequence[CacheSetting]]) -> list[Needed]:
    """Return what is needed by candidate, those with the same needs together."""
    names: dict[tuple[str, str], list[str]] = {}
    for candidate, wanted in settings.items():
        if wanted:
            names.setdefault((code(wanted), line(wanted)), []).append(candidate)
    return [Needed(", ".join(who), *what) for what, who in names.items()]


def of_cases(cases: Sequence[CaseResult]) -> list[Needed]:
    """Return what the candidates with a figure of filled caches need."""
    return needed({case.candidate: case.filled_by for case in cases})


def blocks(needed: Sequence[Needed], by_default: Sequence[tuple[str, str]]) -> Iterator[Block]:
    """Yield what filled caches need, each line for the shell in a block of its own."""
    if not needed:
        return
    yield Heading(FILLED_TITLE)
    for one in needed:
        yield Paragraph(": ".join(filter(None, (one.candidates, one.code))))
        if one.line:
            yield Shell(one.line)
    yield from terms(by_default, title=_BY_DEFAULT)


def line(settings: Sequence[CacheSetting]) -> str:
    """Return the line that sets the variables in a shell; empty where there are none."""
    variables = {name: value for one in settings for name, value in one.variables.items()}
    if not variables:
        return ""
    parts = ["export", *(f"{name}={shlex.quote(value)}" for name, value in variables.items())]
    return printable(" ".join(parts))


def code(settings: Sequence[CacheSetting]) -> str:
    """Say what has to stand in the program; empty where nothing has."""
    return ", ".join(_CODE.format(code=printable(one.code)) for one in settings if one.code)


def by_default(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """Return, by candidate, the first result without these settings, beside that with them."""
    found = []
    for case in cases:
        for cold in case.cold:
            other = cold.framework_default
            if cold.cache_mode == FILLED and other is not None:
                name = "total" if case.scenario else "ttfr"
                found.append((case.candidate, _beside(other, name)))
    return [(who, text) for who, text in found if text]


def _beside(other: DefaultSettings, name: str) -> str:
    """Write a figure of the framework's own settings with its interval; empty without one."""
    figure = other.seconds.get(name)
    if figure is None:
        return ""
    bounds = around(figure)
    return f"{units.duration(figure.median)}{f' ({bounds})' if bounds else ''}"
