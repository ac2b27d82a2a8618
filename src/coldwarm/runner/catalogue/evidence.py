"""What counts as evidence of a pattern or a claim: runs of its own functions, as it asks for."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.catalogue.claims import called
from coldwarm.catalogue.patterns import SIDES
from coldwarm.contracts.catalogue import ClaimResult

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coldwarm.catalogue.claims import BenchOf, ClaimSpec
    from coldwarm.catalogue.patterns import PatternSpec
    from coldwarm.contracts.catalogue import PatternResult
    from coldwarm.contracts.result import CaseResult, Measured, OwnCandidate

_DEVICES = {"gpu": "gpu_unavailable", "gpus": "gpu_unavailable", "tpu": "tpu_unavailable"}
"""By what is needed, the reason that it was not tested."""


class Asked(NamedTuple):
    """What a run has to be of."""

    file: Path
    functions: Mapping[str, str]
    """By the name of the candidate, the function of the file."""
    variables: Mapping[str, str]


def asked_by_pattern(spec: PatternSpec) -> Asked:
    """Return what the run of a pattern is of."""
    return Asked(spec.source.path, {side: side for side in SIDES}, spec.variables)


def asked_by_claim(spec: ClaimSpec, bench: BenchOf) -> Asked:
    """Return what one of a claim's runs is of."""
    functions = {called(name): name for name in bench.candidates}
    return Asked(spec.file_of(bench), functions, bench.variables)


def of_bench(run: Measured, asked: Asked) -> dict[str, CaseResult]:
    """Return the cases of a run by candidate.

    Raises:
        ValueError: it is of other functions, or they were measured with other variables.
    """
    file = hashlib.sha256(asked.file.read_bytes()).hexdigest()
    cases = {case.candidate: case for case in run.cases.values()}
    if cases.keys() != asked.functions.keys():
        message = f"{run.path} is of {', '.join(cases)}, not of {', '.join(asked.functions)}"
        raise ValueError(message)
    for name, case in cases.items():
        if case.protocol.workload_sha256 != file:
            message = f"{case.case} of {run.path} is a function of another file"
            raise ValueError(message)
        own = case.protocol.own
        if own is None or _function(own) != asked.functions[name]:
            message = f"{case.case} of {run.path} is another function than {asked.functions[name]}"
            raise ValueError(message)
        if _set(own) != {*asked.variables}:
            message = f"{case.case} of {run.path} was measured with other variables"
            raise ValueError(message)
    return cases


def _function(own: OwnCandidate) -> str:
    return (own.target or "").rpartition(":")[2]


def _set(own: OwnCandidate) -> set[str]:
    """Return the names of the variables that were set; values may be masked."""
    return {*own.variables, *(own.withheld_variables or ())}


def is_bare(one: PatternResult | ClaimResult) -> bool:
    """Say whether a result has no evidence at all, and says so."""
    if one.verdict not in {"not_tested", "failed"}:
        return False
    if isinstance(one, ClaimResult):
        return not (one.sheets or one.paths or one.patterns)
    return not one.sheets and one.path is None


def check_bare(one: PatternResult | ClaimResult, needs: str | None) -> None:
    """Hold a result without evidence to what may be said without any.

    Raises:
        ValueError: it has figures, or was not tested for a device that it does not need.
    """
    if isinstance(one, ClaimResult):
        figures: list[object] = list(one.figures)
    else:
        figures = [value for value in (one.do, one.dont, one.ratio) if value is not None]
    if figures:
        message = "it was not measured, and has figures"
        raise ValueError(message)
    code = one.reason.code if one.reason is not None else None
    if one.verdict == "not_tested" and (needs is None or code != _DEVICES[needs]):
        message = "it was not tested for a reason that it does not have"
        raise ValueError(message)
