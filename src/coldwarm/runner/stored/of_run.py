"""What cannot be true of the cases of one run together, and of its index. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.runner.stored.wrong import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.result import CaseResult, SuiteResult


def wrong(measured: Measured, suite: SuiteResult) -> Iterator[Wrong]:
    """Yield what is wrong with the index of a run, seen from its cases."""
    ended = suite.finished_at is not None
    if suite.complete != ended:
        what = f"says {suite.complete}, but finished_at says otherwise"
        yield Wrong(("complete",), what, always=suite.complete)
    if measured.answers is None:
        yield Wrong(("answers_path",), "is missing, and this version writes its answers")
    if suite.answers:
        yield Wrong(("answers",), "stand in the index, and not in a file of their own", always=True)
    groups: dict[str, list[CaseResult]] = {}
    for case in measured.cases.values():
        groups.setdefault(case.group, []).append(case)
    for group, cases in groups.items():
        baselines = [case.case for case in cases if case.baseline]
        own = any(case.protocol.own is not None for case in cases)
        if len(baselines) > 1 or (own and not baselines):
            what = f"have {', '.join(baselines) or 'none'} as the baseline of {group}; there is one"
            yield Wrong(("cases",), what, always=True)
    for place, case in enumerate(measured.cases.values()):
        for name in ("seed", "deterministic"):
            said, held = getattr(suite, name), getattr(case.protocol, name)
            if said != held:
                yield Wrong((name,), f"says {said}, but the protocol of {case.case} says {held}")
        yield from _places(place, case, suite.order)


def _places(place: int, case: CaseResult, order: list[str]) -> Iterator[Wrong]:
    """Hold the places of a case's processes and blocks against the order of the run."""
    held = {made.order: f"{made.case} make" for made in case.made}
    for one in case.observations:
        if one.status != "failed":
            held[one.order] = f"{one.case} {one.cache_mode} round {one.round}"
            held |= dict.fromkeys((block.order for block in one.blocks), f"{one.case} block")
    for number, name in sorted(held.items()):
        said = order[number] if number < len(order) else "nothing"
        if said != name:
            what = f"says {said!r} at place {number}, where cases[{place}] has {name!r}"
            yield Wrong(("order",), what)
            return
