"""Stored results of claims: read, and judged again from the runs beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.catalogue.claims import claims
from coldwarm.contracts.catalogue import CLAIMS, ClaimResults
from coldwarm.contracts.files import codec, index
from coldwarm.contracts.files.inside import inside
from coldwarm.errors import UsageError
from coldwarm.runner.stored import reading
from coldwarm.stats.catalogue.again import judged_again

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.catalogue import ClaimResult
    from coldwarm.contracts.result import CaseResult


def read(folder: Path) -> ClaimResults:
    """Return the results of a folder as they were stored.

    Raises:
        UsageError: there are none.
        ContractError: they do not keep their contract.
    """
    path = folder / CLAIMS if folder.is_dir() else folder
    if not path.is_file():
        text = f"{folder} holds no {CLAIMS}; name a folder of coldwarm claims run"
        raise UsageError(text)
    return codec.load_as(ClaimResults, path)


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
