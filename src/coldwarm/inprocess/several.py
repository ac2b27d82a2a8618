"""Several functions at once: one interleaved bench of them all in fresh processes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coldwarm.clock import TIME
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import UsageError
from coldwarm.functions import values
from coldwarm.inprocess import carrying, sending
from coldwarm.inprocess.sending import BY_NAME_ALONE
from coldwarm.report.progress import open_progress
from coldwarm.report.sentences import with_advice
from coldwarm.report.shown import PlainConsole
from coldwarm.runner import suite
from coldwarm.runner.functions import candidates, inspection, request, targets
from coldwarm.runner.functions.inspection import Setting
from coldwarm.runner.spawn import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from coldwarm.inprocess.sending import FreshOptions, Given, Way
    from coldwarm.runner.cases import Case
    from coldwarm.runner.functions.targets import Target
    from coldwarm.runner.replies import Inspection
    from coldwarm.runner.suite import Outcome

_FEWEST = 2


@dataclass(frozen=True)
class _Inspected:
    """A candidate as it is measured, and what its inspection has found."""

    target: Target
    setting: Setting
    found: tuple[Inspection, float]


def named(functions: Mapping[str, Any] | Iterable[Any]) -> dict[str, Callable[..., Any]]:
    """Return functions by the names of candidates: those given, or their own.

    Raises:
        UsageError: there are not two, one cannot be called, or two have one name.
    """
    given: list[tuple[str, Any]]
    if isinstance(functions, Mapping):
        given = list(functions.items())
    else:
        given = [(_name(one), one) for one in functions]
    names = [str(name) for name, _ in given]
    if len(given) < _FEWEST:
        raise UsageError("give two functions or more in a list; one stands alone: bench(f, x)")
    wrong = next((one for _, one in given if not callable(one)), None)
    if wrong is not None:
        text = f"a {type(wrong).__name__} among the functions cannot be called; give functions,"
        raise UsageError(f"{text} and then their arguments: coldwarm.bench([f, g], x)")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        text = f"two functions are called {twice!r}; name them: coldwarm.bench("
        raise UsageError(f"{text}{{'{twice}': …, 'another': …}}, …)")
    return dict(zip(names, (one for _, one in given), strict=True))


def _name(function: object) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).rpartition(".<locals>.")[2]


def measure(
    given: Mapping[str, Given], options: FreshOptions, work: Path, *, cold: bool
) -> Outcome:
    """Measure functions with the same arguments, interleaved, the first one as the reference.

    Raises:
        UsageError: one of them cannot be had in fresh processes, or does not run there.
        KeyboardInterrupt: it was interrupted; its processes are gone.
    """
    began_s = TIME.perf_counter()
    digest = values.digest(list(next(iter(given.values())).call.flat))
    if sys.platform != "linux":
        raise UsageError(with_advice(because("needs_linux", platform=sys.platform)))
    with ExitStack() as stack:
        guard = stack.enter_context(Guard())
        ways = _ways(given, work)
        progress = stack.enter_context(
            open_progress(PlainConsole(stderr=True, quiet=not sys.stderr.isatty()))
        )
        progress.note(because("inspecting", candidate_names=list(ways)))
        try:
            inspected = [_inspect(one, digest, options, guard, work) for one in ways.values()]
            first, seen = inspected[0], [(one.target, one.found[0]) for one in inspected]
            inspection.tell_noise(seen, first.target, first.setting, guard, work)
            cases = _cases(inspected, work)
        except RefusedError as error:
            raise UsageError(with_advice(error.reason)) from error
        outcome = suite.run(
            request.options(
                cold=cold,
                warm=options.warm,
                time_budget_s=options.time_budget_s,
                min_runs=options.processes,
                timeout_s=options.timeout_s,
            ),
            options.out_dir or work / "out",
            listener=progress,
            cases=cases,
            spent_s=TIME.perf_counter() - began_s,
        )
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome


def _ways(given: Mapping[str, Given], work: Path) -> dict[str, list[Way]]:
    """Return by label the ways to have each function in a fresh process."""
    labels = [one.label for one in targets.labelled([_placeholder(name) for name in given])]
    found = {}
    for label, one in zip(labels, given.values(), strict=True):
        folder = work / f"of-{label}"
        folder.mkdir()
        try:
            ways = sending.ways(one, folder)
        except carrying.NotCarriedError as error:
            raise UsageError(f"{label}: {with_advice(error.reason)}") from error
        found[label] = [replace(way, target=replace(way.target, label=label)) for way in ways]
    return found


def _placeholder(label: str) -> Target:
    return targets.Target(label, "", None, label)


def _inspect(
    ways: Sequence[Way],
    arguments_sha256: str,
    options: FreshOptions,
    guard: Guard,
    work: Path,
) -> _Inspected:
    """Inspect a function in the first way that works.

    Raises:
        RefusedError: none does.
    """
    for number, way in enumerate(ways, 1):
        setting = Setting(
            name="bench",
            inputs=(),
            placement=None,
            check=True,
            tolerance=options.tolerance,
            sync=way.sync,
            threads=None,
            seed=0,
            timeout_s=options.timeout_s,
            arguments=str(way.folder),
        )
        try:
            return _inspected(way, arguments_sha256, setting, guard, work)
        except RefusedError as error:
            if error.reason.code not in BY_NAME_ALONE or number == len(ways):
                raise
    raise AssertionError


def _inspected(
    way: Way, arguments_sha256: str, setting: Setting, guard: Guard, work: Path
) -> _Inspected:
    (found,) = inspection.inspect([way.target], setting, guard, work)
    inspection.refuse_own_caches([way.target], [found])
    # A pickle says itself what it holds.
    if not way.target.carried and found[0].input_sha256 != arguments_sha256:
        raise RefusedError(because("other_arguments"))
    return _Inspected(way.target, setting, found)


def _cases(inspected: Sequence[_Inspected], work: Path) -> list[Case]:
    """Return the candidates as cases; each has its arguments from a folder of its own."""
    found = [one.target for one in inspected]
    seen = [one.found for one in inspected]
    reference = found[0].label
    return [
        candidates.cases(found, seen, reference, one.setting, work)[place]
        for place, one in enumerate(inspected)
    ]
