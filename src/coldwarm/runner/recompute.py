"""A stored result as every command takes it: read strictly, and computed again.

Hashes say that a file is the one that was indexed, and whoever changes a file can make them again.
So nothing that can be computed is believed: what a file says is held against what its observations
say, by the rules of today, and the cases that are returned hold what was computed here.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace as with_changes
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from coldwarm import __version__
from coldwarm.caches import modes
from coldwarm.contracts import codec, reader
from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.bench import NoiseReport
from coldwarm.contracts.codec import dotted, line_of, load_as, read_bytes
from coldwarm.contracts.nextstat import NextstatResult, summarised
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.reader import NAME, ArtifactFinding, artifacts, check, inside
from coldwarm.contracts.reasons import because, is_wrong, together
from coldwarm.contracts.run_journal import JOURNAL, read_lines
from coldwarm.errors import ContractError, UsageError
from coldwarm.runner import consistency, ledger
from coldwarm.runner.consistency import Conflict, between
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.ledger import as_tried, killed_from_outside
from coldwarm.stats import outcome
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.answer import Answers
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Judgement
    from coldwarm.contracts.result import CaseResult, Measured, SuiteResult


def _rejudged(one: Observation, *, compiles: bool) -> Observation:
    """Return an observation with the judgements that its evidence and its blocks call for.

    One that failed, or that somebody killed, keeps what it has, which counts for nothing.
    """
    if one.status == "failed" or (one.status == "rejected" and killed_from_outside(one.reason)):
        return one
    known = set(modes.owners())
    if any(found.owner not in known for found in one.evidence):
        return one
    judged: dict[CacheMode, Judgement] = {one.cache_mode: _start(one, compiles=compiles)}
    if FILLED in one.also_modes:  # earlier versions have not judged it
        judged |= modes.judge_other(one.cache_mode, one.evidence, one.cache_settings)
    if one.blocks:
        judged[WARM] = modes.judge_blocks(one.blocks)
    against = [
        because("contradicted", judgement.reason, mode=mode)
        for mode, judgement in judged.items()
        if not judgement.proved
    ]
    refuted = not judged[one.cache_mode].proved
    return replace(
        one,
        also_modes=[mode for mode in judged if mode != one.cache_mode],
        status="rejected" if refuted else "ok",
        reason=together(against) if refuted else None,
        judgements={str(mode): judgement for mode, judgement in judged.items()},
    )


def _start(one: Observation, *, compiles: bool) -> Judgement:
    """Return the judgement of a start. What moved a cache was seen in the process alone."""
    told = one.judgements.get(one.cache_mode)
    if told is not None and told.reason.code == "caches_moved" and not told.proved:
        return told
    return modes.judge(
        one.cache_mode, one.evidence, compiles=compiles, cache_settings=one.cache_settings
    )


def judged(case: CaseResult) -> list[Observation]:
    """Return a case's observations, judged again where it is known how.

    Of a wrong answer nothing is left that could be judged.
    """
    if is_wrong(case.reason):
        return case.observations
    declared = case.protocol.compiles
    if declared is not None:
        return [_rejudged(one, compiles=declared) for one in case.observations]
    # It is not recorded what was asked of a start: what explains what was judged.
    ways = [
        [_rejudged(one, compiles=compiles) for one in case.observations]
        for compiles in (True, False)
    ]
    return min(ways, key=lambda way: _n_differing(way, case.observations))


def _n_differing(ours: Iterable[Observation], theirs: Iterable[Observation]) -> int:
    return sum(one.status != other.status for one, other in zip(ours, theirs, strict=True))


def computed(case: CaseResult, observations: Sequence[Observation]) -> CaseResult:
    """Return a case with what its observations say; comparisons are left to ``compared``."""
    status, reason = case.status, case.reason
    if observations:
        status, reason = outcome.status_of(observations, case.protocol.cache_modes)
    made = outcome.summary_of(observations, reason, case.protocol, case.inspected_call_s)
    return replace(
        case,
        status=status,
        reason=reason,
        cold=made.cold,
        warm=made.warm,
        warnings=made.warnings,
        comparisons=[],
        counts=made.counts,
        filled_by=[]
        if is_wrong(reason)
        else ledger.filled_by(observations, on_request=any(one.code for one in case.filled_by)),
        observations=list(observations),
    )


def compared(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Return the cases of a run, each compared with the baseline of its group."""
    decided = {case.protocol.effort.decide for case in cases}
    return outcome.with_comparisons(cases, decided.pop() if len(decided) == 1 else None)


