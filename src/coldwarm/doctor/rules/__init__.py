"""One file for each thing that the doctor finds, which defines its ``RULE``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Codes
    from coldwarm.doctor.trace import ProcessTrace


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Rule of a file: what it finds, and what it states of its patterns, by their ids."""

    codes: Codes
    """Its words."""
    findings: Callable[[ProcessTrace], Iterator[Finding]] = lambda _: iter(())
    """What it finds in one process."""
    across: Callable[[Sequence[ProcessTrace]], Iterator[Finding]] | None = None
    """What it finds in several processes together."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Changes to make, by pattern."""
    change: Callable[[Finding], str] | None = None
    """Return what to change, where the pattern alone does not say it."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """The pattern that shows one of another name."""
    short: Mapping[str, str] = field(default_factory=dict)
    """Patterns by a shorter name."""
    sizes: AbstractSet[str] = frozenset()
    """Patterns whose number is how large something is, not how often it happened."""
    compiled_again: AbstractSet[str] = frozenset()
    """Patterns of what was compiled again, which are limited together."""


@cache
def rules() -> Sequence[Rule]:
    """Return the rules of this folder."""
    names = sorted(module.name for module in iter_modules(__path__))
    return [import_module(f"{__name__}.{name}").RULE for name in names]


@cache
def patterns() -> Mapping[str, Rule]:
    """Return the patterns that can be found, each with the rule that says what to change."""
    return {pattern: rule for rule in rules() for pattern in rule.changes}


@cache
def pages() -> Mapping[str, str]:
    """Return the pattern that shows each finding of another name."""
    return {name: pattern for rule in rules() for name, pattern in rule.pages.items()}


def findings_of(pattern: str) -> list[str]:
    """Return the findings that a pattern shows."""
    return sorted(name for name in patterns() if pages().get(name, name) == pattern)


def change_of(finding: Finding) -> str:
    """Return what to change: by what was seen, or else by its pattern."""
    advice = declared(finding.says.code).advice
    rule = patterns().get(finding.pattern)
    if advice or rule is None:
        return advice
    return rule.change(finding) if rule.change else rule.changes[finding.pattern]
