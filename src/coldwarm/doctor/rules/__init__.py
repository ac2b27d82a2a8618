"""One file for each thing that the doctor finds.

``findings(trace)`` yields what a rule finds; ``REASONS`` has its words, and ``CHANGES``, by
pattern, what to change, or ``change(finding)`` says it. It may state more of its patterns, by their
ids: ``PAGES``, the pattern that shows one of another name; ``SHORT``, by a shorter name; ``SIZES``,
those whose number is how large something is, not how often it happened; ``COMPILED_AGAIN``, those
of what was compiled again, which are limited together.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import declared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from coldwarm.contracts.doctor import Finding


@cache
def modules() -> Sequence[Any]:
    """Return the rules: ``findings(trace)`` yields what each finds; its words stand beside it."""
    names = sorted(module.name for module in iter_modules(__path__))
    return [import_module(f"{__name__}.{name}") for name in names if name[0] != "_"]


@cache
def stated(table: str) -> Mapping[str, str]:
    """Return what all rules state in a table, or in a set."""
    rows = (getattr(rule, table, {}) for rule in modules())
    return {key: one[key] if isinstance(one, dict) else key for one in rows for key in one}


@cache
def patterns() -> Mapping[str, Any]:
    """Return the patterns that can be found, each with the rule that says what to change."""
    return {pattern: rule for rule in modules() for pattern in getattr(rule, "CHANGES", {})}


def change_of(finding: Finding) -> str:
    """Return what to change: by what was seen, or else by its pattern."""
    advice = declared(finding.says.code).advice
    rule = patterns().get(finding.pattern)
    if advice or rule is None:
        return advice
    return str(rule.change(finding) if hasattr(rule, "change") else rule.CHANGES[finding.pattern])
