"""Measures functions of the user's own side by side, on the engine that measures a suite."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts.base import CacheMode  # noqa: TC001 - names a constant's type
from coldwarm.errors import UsageError
from coldwarm.registry import unknown
from coldwarm.runner import own, suite, targets
from coldwarm.runner.guarded import Guard
from coldwarm.runner.own import Setting
from coldwarm.runner.plan import Options
from coldwarm.runner.revisions import checked_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.runner.listener import Listener
    from coldwarm.runner.suite import Outcome
    from coldwarm.runner.targets import Target

MIN_RUNS, MAX_RUNS = 3, 12
MOST_RUNS = 200
"""Processes of each mode where a budget bounds them."""
BLOCK_S, BLOCKS = 0.02, 24
"""Warm calls alternate in short blocks: a neighbour's burst then falls on both sides."""
THRESHOLD = 0.02
COLD: tuple[CacheMode, ...] = ("cold_process_cold_cache", "cold_process_warm_cache")


def options(  # noqa: PLR0913 - each is one choice of the user's
    *,
    cold: bool = True,
    warm: bool = True,
    time_budget_s: float | None = None,
    min_runs: int | None = None,
    max_runs: int | None = None,
    threshold: float = THRESHOLD,
    seed: int = 0,
    threads: int | None = None,
    timeout_s: float = 300.0,
) -> Options:
    """Return the options of a run that stops when its verdicts are settled."""
    modes: tuple[CacheMode, ...] = COLD if cold else ()
    most = max_runs or (MAX_RUNS if time_budget_s is None else MOST_RUNS)
    fewest = min(min_runs or MIN_RUNS, most)
    return Options(
        suite="bench",
        cache_modes=(*modes, "warm_process") if warm else modes,
        seed=seed,
        threads=threads,
        min_runs=fewest,
        max_runs=max(most, fewest),
        time_budget_s=time_budget_s,
        timeout_s=timeout_s,
        block_s=BLOCK_S,
        blocks=BLOCKS,
        decide=threshold,
    )


@dataclass(frozen=True)
class Request:
    """What a bench was asked for."""

    targets: Sequence[str]
    inputs: Sequence[str] = ()
    placement: str | None = None
    reference: str | None = None
    """A label; ``None``: the first candidate's."""
    check: bool = True
    tolerance: float | None = None
    pythons: Sequence[str] = ()
    variables: Sequence[str] = ()
    before: str | None = None
    after: str | None = None
    name: str = "bench"
    options: Options = field(default_factory=options)


def run(request: Request, out_dir: Path, *, listener: Listener | None = None) -> Outcome:
    """Look at every candidate, then measure them interleaved.

    Raises:
        UsageError: a candidate, an input or a commit is not what it should be.
        RunDirectoryError: the directory cannot be used.
        StorageError: a file could not be written.
    """
    began_s = time.perf_counter()
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="coldwarm-")))
        guard = stack.enter_context(Guard())
        named = [targets.parse(text) for text in request.targets]
        setting = _setting(request)
        named, setting, reference = _marked(named, setting, request, guard)
        found = targets.labelled(named)
        if request.before is not None or request.after is not None:
            before = request.before or "HEAD"
            found = stack.enter_context(checked_out(found, before, request.after, work))
        found = targets.with_pythons(found, request.pythons)
        found = targets.with_variables(found, request.variables)
        chosen = _reference(found, request.reference or reference)
        if listener is not None:
            names = ", ".join(target.label for target in found)
            listener.note(f"looking at {names}: each is called twice, and its answer kept")
        seen = own.look(found, setting, guard, work)
        cases = own.cases(found, seen, chosen, setting, work)
        asked = request.options
        if len(cases) == 1:  # there is no verdict to settle
            asked = replace(asked, decide=None)
        spent_s = time.perf_counter() - began_s
        return suite.run(asked, out_dir, listener=listener, cases=cases, spent_s=spent_s)


def _setting(request: Request) -> Setting:
    return Setting(
        name=request.name,
        inputs=[targets.parse_input(text) for text in request.inputs],
        placement=request.placement,
        check=request.check,
        tolerance=request.tolerance,
        threads=request.options.threads,
        seed=request.options.seed,
        timeout_s=request.options.timeout_s,
    )


def _marked(
    named: Sequence[Target], setting: Setting, request: Request, guard: Guard
) -> tuple[list[Target], Setting, str | None]:
    """Put the functions that a file marks in the place of a target that names only the file."""
    found: list[Target] = []
    reference = None
    for target in named:
        if target.name:
            found.append(target)
            continue
        marks = own.ask("marked", target, setting, guard)["marked"]
        if not marks:
            text = f"{target.path} marks no function; name one: {target.path}:NAME, or put"
            raise UsageError(f"{text} @coldwarm.workload above it")
        if not request.inputs:
            setting = _inputs_of(marks, setting, target)
        for mark in marks:
            found.append(replace(target, name=mark["name"]))
            if mark["reference"]:
                reference = mark["name"]
            if mark["tolerance"] is not None and request.tolerance is None:
                setting = replace(setting, tolerance=mark["tolerance"])
    return found, setting, reference


def _inputs_of(
    marks: Sequence[Mapping[str, dict[str, str]]], setting: Setting, target: Target
) -> Setting:
    """Take the inputs that the marks give; those that give any must agree."""
    given = [mark["inputs"] for mark in marks if mark["inputs"]]
    if any(other != given[0] for other in given):
        text = f"{target.path} marks functions with different inputs; they are to do one job"
        raise UsageError(text)
    pairs = given[0].items() if given else ()
    return replace(setting, inputs=[targets.parse_input(f"{name}={what}") for name, what in pairs])


def _reference(found: Sequence[Target], asked: str | None) -> str:
    labels = [target.label for target in found]
    if asked is not None and asked not in labels:
        raise unknown("candidate", asked, labels)
    return asked or labels[0]


def labels(outcome: Outcome) -> Iterator[str]:
    """Yield the labels of a bench's candidates, in the order they were given."""
    return (case.case for case in outcome.cases)
