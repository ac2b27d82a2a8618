"""Stored results of patterns and claims: read, and judged again from the runs beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.catalogue import verdict
from coldwarm.catalogue.spec import specs
from coldwarm.contracts import codec, reader
from coldwarm.contracts.catalogue import (
    INDEXES,
    PATTERNS_OF_CLAIMS,
    RECORDS,
    ClaimResult,
    NotJudged,
    PatternResult,
)
from coldwarm.contracts.reader import NAME, inside
from coldwarm.contracts.reasons import because
from coldwarm.errors import ContractError, UsageError
from coldwarm.runner import recompute
from coldwarm.runner.consistency import Conflict, between
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.recompute import StoredFaults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from coldwarm.catalogue.spec import Spec
    from coldwarm.contracts.catalogue import Kind, Result, Results
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import Measured

    Runs = Mapping[str, Measured]
    """By their folder, below that of the results."""


_NO_RULE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)
"""Errors that rules and their evidence raise where the one is not made for the other."""


@dataclass(frozen=True)
class Stored:
    """Results as they were stored, and where they lie."""

    folder: Path
    kind: Kind
    index: Results

    @property
    def path(self) -> str:
        """The file of the index, for messages."""
        return str(self.folder / INDEXES[self.kind])

    @property
    def pointed(self) -> list[str]:
        """The folders of the runs that the figures are from, below this one, each once."""
        own = [path for one in self.index.results for path in _paths(one)]
        return list(dict.fromkeys(own))

    @cached_property
    def runs(self) -> dict[str, Measured]:
        """The runs with everything computed again.

        Raises:
            UsageError: a run is not there.
            ContractError: a file does not keep its contract, or says what its observations do not
                say.
        """
        return {path: recompute.read(self.index_of(path)) for path in self.pointed}

    @cached_property
    def as_stored(self) -> dict[str, Measured]:
        """The same as they lie there.

        Raises:
            UsageError: as ``runs``.
            ContractError: as ``runs``.
        """
        return {path: reader.read(self.index_of(path)) for path in self.pointed}

    @property
    def same_version(self) -> bool:
        """Whether all of it says that this version has measured it."""
        ours = self.index.harness_sha256 == harness_sha256()
        cases = (case for run in self.runs.values() for case in run.cases.values())
        return ours and all(map(recompute.same_harness, cases))

    @cached_property
    def again(self) -> Again:
        """All of it judged again.

        Raises:
            UsageError: as ``runs``.
            ContractError: as ``runs``.
        """
        return judged(self)

    @cached_property
    def held(self) -> StoredFaults:
        """Compare what is stored with what the rules of today make of its evidence.

        Raises:
            UsageError: as ``runs``.
            ContractError: as ``runs``.
        """
        made = StoredFaults()
        made.add(self.path, _differences(self), same=self.same_version)
        return made

    def index_of(self, path: str) -> Path:
        """Return the index of a run that results point to.

        Raises:
            ContractError: there is none, or it leads out of the folder.
        """
        try:
            return inside(self.folder, f"{path}/{NAME}")
        except ContractError as error:
            raise ContractError(self.path, error.what) from None


@dataclass(frozen=True)
class Again:
    """Stored results, each judged again where that can be done."""

    index: Results
    """With these results."""
    not_judged: list[NotJudged]

    @property
    def reasons(self) -> dict[str, Reason]:
        """Why each was not judged again that was not."""
        return {one.name: one.reason for one in self.not_judged}


def kind_of(path: Path) -> Kind | None:
    """Return what a folder, or an index, holds results of; ``None``: of neither."""
    for kind, name in INDEXES.items():
        if path.name == name or (path / name).is_file():
            return kind
    return None


def read(path: Path, kind: Kind) -> Stored:
    """Return the results of a folder, or of an index, as they were stored.

    Raises:
        UsageError: there are none.
        ContractError: they do not keep their contract.
    """
    index = path / INDEXES[kind] if path.is_dir() else path
    if not index.is_file():
        text = f"{path} holds no {INDEXES[kind]}; name a folder of coldwarm {kind} run"
        raise UsageError(f"{text}, or a snapshot with one")
    return Stored(index.parent, kind, codec.load_as(RECORDS[kind], index))


def result_of(folder: Path, kind: Kind, name: str) -> Result:
    """Return the stored result of one pattern or claim.

    Raises:
        UsageError: there is none.
        ContractError: the results do not keep their contract.
    """
    for one in read(folder, kind).index.results:
        if one.id == name:
            return one
    raise UsageError(f"{folder} holds results, and none of {name}; add it by --resume")


def judged(stored: Stored, runs: Runs | None = None) -> Again:
    """Return stored results as they are judged now, by what their evidence says.

    What this version does not know, or measures by another file, stays as it was stored, and is
    told; where the rule of today can be asked, so is what that says.

    Args:
        stored: The results.
        runs: Those that the figures are from; ``None``: with everything computed again.

    Raises:
        UsageError: a run is not there.
        ContractError: a file does not keep its contract, or says what its observations do not say.
    """
    known = stored.runs if runs is None else runs
    found: list[Result] = []
    left: list[NotJudged] = []
    for one in stored.index.results:
        against = _reason_against(one)
        if against is None:
            found.append(_again(one, known, stored))
            continue
        found.append(one)
        if against.code != "not_declared_here":
            against = _today(one, known) or against
        left.append(NotJudged(name=one.id, reason=against))
    return Again(replace(stored.index, results=found), left)


def _today(one: Result, runs: Runs) -> Reason | None:
    """Return what the rule of today says of a result that was measured by another file, if any."""
    try:
        made = _by_rule(one, runs)
    except _NO_RULE:
        return None
    return because("judged_by_other_file", verdict=made.verdict)


def _again(one: Result, runs: Runs, stored: Stored) -> Result:
    try:
        return _by_rule(one, runs)
    except _NO_RULE as error:
        what = f"{one.id} has no evidence that its rule can judge by: "
        what += f"{type(error).__name__}: {error}"
        raise ContractError(stored.path, what) from None


def _by_rule(one: Result, runs: Runs, below: str = "") -> Result:
    """Return a result judged by its evidence, and before it the patterns that it rests on."""
    spec = _specs(one)[one.id]
    if verdict.is_bare(one):
        verdict.check_bare(one, spec)
        return one
    if isinstance(one, ClaimResult):
        beside = [_by_rule(each, runs, f"{PATTERNS_OF_CLAIMS}/") for each in one.patterns]
        one = replace(one, patterns=[each for each in beside if isinstance(each, PatternResult)])
    benches = {bench.name: bench for bench in spec.benches}
    cases = {
        name: verdict.of_bench(runs[f"{below}{path}"], spec, benches[name])
        for name, path in one.runs.items()
    }
    return verdict.judged(spec, one, cases)


def _specs(one: Result) -> Mapping[str, Spec]:
    return specs("claims" if isinstance(one, ClaimResult) else "patterns")


def _reason_against(one: Result) -> Reason | None:
    """Return why a result is not judged again; ``None``: it is.

    A claim is as little judged as the patterns that it rests on.
    """
    spec = _specs(one).get(one.id)
    if spec is None:
        return because("not_declared_here")
    if spec.sha256 != one.sha256:
        return because("declared_otherwise")
    return next((why for each in one.patterns if (why := _reason_against(each)) is not None), None)


def _paths(one: Result, below: str = "") -> Iterator[str]:
    """Yield the folders of the runs that a result points to."""
    for path in one.runs.values():
        yield f"{below}{path}"
    for each in one.patterns:
        yield from _paths(each, f"{PATTERNS_OF_CLAIMS}/")


_PLAIN = {"versions", "measures"}
"""Fields of a result that every version makes alike; all else follows from rules."""


def _differences(found: Stored) -> Iterator[Conflict]:
    ids = [one.id for one in found.index.results]
    for place, name in enumerate(ids):
        if name in ids[:place]:
            yield Conflict(("results", place), f"has {name} for a second time", always=True)
    now = list(between(found.index, found.again.index))
    if found.same_version or not now:
        yield from now
        return
    # What another version says may be from its runs as they were computed then.
    then = {one.at for one in between(found.index, judged(found, found.as_stored).index)}
    for one in now:
        match one.at:
            case ("results", int(), str(name), *_):
                yield one._replace(always=one.at in then and name in _PLAIN)
            case _:
                yield one._replace(always=False)
