"""A sweep of sizes as its folder has it, computed again from the samples of its benches."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts import codec, reader
from coldwarm.contracts.sweep import FILE, SizePoint, Slice, SweepReport, SweepRequest
from coldwarm.errors import UsageError
from coldwarm.runner import recompute
from coldwarm.stats import answers, sweeps
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.result import CaseResult, Measured, SuiteResult
    from coldwarm.contracts.sweep import Setting

    Fixed = Mapping[str, Setting]


def slices_of(fixed: Mapping[str, Sequence[Setting]]) -> list[dict[str, Setting]]:
    """Return every setting of what is not swept as a range, whichever was named first."""
    names = sorted(fixed)
    values = product(*(fixed[name] for name in names))
    return [dict(zip(names, one, strict=True)) for one in values]


def folder_of(out_dir: Path, fixed: Fixed) -> Path:
    """Return the folder of a slice."""
    named = ",".join(f"{name}={value}" for name, value in fixed.items())
    return out_dir / named if named else out_dir


def point_of(size: int, path: Path, suite: SuiteResult, cases: Sequence[CaseResult]) -> SizePoint:
    """Return what a bench says of its size."""
    known = [case for case in cases if case.control_of is None]
    start: dict[Any, dict[str, Any]] = {}
    for case in known:
        for mode in case.cold:
            if (seconds := mode.seconds.get("ttfr_process")) is not None:
                start.setdefault(mode.cache_mode, {})[case.candidate] = seconds
    return SizePoint(
        size=size,
        path=path.name,
        answer=answers.answer(known),
        call={case.candidate: case.warm.call_s for case in known if case.warm and case.warm.call_s},
        start=start,
        n_failed=suite.n_failed,
        wall_s=suite.wall_s,
    )


def is_sweep(folder: Path) -> bool:
    """Say whether a folder holds a sweep."""
    return (folder / FILE).is_file()


def read(folder: Path) -> SweepReport:
    """Return the report of a sweep, computed again from the samples of its benches.

    Raises:
        UsageError: there is no sweep.
        ContractError: a file does not keep its contract, or says what its observations do not.
    """
    if not is_sweep(folder):
        raise UsageError(f"{folder} holds no sweep; name the --out of a bench with --sweep")
    asked = codec.load_as(SweepRequest, folder / FILE)
    made = []
    for fixed in slices_of(asked.fixed):
        place = folder_of(folder, fixed)
        points = [*read_points(place, asked.name).values()]
        complete = sweeps.next_size(points, asked.low, asked.high, asked.goal) is None
        made.append(slice_of(place, fixed, points, complete=complete))
    return report_of(asked, folder, made)


def read_points(folder: Path, name: str) -> dict[int, SizePoint]:
    """Return what was measured to its end, by size."""
    return {
        size: point_of(size, Path(measured.path), suite, [*measured.cases.values()])
        for size, (suite, measured) in _whole(folder, name).items()
    }


def _whole(folder: Path, name: str) -> dict[int, tuple[SuiteResult, Measured]]:
    """Return the benches that came to their end, by size; of two of a size the later one."""
    named = re.compile(rf"{re.escape(name)}=([1-9]\d*)(?:-\d+)?")
    found = {}
    for place in sorted(folder.glob(f"{name}=*")):
        told = named.fullmatch(place.name)
        if told and reader.index_in(place) is not None:
            measured = recompute.read(place)
            suite = measured.suite
            if suite is not None and suite.complete and is_whole([*measured.cases.values()]):
                found[int(told[1])] = (suite, measured)
    return found


def by_size(folder: Path) -> dict[str, tuple[SuiteResult, Measured]]:
    """Return the benches of a sweep by size, such as ``n=100``, smallest first.

    Raises:
        UsageError: none of them came to its end.
        ContractError: a file does not keep its contract, or says what its observations do not.
    """
    asked = codec.load_as(SweepRequest, folder / FILE)
    found = {}
    for fixed in slices_of(asked.fixed):
        rest = "".join(f",{name}={value}" for name, value in fixed.items())
        for size, run in sorted(_whole(folder_of(folder, fixed), asked.name).items()):
            found[f"{asked.name}={size}{rest}"] = run
    if not found:
        raise UsageError(f"{folder} holds no size that was measured to its end; measure again")
    return found


def as_one(folder: Path) -> Measured:
    """Return a sweep as one result, whose cases have their sizes in their names.

    Raises:
        UsageError: no size was measured to its end.
        ContractError: a file does not keep its contract, or says what its observations do not.
    """
    runs = {size: measured for size, (_, measured) in by_size(folder).items()}
    cases, files = {}, {}
    for size, measured in runs.items():
        for name, case in measured.cases.items():
            sized = f"{name} {size}"
            cases[sized] = msgspec.structs.replace(case, case=sized)
            files[sized] = measured.files[name]
    return replace(
        next(iter(runs.values())),
        path=str(folder),
        cases=cases,
        files=files,
        answers=None,
        otherwise=tuple(one for measured in runs.values() for one in measured.otherwise),
    )


def is_whole(cases: Sequence[CaseResult]) -> bool:
    """Say whether every candidate that did not fail has its first rounds: time was not short."""
    seen = [
        one
        for case in cases
        if case.status != "failed"
        for mode in case.protocol.cache_modes
        for one in [len(counted(case.observations, mode))]
    ]
    return bool(seen) and min(seen) >= answers.FEWEST_ROUNDS


def slice_of(folder: Path, fixed: Fixed, points: Sequence[SizePoint], *, complete: bool) -> Slice:
    """Return what is known of a slice."""
    ordered = sorted(points, key=lambda one: one.size)
    known = [one.answer for one in ordered if one.answer is not None]
    names = list(dict.fromkeys(name for one in known for name in one.candidates))
    warm = any(one.call for one in ordered)
    return Slice(
        path=str(folder),
        fixed=dict(fixed),
        complete=complete,
        wall_s=sum(one.wall_s for one in ordered),
        reference=next((one.baseline for one in known if one.baseline), None),
        candidates=names,
        points=ordered,
        by_size=[sweeps.by_size(ordered, measure) for measure in sweeps.measures(ordered)],
        growth=[sweeps.growth(ordered, name) for name in names] if warm else [],
    )


def report_of(asked: SweepRequest, folder: Path, slices: Sequence[Slice]) -> SweepReport:
    """Return the report of slices that were measured."""
    return SweepReport(
        path=str(folder), name=asked.name, low=asked.low, high=asked.high, slices=list(slices)
    )
