"""A stored result as every command takes it: read strictly, and computed again.

Hashes say that a file is the one that was indexed, and whoever changes a file can make them again.
So nothing that can be computed is believed: what a file says is held against what its observations
say, and the cases that are returned hold what was computed here.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from coldwarm import __version__
from coldwarm.contracts import reader
from coldwarm.contracts.codec import read_bytes
from coldwarm.contracts.parsing import dotted, fault, line_of
from coldwarm.errors import ContractError, UsageError
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.stored import again, consistency, differences
from coldwarm.runner.stored.consistency import impossible, inconsistent
from coldwarm.runner.stored.wrong import Wrong, by_any_rules
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.answer import Answers
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult, Measured, SuiteResult


_ADVICE = "it was changed after it was measured: measure again, or restore the file"
_OTHER = "another version of coldwarm says so"
_SHOWN = 20
"""Faults of one file that are told: one alone is enough to refuse it."""


@dataclass(frozen=True)
class _Checked:
    """A result that was computed again, and what is wrong with the files that it came from."""

    measured: Measured
    """With everything computed anew, and ``otherwise`` beside it; as it was read where something is
    wrong."""
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


class Run(NamedTuple):
    """A run that was read whole."""

    suite: SuiteResult
    cases: list[CaseResult]
    """In their order."""
    otherwise: tuple[ContractError, ...]
    """As of ``Measured``."""


def read_run(path: Path) -> Run:
    """Read a run's directory, or its index.

    Raises:
        UsageError: there is no run.
        ContractError: as ``read``.
    """
    measured = read(path)
    if measured.suite is None:
        text = f"{path} is the file of one case; name the directory of a run"
        raise UsageError(text)
    return Run(measured.suite, list(measured.cases.values()), measured.otherwise)


def computed_again(measured: Measured) -> _Checked:
    """Compute everything again by the rules of today, and find what is said otherwise.

    Nothing in a result chooses how hard it is held against its observations. What differs is a
    fault, unless the result says that another version of coldwarm measured it and other rules could
    have made that: then it is told, ``otherwise``, and what was computed here stands in its place.
    """
    found = Found()
    for name, case in measured.cases.items():
        found.add(measured.files[name], _by_itself(case), same=same_harness(case))
    same = all(map(same_harness, measured.cases.values()))
    if measured.suite is not None:
        wrongs = consistency.wrong_run(measured, measured.suite)
        found.add(reader.index_path(measured), wrongs, same=same)
    if found.faults:
        return _Checked(measured, found.faults)
    try:
        made, told = _computed(measured, found), measured.answers
        if not found.faults:
            told = _answers(measured, made, found, same=same)
    except (ValueError, ArithmeticError, LookupError, TypeError) as error:
        what = f"holds figures that nothing can be computed from: {error}"
        return _Checked(measured, [fault(measured.path, None, None, what)])
    if found.faults:
        return _Checked(measured, found.faults)
    cases = {case.case: case for case in made}
    otherwise = (*measured.otherwise, *found.otherwise)
    return _Checked(replace(measured, cases=cases, answers=told, otherwise=otherwise), [])


class Found:
    """What was found out so far."""

    def __init__(self) -> None:
        """Nothing is wrong yet."""
        self.faults: list[ContractError] = []
        self.otherwise: list[ContractError] = []

    def add(self, path: str, wrongs: Iterable[Wrong], *, same: bool) -> None:
        """Add what a file says that does not follow; ``same``: it is of this version."""
        n_faults = n_otherwise = 0
        for one in wrongs:
            if not (one.always or same):
                n_otherwise += 1
                self.otherwise.append(_placed(path, one, _OTHER, n_otherwise))
            elif n_faults < _SHOWN:
                n_faults += 1
                self.faults.append(_placed(path, one, _ADVICE))


def _answers(
    measured: Measured, made: Sequence[CaseResult], found: Found, *, same: bool
) -> Answers | None:
    """Hold the answers of a run against those that its cases give, and return these."""
    said, suite = measured.answers, measured.suite
    if said is None or suite is None:
        return said
    again = msgspec.structs.replace(said, answers=answers(made))
    path = str(Path(measured.path) / (suite.answers_path or ""))
    found.add(path, differences.between(said, again), same=same)
    return again


def same_harness(case: CaseResult) -> bool:
    """Say whether a case says that this version has measured it.

    This decides what a difference is called, never whether it is looked for.
    """
    return case.protocol.harness_sha256 == harness_sha256()


def _by_itself(case: CaseResult) -> Iterator[Wrong]:
    yield from by_any_rules(impossible(case))
    yield from by_any_rules(differences.out_of_order(case))
    yield from by_any_rules(consistency.of_cautions(case))
    yield from inconsistent(case)
    yield from consistency.wrong_case(case)
    said = case.protocol.harness_version
    if same_harness(case) and said != __version__:
        what = f"says {said}, but harness_sha256 is that of {__version__}"
        yield Wrong(("protocol", "harness_version"), what)


def _computed(measured: Measured, found: Found) -> list[CaseResult]:
    """Return the cases as the rules of today make them, and find where those stored differ."""
    stored = list(measured.cases.values())
    whole = measured.suite is not None
    decided = again.with_decision(stored, measured.suite.suite) if measured.suite else stored
    made = _by_rules(decided, [again.judged(case) for case in decided], whole=whole)
    as_judged = made
    if any(
        one.observations != other.observations for one, other in zip(decided, made, strict=True)
    ):
        as_judged = _by_rules(decided, [case.observations for case in decided], whole=whole)
    for case, today, then in zip(stored, made, as_judged, strict=True):
        # The baseline of a case alone is not at hand, so its verdicts are left out.
        known = case if whole else differences.without_comparisons(case)
        wrongs = [*differences.of_case(known, today)]
        if wrongs and not same_harness(case):
            always = [one._replace(always=True) for one in differences.of_any_version(known, then)]
            places = {one.at for one in always}
            wrongs = [*always, *(one for one in wrongs if one.at not in places)]
        found.add(measured.files[case.case], wrongs, same=same_harness(case))
    return made


def _by_rules(
    cases: Sequence[CaseResult], judged: Sequence[list[Observation]], *, whole: bool
) -> list[CaseResult]:
    made = [again.computed(case, one) for case, one in zip(cases, judged, strict=True)]
    return again.compared(made) if whole else made


def _placed(path: str, wrong: Wrong, more: str, number: int = 0) -> ContractError:
    """Return it with its line, where the file still has the field and not many were looked up."""
    line = None
    if number <= _SHOWN:
        with suppress(ContractError, ValueError, LookupError):
            line = line_of(read_bytes(Path(path)).decode(), wrong.at)
    return fault(path, line, dotted(wrong.at) or None, f"{wrong.what}; {more}")