_ADVICE = "it was changed after it was measured: measure again, or restore the file"
_OTHER = "another version of coldwarm says so"
_SHOWN = 20
"""Faults of one file that are told: one alone is enough to refuse it."""


def read(path: Path) -> Measured:
    """Read a run's directory, its index, or the file of one case.

    Raises:
        UsageError: there is nothing, or nothing of that kind.
        ContractError: a file does not keep its contract, is not the one that was indexed, or says
            what its observations do not say.
    """
    measured, faults = _computed_again(reader.read(path))
    for error in faults:
        raise error
    return measured


class _Run(NamedTuple):
    """A run that was read whole."""

    suite: SuiteResult
    cases: list[CaseResult]
    """In their order."""
    otherwise: tuple[ContractError, ...]
    """As of ``Measured``."""


def read_run(path: Path) -> _Run:
    """Read a run's directory, or its index.

    Raises:
        UsageError: there is no run.
        ContractError: as ``read``.
    """
    measured = read(path)
    if measured.suite is None:
        text = f"{path} is the file of one case; name the directory of a run"
        raise UsageError(text)
    return _Run(measured.suite, list(measured.cases.values()), measured.otherwise)


def _computed_again(measured: Measured) -> tuple[Measured, list[ContractError]]:
    """Return a result with everything computed again by the rules of today, and its faults.

    Nothing in a result chooses how hard it is held against its observations. What differs is a
    fault, unless the result says that another version of coldwarm measured it and other rules could
    have made that: then it is told, ``otherwise``, and what was computed here stands in its place.
    Where there is a fault, the result is as it was read.
    """
    found = StoredFaults()
    for name, case in measured.cases.items():
        found.add(measured.files[name], _by_itself(case), same=same_harness(case))
    same = all(map(same_harness, measured.cases.values()))
    if measured.suite is not None:
        wrongs = consistency.wrong_run(measured, measured.suite)
        found.add(reader.index_path(measured), wrongs, same=same)
    if found.faults:
        return measured, found.faults
    try:
        made, told = _computed(measured, found), measured.answers
        if not found.faults:
            told = _answers(measured, made, found, same=same)
    except (ValueError, ArithmeticError, LookupError, TypeError) as error:
        what = f"holds figures that nothing can be computed from: {error}"
        return measured, [ContractError(measured.path, what)]
    if found.faults:
        return measured, found.faults
    cases = {case.case: case for case in made}
    otherwise = (*measured.otherwise, *found.otherwise)
    return with_changes(measured, cases=cases, answers=told, otherwise=otherwise), []


class StoredFaults:
    """Faults of stored files, and differences that another version explains."""

    def __init__(self) -> None:
        """Nothing is wrong yet."""
        self.faults: list[ContractError] = []
        self.otherwise: list[ContractError] = []

    def add(self, path: str, wrongs: Iterable[Conflict], *, same: bool) -> None:
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
    measured: Measured, made: Sequence[CaseResult], found: StoredFaults, *, same: bool
) -> Answers | None:
    """Hold the answers of a run against those that its cases give, and return these."""
    said, suite = measured.answers, measured.suite
    if said is None or suite is None:
        return said
    again = msgspec.structs.replace(said, answers=answers(made))
    path = str(Path(measured.path) / (suite.answers_path or ""))
    found.add(path, between(said, again), same=same)
    return again


def same_harness(case: CaseResult) -> bool:
    """Say whether a case says that this version has measured it.

    This decides what a difference is called, never whether it is looked for.
    """
    return case.protocol.harness_sha256 == harness_sha256()


