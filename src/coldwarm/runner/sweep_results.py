"""A sweep of sizes as its folder has it, computed again from the samples of its benches."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any

from coldwarm.contracts import codec, reader
from coldwarm.contracts.sweep import FILE, SizePoint, Slice, SweepReport, SweepRequest
from coldwarm.errors import UsageError
from coldwarm.runner import recompute
from coldwarm.stats import answers, sweeps
from coldwarm.stats.ratio import FEWEST_FOR_FAR
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.result import CaseResult, SuiteResult
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
    """Return what was measured to its end, by size; of two of a size the later one."""
    named = re.compile(rf"{re.escape(name)}=([1-9]\d*)(?:-\d+)?")
    found = {}
    for place in sorted(folder.glob(f"{name}=*")):
        told = named.fullmatch(place.name)
        if told and reader.index_in(place) is not None:
            run = recompute.read_run(place)
            if run.suite.complete and is_whole(run.cases):
                found[int(told[1])] = point_of(int(told[1]), place, run.suite, run.cases)
    return found


def is_whole(cases: Sequence[CaseResult]) -> bool:
    """Say whether every candidate that did not fail has its first rounds: time was not short."""
    seen = [
        one
        for case in cases
        if case.status != "failed"
        for mode in case.protocol.cache_modes
        for one in [len(counted(case.observations, mode))]
    ]
    return bool(seen) and min(seen) >= FEWEST_FOR_FAR


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
