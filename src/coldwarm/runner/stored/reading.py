"""A stored result as every command takes it: read strictly, and computed again.

Hashes say that a file is the one that was indexed, and whoever changes a file can make them again.
So nothing that can be computed is believed: what a file says is held against what its observations
say, and the cases that are returned hold what was computed here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from coldwarm.contracts.files import reader
from coldwarm.contracts.files.codec import read_bytes
from coldwarm.contracts.files.faults import dotted, fault
from coldwarm.contracts.files.positions import line_of
from coldwarm.errors import ContractError, UsageError
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.stored import again, declared, differences, of_run
from coldwarm.runner.stored.observations import impossible, inconsistent
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.runner.stored.wrong import Wrong


_ADVICE = "it was changed after it was measured: measure again, or restore the file"
_SHOWN = 20
"""Faults of one file that are told: one alone is enough to refuse it."""


@dataclass(frozen=True)
class Checked:
    """A result that was computed again, and what is wrong with the files that it came from."""

    measured: Measured
    """With everything computed anew; as it was read where something is wrong."""
    faults: list[ContractError]


def read(path: Path) -> Measured:
    """Read a run's directory, its index, or the file of one case.

    Raises:
        UsageError: there is nothing, or nothing of that kind.
        ContractError: a file does not keep its contract, is not the one that was indexed, or says
            what its observations do not say.
    """
    checked = computed_again(reader.read(path))
    if checked.faults:
        raise checked.faults[0]
    return checked.measured


def read_run(path: Path) -> tuple[SuiteResult, list[CaseResult]]:
    """Read a run's directory, or its index: the index, and the cases in their order.

    Raises:
        UsageError: there is no run.
        ContractError: as ``read``.
    """
    measured = read(path)
    if measured.suite is None:
        text = f"{path} is the file of one case; name the directory of a run"
        raise UsageError(text)
    return measured.suite, list(measured.cases.values())


def computed_again(measured: Measured) -> Checked:
    """Compute everything again that can be, and find what is said otherwise."""
    found = [
        error_at(measured.files[name], wrong)
        for name, case in measured.cases.items()
        for wrong in islice(_by_itself(case, same=same_harness(case, measured)), _SHOWN)
    ]
    if measured.suite is not None:
        path = reader.index_path(measured)
        found += [error_at(path, wrong) for wrong in of_run.wrong(measured, measured.suite)]
    if found:
        return Checked(measured, found)
    try:
        made, wrongs = _computed(measured)
        said = [] if wrongs else _answers(measured, made)
    except (ValueError, ArithmeticError, LookupError, TypeError) as error:
        what = f"holds figures that nothing can be computed from: {error}"
        return Checked(measured, [fault(measured.path, None, None, what)])
    found = [error_at(measured.files[name], wrong) for name, wrong in wrongs]
    if found or said:
        return Checked(measured, found or said)
    return Checked(replace(measured, cases={case.case: case for case in made}), [])


def _answers(measured: Measured, made: Sequence[CaseResult]) -> list[ContractError]:
    """Hold the answers of a run against those that its cases give; of another version, nothing."""
    said, suite = measured.answers, measured.suite
    if said is None or suite is None or not all(same_harness(case, measured) for case in made):
        return []
    again = msgspec.structs.replace(said, answers=answers(made))
    path = str(Path(measured.path) / (suite.answers_path or ""))
    return [error_at(path, wrong) for wrong in islice(differences.between(said, again), _SHOWN)]


def same_harness(case: CaseResult, measured: Measured) -> bool:
    """Say whether this version measured a case, with the NumPy that draws the same numbers."""
    installed = measured.environment.distributions.get("numpy") if measured.environment else None
    same = installed in {None, np.__version__}
    return same and case.protocol.harness_sha256 == harness_sha256()


def _by_itself(case: CaseResult, *, same: bool) -> Iterator[Wrong]:
    yield from impossible(case)
    yield from differences.out_of_order(case)
    yield from declared.of_cautions(case)
    if same:
        yield from inconsistent(case)
        yield from declared.wrong(case)


def _computed(measured: Measured) -> tuple[list[CaseResult], list[tuple[str, Wrong]]]:
    """Return the cases of today, and by case where what was stored differs."""
    stored = list(measured.cases.values())
    whole = measured.suite is not None
    decided = again.with_decision(stored, measured.suite.suite) if measured.suite else stored
    sames = [same_harness(case, measured) for case in stored]
    made = [
        again.computed(case, again.judged(case), same=same)
        for case, same in zip(decided, sames, strict=True)
    ]
    made = again.compared(made) if whole else made
    as_judged = made
    if any(
        one.observations != other.observations for one, other in zip(decided, made, strict=True)
    ):
        as_judged = [again.computed(case, case.observations, same=False) for case in decided]
        as_judged = again.compared(as_judged) if whole else as_judged
    wrongs = []
    for case, today, then in zip(stored, made, as_judged, strict=True):
        if same_harness(case, measured):
            # The baseline of a case alone is not at hand, so its verdicts are left out.
            known = case if whole else differences.without_comparisons(case)
            differing = differences.of_case(known, today)
        else:
            differing = differences.of_figures(case, then)
        wrongs += [(case.case, wrong) for wrong in islice(differing, _SHOWN)]
    return made, wrongs


def error_at(path: str, wrong: Wrong) -> ContractError:
    """Return the fault with its line, where the file still has the field at its place."""
    try:
        line = line_of(read_bytes(Path(path)).decode(), wrong.at)
    except (ContractError, ValueError, LookupError):
        line = None
    return fault(path, line, dotted(wrong.at) or None, f"{wrong.what}; {_ADVICE}")