def _by_itself(case: CaseResult) -> Iterator[Conflict]:
    yield from consistency.wrong_case(case)
    said = case.protocol.harness_version
    if same_harness(case) and said != __version__:
        what = f"says {said}, but harness_sha256 is that of {__version__}"
        yield Conflict(("protocol", "harness_version"), what)


def _computed(measured: Measured, found: StoredFaults) -> list[CaseResult]:
    """Return the cases as the rules of today make them, and find where those stored differ."""
    stored = list(measured.cases.values())
    whole = measured.suite is not None
    made = _by_rules(stored, [judged(case) for case in stored], whole=whole)
    as_judged = made
    if any(one.observations != other.observations for one, other in zip(stored, made, strict=True)):
        as_judged = _by_rules(stored, [case.observations for case in stored], whole=whole)
    for case, today, then in zip(stored, made, as_judged, strict=True):
        # The baseline of a case alone is not at hand, so its verdicts are left out.
        known = case if whole else replace(case, comparisons=[])
        same = same_harness(case)
        wrongs = consistency.differences(known, today, then, same=same)
        found.add(measured.files[case.case], wrongs, same=same)
    return made


def _by_rules(
    cases: Sequence[CaseResult], judged: Sequence[list[Observation]], *, whole: bool
) -> list[CaseResult]:
    made = [computed(case, one) for case, one in zip(cases, judged, strict=True)]
    return compared(made) if whole else made


def _placed(path: str, wrong: Conflict, more: str, number: int = 0) -> ContractError:
    """Return it with its line, where the file still has the field and not many were looked up."""
    line = None
    if number <= _SHOWN:
        with suppress(ContractError, ValueError, LookupError):
            line = line_of(read_bytes(Path(path)).decode(), wrong.at)
    return ContractError(path, f"{wrong.what}; {more}", line=line, field=dotted(wrong.at) or None)


class Examined(NamedTuple):
    """A result of which all was checked that can be."""

    stored: Measured | None
    """As it lies there; ``None``: its contracts themselves say what is wrong."""
    measured: Measured | None
    """With everything computed anew."""
    faults: list[ContractError]


def validated(path: Path) -> Iterator[ArtifactFinding]:
    """Check a file, the folder of a run, or every artifact below any other folder."""
    found = []
    for result in _results(path):
        # Of what is no result, the contracts themselves say what is wrong.
        with suppress(ContractError, UsageError):
            found.append(_held(reader.read(result)))
    yield from _findings(path, found)


def examine(path: Path) -> Examined:
    """Read the directory of a run, and find every fault that ``validated`` finds.

    Raises:
        UsageError: there is no run.
    """
    try:
        stored = reader.read(path)
    except ContractError as error:
        faults = [one.error for one in check(path) if one.error is not None]
        return Examined(None, None, faults or [error])
    measured, wrong = _held(stored)
    findings = [*_findings(path, [(measured, wrong)])]
    otherwise = tuple(one for finding in findings for one in finding.otherwise)
    faults = [one.error for one in findings if one.error is not None]
    return Examined(stored, with_changes(measured, otherwise=otherwise), faults)


def read_whole(path: Path) -> Measured:
    """Read the directory of a run as ``read`` does, once all is checked that can be.

    Raises:
        UsageError: there is no run.
        ContractError: the first fault that ``validated`` finds.
    """
    _, measured, faults = examine(path)
    if measured is None or faults:
        raise faults[0]
    return measured


def _findings(
    path: Path, found: Iterable[tuple[Measured, list[ContractError]]]
) -> Iterator[ArtifactFinding]:
    """Yield the state of each artifact in a place, by its contract and by what was computed."""
    wrong: dict[str, list[ContractError]] = {}
    otherwise: dict[str, list[ContractError]] = {}
    for measured, faults in found:
        for errors, by_file in ((faults, wrong), (measured.otherwise, otherwise)):
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
            yield ArtifactFinding(file, "", str(error), error=error)


def _results(path: Path) -> list[Path]:
    """Return what can be computed again in a place: runs, or cases alone."""
    if not path.is_dir():
        return [path] if path.suffix == ".json" else []
    files = artifacts(path)
    runs = [file for file in files if file.name == NAME]
    return runs or [file for file in files if file.suffix == ".json"]


