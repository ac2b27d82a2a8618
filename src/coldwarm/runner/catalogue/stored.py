"""Stored results: read, and those of claims judged again from the runs beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from coldwarm.catalogue.claims import claims
from coldwarm.contracts.catalogue import CLAIMS, ClaimResults, PatternResults
from coldwarm.contracts.files import codec, index
from coldwarm.contracts.files.inside import inside
from coldwarm.errors import UsageError
from coldwarm.runner.catalogue.patterns import INDEX
from coldwarm.runner.stored import reading
from coldwarm.stats.catalogue.again import judged_again

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from coldwarm.contracts.catalogue import ClaimResult, PatternResult
    from coldwarm.contracts.result import CaseResult


K = TypeVar("K", PatternResults, ClaimResults)


def read(folder: Path) -> ClaimResults:
    """Return the results of claims in a folder as they were stored.

    Raises:
        UsageError: there are none.
        ContractError: they do not keep their contract.
    """
    return _read(folder, CLAIMS, ClaimResults)


def of_claim(folder: Path, name: str) -> ClaimResult:
    """Return the stored result of one claim.

    Raises:
        UsageError: there is none.
        ContractError: the results do not keep their contract.
    """
    found = {one.claim: one for one in read(folder).results}
    if name not in found:
        raise _missing(folder, name, found)
    return found[name]


def of_pattern(folder: Path, name: str) -> PatternResult:
    """Return the stored result of one pattern.

    Raises:
        UsageError: there is none.
        ContractError: the results do not keep their contract.
    """
    stored = _read(folder, INDEX, PatternResults)
    found = {one.pattern: one for one in stored.results}
    if name not in found:
        raise _missing(folder, name, found)
    return found[name]


def _missing(folder: Path, name: str, there: Collection[str]) -> UsageError:
    """Return the error that results hold no such id."""
    text = f"{folder} holds results of {len(there)} others, and none of {name}; add it by --resume"
    return UsageError(text)


def _read(folder: Path, name: str, kind: type[K]) -> K:
    path = folder / name if folder.is_dir() else folder
    if not path.is_file():
        command = f"coldwarm {name.removesuffix('.json')} run"
        text = f"{folder} holds no {name}; name a folder of {command}"
        raise UsageError(text)
    return codec.load_as(kind, path)


def judged(folder: Path) -> tuple[ClaimResults, list[ClaimResult]]:
    """Return the stored results, and each as its rule judges its evidence now.

    A claim that this version does not know stays as it was stored.

    Raises:
        UsageError: there are none.
        ContractError: a file does not keep its contract, or says what its observations do not say.
    """
    stored = read(folder)
    root = folder if folder.is_dir() else folder.parent
    known = claims()
    found = []
    for one in stored.results:
        if one.claim not in known:
            found.append(one)
            continue
        cases = {name: _cases(root, path) for name, path in one.paths.items()}
        found.append(judged_again(one, known[one.claim].judge, cases))
    return stored, found


def _cases(root: Path, path: str) -> dict[str, CaseResult]:
    """Return the cases of a run beside the results, by candidate."""
    _, cases = reading.read_run(inside(root, f"{path}/{index.NAME}"))
    return {case.candidate: case for case in cases}
