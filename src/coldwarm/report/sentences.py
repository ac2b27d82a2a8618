"""Sentences made of reasons, by the words that each feature declares for its codes."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.reasons import declared
from coldwarm.report import units
from coldwarm.report.shown import withheld
from coldwarm.report.words import either, mode_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.answer import Caution, CautionKind
    from coldwarm.contracts.reasons import Reason

KEEPS_MEMORY = "`bytes(2**25-2**16)`"
"""What teaches the C allocator to keep freed memory."""

CAUTION_ADVICE: dict[CautionKind, str] = {
    "rejected": "they do not count; see the evidence of these observations",
    "failed": "see stderr_tail of the observation",
    "few": "raise --rounds",
    "precision": "raise --max-rounds or --time-budget, or quieten the machine",
    "noisy": "close other programs, or run again on an idle machine",
    "unsteady": "give it more time with --time-budget, and do not quote its median alone",
    "bimodal": "look at the raw series; frequency changes and memory placement are usual causes",
    "second_call": "do not take it for steady state when you time by hand",
    "uneven": "take the mean for many calls, as totals do",
    "compiled": "look for shapes or types that change from call to call",
    "kept": "empty what it keeps before each run, or quote it as filled",
    "settings": "name them wherever the figures are quoted",
    "bytecode": "run python -m compileall on the folders that they are installed in",
    "counts": "look for what depends on the moment, such as an order of sets or a random shape",
    "other_calls": "quote the figure for the calls that it is of",
    "untried": "give the data as arguments of the function; a factory may return both, as in"
    " `return fit, (x, y)`",
    "allocator": f"to keep it, make and free a large block once before the loop: {KEEPS_MEMORY}",
}
"""By kind of caution, what a person can do about it."""

_SHARES: dict[CautionKind, str] = {
    "rejected": "rejected, because the evidence contradicts the mode",
    "failed": "failed",
    "noisy": "at worst",
    "unsteady": "did not become steady",
    "bimodal": "have two levels",
    "counts": "counted otherwise than most",
}

_SIDES = {"case": "this case", "baseline": "the baseline"}

_WRITTEN: dict[str, Callable[[Any], str]] = {
    "drift": lambda change: f"{'falling' if change < 0 else 'rising'} {abs(change):.1%}",
    "mode": mode_name,
    "side": lambda side: _SIDES.get(side, side),
    "label": lambda label: f"{label}: " if label else "",
    "place": lambda place: f" ({place})" if place else "",
    "from": units.from_calls,
    "or": either,
    "size": units.size,
    "time": units.duration,
}


def words(reason: Reason) -> str:
    """Return a reason as a sentence without a full stop, with nothing private in it."""
    parts = "; ".join(map(words, reason.parts))
    return _WORDS.format(declared(reason.code).sentence, **withheld(reason.values), parts=parts)


def advice(reason: Reason) -> str:
    """Return what a person can do about it, or about what it rests on; empty where unknown."""
    own = _WORDS.format(declared(reason.code).advice, **withheld(reason.values))
    return own or "; ".join(filter(None, dict.fromkeys(map(advice, reason.parts))))


def with_advice(reason: Reason) -> str:
    """Return the sentence, and after a semicolon what to do."""
    return "; ".join(filter(None, (words(reason), advice(reason))))


def caution_words(caution: Caution) -> str:
    """Return what was seen, in how many processes, without what to do about it."""
    sentence = words(caution.reason)
    share = _SHARES.get(caution.kind)
    if share is None:
        return sentence
    of = counted(caution.of_processes, "process")
    return f"{caution.n_processes} of {of} {share}: {sentence}"


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - as the base has it
        if isinstance(value, list) and format_spec != "or":
            return ", ".join(value)
        if format_spec.startswith("# "):
            return counted(value, format_spec[2:])
        write = _WRITTEN.get(format_spec)
        return str(super().format_field(value, format_spec)) if write is None else write(value)


_WORDS = _Words()


def counted(number: int, noun: str) -> str:
    """Return ``1 process``, ``2 processes``."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('s') else 's'}"