def _held(stored: Measured) -> tuple[Measured, list[ContractError]]:
    """Return a result computed again, and its faults with those of what lies beside its cases.

    That is published results, and the journal.
    """
    measured, faults = _computed_again(stored)
    if faults or stored.suite is None:
        return measured, faults
    found = StoredFaults()
    for case in stored.cases.values():
        for path, wrongs in _published(case, stored):
            found.add(path, wrongs, same=same_harness(case))
    for path, case, wrongs in _journalled(stored):
        found.add(path, wrongs, same=same_harness(case))
    otherwise = (*measured.otherwise, *found.otherwise)
    return with_changes(measured, otherwise=otherwise), found.faults


def _published(case: CaseResult, measured: Measured) -> Iterator[tuple[str, list[Conflict]]]:
    """Hold the published results of a case against those that it makes."""
    if measured.environment is None:
        return
    for name, made in outcome.published_of(case, measured.environment):
        try:
            file = inside(Path(measured.path) / "nextstat", f"{name}.json")
            stored = load_as(NextstatResult, file)
        except ContractError:
            continue  # the index of published results says what is wrong
        # What it sums up are the numbers that it lists, whoever wrote it.
        by_itself = [one._replace(always=True) for one in between(stored, summarised(stored))]
        yield str(file), by_itself or list(between(stored, made))


def _journalled(measured: Measured) -> Iterator[tuple[str, CaseResult, list[Conflict]]]:
    """Hold the observations of each case against the journal, where that is whole."""
    try:
        entries, faults = read_lines(inside(Path(measured.path), JOURNAL))
    except ContractError:
        return  # there is none, or one of a later version, of which the contracts say so
    if faults:
        return
    told: dict[str, dict[tuple[str, int, int], Observation]] = {}
    for entry in entries:
        one = entry.record
        if isinstance(one, Observation):
            # A resumed run holds a process that was killed as tried, and not as failed.
            told.setdefault(one.case, {})[one.cache_mode, one.round, one.attempt] = as_tried(one)
    for name, case in measured.cases.items():
        yield measured.files[name], case, list(_as_told(case, told.get(name, {})))


def _as_told(case: CaseResult, told: dict[tuple[str, int, int], Observation]) -> Iterator[Conflict]:
    kept = {(one.cache_mode, one.round, one.attempt): as_tried(one) for one in case.observations}
    if is_wrong(case.reason):
        told = {key: outcome.without_timing(one) for key, one in told.items()}
    for key in told.keys() | kept.keys():
        mode, round_, attempt = key
        where = f"{mode}, round {round_}, attempt {attempt}"
        if key not in told or key not in kept:
            side = "the journal" if key not in told else "it"
            what = f"{side} lacks the process of {where}, which the other has"
            yield Conflict(("observations",), what)
        elif not codec.same_apart_from_masks(
            *(msgspec.to_builtins(one[key]) for one in (told, kept))
        ):
            what = f"the process of {where} is not what the journal says of it"
            yield Conflict(("observations",), what)


_NOISE = "noise.json"
_USUAL = Path("out")


def keep_noise(report: NoiseReport, folder: Path) -> Path:
    """Write a report where ``read`` finds it; return the path.

    Raises:
        UsageError: it cannot be written.
    """
    path = folder / _NOISE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(codec.encode(report))
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise UsageError(message) from None
    return path


def read_noise(named: Sequence[Path] | None, beside: Sequence[Path]) -> list[NoiseReport]:
    """Return the reports named, or where none is those in these folders and in ``out``.

    Raises:
        ContractError: a report that was named does not keep its contract.
        UsageError: there is none.
    """
    if named is not None:
        return [codec.load_as(NoiseReport, path) for path in named]
    places = {path.resolve() for path in (*beside, _USUAL)}
    found = []
    for path in sorted(path for place in places for path in place.glob(f"noise-*/{_NOISE}")):
        try:
            found.append(codec.load_as(NoiseReport, path))
        except ContractError:  # of another version: it is no part of what was asked for
            continue
    return found
