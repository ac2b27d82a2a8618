"""Whether artifacts keep their contracts, and say nothing that their observations do not say."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts import reader
from coldwarm.contracts.codec import load_as
from coldwarm.contracts.journal import JOURNAL, read_lines
from coldwarm.contracts.nextstat import NextstatResult
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.reader import NAME, Finding, OutsideError, artifacts, check, inside
from coldwarm.contracts.reasons import is_wrong
from coldwarm.errors import ContractError, UsageError
from coldwarm.runner.schedule.killed import tried
from coldwarm.runner.stored import consistency, differences, reading
from coldwarm.runner.stored.reading import Found
from coldwarm.runner.stored.wrong import Wrong, by_any_rules
from coldwarm.stats import outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.result import CaseResult, Measured


def validated(path: Path) -> Iterator[Finding]:
    """Check a file, the folder of a run, or every artifact below any other folder."""
    wrong: dict[str, list[ContractError]] = {}
    otherwise: dict[str, list[ContractError]] = {}
    for result in _results(path):
        found = _found(result)
        for errors, by_file in ((found.faults, wrong), (found.otherwise, otherwise)):
            for error in errors:
                by_file.setdefault(error.path, []).append(error)
    for finding in check(path):
        errors = wrong.pop(finding.path, []) if finding.fault is None else []
        for error in errors:
            yield finding._replace(fault=str(error), error=error)
        if not errors:
            wrong.pop(finding.path, None)
            yield finding._replace(otherwise=tuple(otherwise.get(finding.path, ())))
    for file, errors in wrong.items():
        for error in errors:
            yield Finding(file, "", str(error), error=error)


def read_whole(path: Path) -> Measured:
    """Read the directory of a run as ``reading.read`` does, once all is checked that can be.

    Raises:
        UsageError: there is no run.
        ContractError: the first fault that ``validated`` finds.
    """
    stored = reader.read(path)
    checked = reading.computed_again(stored)
    found = beside(stored)
    for error in chain(checked.faults, found.faults):
        raise error
    for finding in check(path):
        if finding.error is not None:
            raise finding.error
    measured = checked.measured
    return replace(measured, otherwise=(*measured.otherwise, *found.otherwise))


def _results(path: Path) -> list[Path]:
    """Return what can be computed again in a place: runs, or cases alone."""
    if not path.is_dir():
        return [path] if path.suffix == ".json" else []
    files = artifacts(path)
    runs = [file for file in files if file.name == NAME]
    return runs or [file for file in files if file.suffix == ".json"]


def _found(path: Path) -> Found:
    try:
        measured = reader.read(path)
    except (ContractError, UsageError):
        return Found()  # no result, or one of which the contracts themselves say what is wrong
    checked = reading.computed_again(measured)
    found = Found() if checked.faults or measured.suite is None else beside(measured)
    found.faults += checked.faults
    found.otherwise += checked.measured.otherwise
    return found


def beside(measured: Measured) -> Found:
    """Hold what lies beside the cases of a run against them: published results, and the journal."""
    found = Found()
    for case in measured.cases.values():
        for path, wrongs in _published(case, measured):
            found.add(path, wrongs, same=reading.same_harness(case))
    for path, case, wrongs in _journalled(measured):
        found.add(path, wrongs, same=reading.same_harness(case))
    return found


def _published(case: CaseResult, measured: Measured) -> Iterator[tuple[str, list[Wrong]]]:
    """Hold the published results of a case against those that it makes."""
    if measured.environment is None:
        return
    for name, made in outcome.published_of(case, measured.environment):
        try:
            file = inside(Path(measured.path) / "nextstat", f"{name}.json")
            stored = load_as(NextstatResult, file)
        except (OutsideError, ContractError):
            continue  # the index of published results says what is wrong
        by_itself = list(by_any_rules(consistency.wrong_published(stored)))
        yield str(file), by_itself or list(differences.between(stored, made))


def _journalled(measured: Measured) -> Iterator[tuple[str, CaseResult, list[Wrong]]]:
    """Hold the observations of each case against the journal, where that is whole."""
    try:
        path = inside(Path(measured.path), JOURNAL)
    except OutsideError:
        return  # without one, there is nothing to hold them against
    try:
        entries, faults = read_lines(path)
    except ContractError:
        return  # a line of a later version, of which the contracts say so
    if faults:
        return
    told: dict[str, dict[tuple[str, int, int], Observation]] = {}
    for entry in entries:
        one = entry.record
        if isinstance(one, Observation):
            # A resumed run holds a process that was killed as tried, and not as failed.
            told.setdefault(one.case, {})[one.cache_mode, one.round, one.attempt] = tried(one)
    for name, case in measured.cases.items():
        yield measured.files[name], case, list(_as_told(case, told.get(name, {})))


def _as_told(case: CaseResult, told: dict[tuple[str, int, int], Observation]) -> Iterator[Wrong]:
    kept = {(one.cache_mode, one.round, one.attempt): tried(one) for one in case.observations}
    if is_wrong(case.reason):
        told = {key: outcome.without_timing(one) for key, one in told.items()}
    for key in told.keys() | kept.keys():
        mode, round_, attempt = key
        where = f"{mode}, round {round_}, attempt {attempt}"
        if key not in told or key not in kept:
            side = "the journal" if key not in told else "it"
            what = f"{side} lacks the process of {where}, which the other has"
            yield Wrong(("observations",), what)
        elif not differences.same_apart_from_masks(
            *(msgspec.to_builtins(one[key]) for one in (told, kept))
        ):
            what = f"the process of {where} is not what the journal says of it"
            yield Wrong(("observations",), what)
