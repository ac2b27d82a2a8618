"""Which arguments made a function compile again, and which of its calls they alone did. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from coldwarm.stats.doctor.values import in_guard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.doctor import CauseKind
    from coldwarm.stats.doctor.seen import Call

    Difference = Mapping[str, str]

_WITH: dict[str, set[str]] = {
    "dtype": {"weak_type"},
    "commitment": {"sharding"},
    "sharding": {"commitment"},
}
"""What goes away together with a cause where it is of the same argument."""


@dataclass(frozen=True)
class Blamed:
    """Calls at one line that were compiled again as the same arguments changed in the same way."""

    kind: CauseKind
    calls: list[Call]

    @cached_property
    def _counts(self) -> Counter[str]:
        """How often each argument changed, in the order in which they are given."""
        return Counter(name for call in self.calls for name in names(self.kind, call))

    @cached_property
    def arguments(self) -> list[str]:
        """The arguments that changed, those that did so most often first."""
        return [name for name, _ in self._counts.most_common()]

    def n_times(self, argument: str) -> int:
        """Return for how many of the calls an argument had changed."""
        return self._counts[argument]

    @cached_property
    def alone(self) -> list[Call]:
        """The calls that would be as an earlier one if these arguments had not changed so."""
        return [one for one in self.calls if not _others(self.kind, one)]

    @cached_property
    def others(self) -> list[str]:
        """What else differed in some of the calls, by name."""
        return sorted({name for one in self.calls for name in _others(self.kind, one)})

    @cached_property
    def taken(self) -> list[str]:
        """Arrays, or what arrays are in, that a function took from around it: not the same ones."""
        found = Counter(name for one in self.calls for name in one.cause.get("taken") or ())
        return [name for name, _ in found.most_common()]

    def example(self, argument: str) -> Difference:
        """Return how an argument changed: last of all where nothing else did, if there is that."""
        found = [
            (len(_others(self.kind, call)) + len(names(self.kind, call)) == 1, at, one)
            for at, call in enumerate(self.calls)
            for one in _ours(self.kind, call)
            if one["argument"] == argument
        ]
        return max(found, key=lambda one: one[:2])[2]

    def n_values(self, argument: str, *, with_first: bool) -> int:
        """Return how many values an argument had, those before the first change if they count."""
        sides = ("before", "now") if with_first else ("now",)
        ours = [one for call in self.calls for one in _ours(self.kind, call)]
        told = {one[side] for one in ours if one["argument"] == argument for side in sides}
        # How a shape is written has the dtype in front.
        return len({one[one.find("[") :] for one in told} if self.kind == "shape" else told)


def blamed(kind: CauseKind, calls: Sequence[Call]) -> list[Blamed]:
    """Divide calls that one kind of cause has compiled again by the arguments that changed.

    Arguments that changed in the same call stay together: they must be the same together.
    """
    if kind == "new_function":  # what it holds is not given in the call
        return [Blamed(kind, list(calls))]
    groups: list[tuple[set[str], list[Call]]] = []
    for call in calls:
        ours = set(names(kind, call))
        of_them = [call]
        apart = []
        for known, earlier in groups:
            if known & ours or not (known or ours):
                ours |= known
                of_them = [*earlier, *of_them]
            else:
                apart.append((known, earlier))
        groups = [*apart, (ours, of_them)]
    found = [Blamed(kind, sorted(of_them, key=lambda one: one.number)) for _, of_them in groups]
    return sorted(found, key=lambda one: one.calls[0].number)


def names(kind: CauseKind, call: Call) -> list[str]:
    """Return the arguments that changed in a way, in their order."""
    return list(dict.fromkeys(one["argument"] for one in _ours(kind, call)))


def _ours(kind: CauseKind, call: Call) -> Sequence[Difference]:
    if kind == "new_function":
        held: Sequence[Difference] = call.cause.get("held") or ()
        return held
    return in_guard([one for one in call.differences if one["kind"] == kind], call.guard)


def _others(kind: CauseKind, call: Call) -> set[str]:
    """Return what differed too, in another way: without this cause it is compiled all the same."""
    if call.cause["kind"] != "again":
        return set()
    ours = set(names(kind, call))
    return {
        _named(one, ours)
        for one in call.differences
        if one["kind"] != kind
        and not (one["argument"] in ours and one["kind"] in _WITH.get(kind, ()))
    }


def _named(one: Difference, ours: set[str]) -> str:
    if one["argument"] in ours:
        return f"the {one['kind'].replace('_', ' ')} of {one['argument']}"
    return one["argument"] or one["kind"]
