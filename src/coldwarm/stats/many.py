"""The verdicts of one table, held to an error rate together.

Of thirty comparisons of equal programs, each with an interval of 97 %, one or more would be called
different by chance in many tables. The verdicts that are kept are those that
the step-up procedure of Benjamini and Hochberg ("Controlling the false discovery rate", 1995)
keeps: of the verdicts of a table at most 5 % are expected to be wrong, and of tables in which all
are equal at most 5 % have any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Comparison

ERROR_RATE = 0.05


def held(comparisons: Sequence[Comparison], rate: float = ERROR_RATE) -> list[Comparison]:
    """Return the comparisons of a table, those undecided whose verdicts are too many to trust.

    A verdict that was told from the range of a few values has no p-value, and is kept.
    """
    compared = sum(one.ratio is not None for one in comparisons)
    chances = sorted(one.p_value for one in comparisons if one.p_value is not None)
    allowed = [
        chance for place, chance in enumerate(chances, 1) if chance <= rate * place / compared
    ]
    most = max(allowed, default=0.0)

    def judged(one: Comparison) -> Comparison:
        if one.p_value is None or one.p_value <= most:
            return one
        values = {"n_verdicts": compared, "error_share": rate}
        reason = because("many_verdicts", one.reason, **values)
        return replace(one, verdict="undecided", p_value=None, reason=reason)

    return [judged(one) for one in comparisons]
