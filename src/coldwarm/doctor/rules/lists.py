"""Lists of Python numbers as arguments: each number is an argument of its own."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.time_account import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine


_REASONS = {
    "doctor_list": "{function} takes the list `{argument}` as {n_numbers:# argument} of their own",
    "saving_share": "what {equations_share:.0%} of the program took to compile: equations that"
    " each number has",
}
_CHANGES = {
    "list-argument": "make it one array with jnp.asarray before the call",
}


_FEWEST = 64


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each call whose argument is a long list of numbers."""
    done: set[SourceLine] = set()
    for call in trace.calls:
        if call.site is None or call.site in done or call.is_operation:
            continue
        longest = _longest(call)
        if longest is not None:
            done.add(call.site)
            argument, n_numbers = longest
            # What is compiled again is saved as a whole by another finding.
            share = _share(call, n_numbers) if kind_of(call) is None else None
            says = because(
                "doctor_list", function=call.name, argument=argument, n_numbers=n_numbers
            )
            yield trace.finding(
                "list-argument",
                call.site,
                says,
                framework=call.framework,
                n=n_numbers,
                cost_s=call.total_s,
                saving_s=call.total_s * share if share else None,
                saving_from=because("saving_share", equations_share=share) if share else None,
                no_saving=None if share else because("doctor_depends"),
            )


def _share(call: CompiledCall, n_numbers: int) -> float | None:
    """Return the share of a program's equations that are there once for each number.

    ``None``: there are fewer equations than numbers, so none can be told to be theirs.
    """
    equations = call.program.equations if call.program else 0
    each = equations // n_numbers
    return each * n_numbers / equations if each else None


def _longest(call: CompiledCall) -> tuple[str, int] | None:
    counts = Counter(
        name.partition("[")[0]
        for name, kind in call.arguments.items()
        if "[" in name and kind.startswith("Python ")
    )
    for argument, number in counts.most_common(1):
        if number >= _FEWEST:
            return argument, number
    return None


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
    sizes={"list-argument"},
)
