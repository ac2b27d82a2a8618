"""What was compiled, as all processes of a case, or all runs of a side, have counted it. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.answer import Caution
from coldwarm.contracts.observation import Counts, published
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.observation import Observation


def of_case(observations: Sequence[Observation]) -> tuple[Counts, list[Caution]]:
    """Return what the processes of a case have counted alike, and a caution where they differ."""
    seen = [one.counts for one in published(observations) if one.status == "ok"]
    made = joined(seen)
    cautions = []
    for name, why in made.null_reasons.items():
        numbers = [one.numbers[name] for one in seen if name in one.numbers]
        if numbers:
            ((_, n_alike),) = Counter(numbers).most_common(1)
            cautions.append(
                Caution(
                    kind="counts",
                    n_processes=len(numbers) - n_alike,
                    of_processes=len(numbers),
                    reason=why,
                )
            )
    return made, cautions


def joined(seen: Sequence[Counts]) -> Counts:
    """Return what several have counted alike; a reason for what differs, or is not known."""
    names = dict.fromkeys(name for one in seen for name in (*one.numbers, *one.null_reasons))
    made = Counts(numbers={}, null_reasons={})
    for name in names:
        numbers = [one.numbers[name] for one in seen if name in one.numbers]
        if not numbers:
            told = (one.null_reasons.get(name) for one in seen)
            made.null_reasons[name] = next(why for why in told if why is not None)
        elif min(numbers) == max(numbers):
            made.numbers[name] = numbers[0]
        else:
            least, most = min(numbers), max(numbers)
            why = because("counts_differ", name=name, n_least=least, n_most=most)
            made.null_reasons[name] = why
    return made
