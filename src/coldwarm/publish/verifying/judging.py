"""Whether verdicts on patterns and claims follow from their evidence: all are judged once more.

What this version does not know, or measures by another file, is not judged, and is no fault. Of
results that another version has measured, verdicts and plain figures are compared: reasons and
bounds may be made otherwise there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.catalogue import ClaimResult
from coldwarm.contracts.files.faults import dotted
from coldwarm.contracts.files.index import NAME
from coldwarm.errors import ContractError, UsageError
from coldwarm.publish.verifying.faults import contradiction, fault, told
from coldwarm.runner.catalogue import stored
from coldwarm.runner.results import ENVIRONMENT
from coldwarm.runner.stored.differences import apart
from coldwarm.runner.stored.validating import validated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from coldwarm.contracts.checked import SnapshotFault
    from coldwarm.runner.catalogue.stored import Again, Kind, Result, Stored
    from coldwarm.runner.stored.wrong import Wrong


def wrong(snapshot: Path, kind: Kind, files: Collection[str]) -> Iterator[SnapshotFault]:
    """Yield where patterns or claims of a snapshot, or their runs, do not hold.

    Args:
        snapshot: Its folder.
        kind: Which of the two.
        files: The paths of all its files.
    """
    index = f"{kind}/{stored.INDEXES[kind]}"
    own = [path for path in files if path.startswith(f"{kind}/")]
    if index not in own:
        yield from (fault("content", path, "nothing_makes_it") for path in own)
        return
    try:
        found = stored.read(snapshot / kind, kind)
        faults = list(_unlike(found, own))
        yield from faults or _wrong(snapshot, found)
    except ContractError as error:
        yield told("content", snapshot, error)
    except UsageError as error:
        yield contradiction(index, "", str(error))


def _unlike(found: Stored, own: Collection[str]) -> Iterator[SnapshotFault]:
    """Yield where the files are not those that results point to."""
    runs = [f"{found.kind}/{path}/" for path in found.pointed]
    for path in runs:
        if f"{path}{NAME}" not in own:
            yield fault("content", path, "part_missing", part="its index")
    beside = {f"{found.kind}/{name}" for name in (stored.INDEXES[found.kind], ENVIRONMENT)}
    for path in own:
        if path not in beside and not path.startswith(tuple(runs)):
            yield fault("content", path, "nothing_makes_it")


def _wrong(snapshot: Path, found: Stored) -> Iterator[SnapshotFault]:
    for path in found.pointed:
        for finding in validated(found.folder / path):
            if finding.error is not None:
                yield told("content", snapshot, finding.error)
    for one in differences(found):
        yield contradiction(f"{found.kind}/{stored.INDEXES[found.kind]}", dotted(one.at), one.what)


def differences(found: Stored) -> Iterator[Wrong]:
    """Yield where stored results say anything else than their evidence.

    Raises:
        UsageError: a run is not there.
        ContractError: a file does not keep its contract, or says what its observations do not say.
    """
    now = list(_apart(found, stored.judged(found)))
    if found.same_version or not now:
        yield from now
        return
    # What another version says is from its runs as they were computed then.
    then = list(_apart(found, stored.judged(found, found.as_stored)))
    yield from min(now, then, key=len)


def _apart(found: Stored, again: Again) -> Iterator[Wrong]:
    plain = msgspec.to_builtins if found.same_version else _of_any_version
    pairs = zip(found.results, again.results, strict=True)
    for place, (said, held) in enumerate(pairs):
        yield from apart(("results", place), plain(said), plain(held))


def _of_any_version(one: Result) -> dict[str, Any]:
    """Return what every version makes alike of a result."""
    told = {"verdict": one.verdict, "versions": one.versions}
    if isinstance(one, ClaimResult):
        figures = [{"name": bound.name, "value": bound.value} for bound in one.figures]
        return {**told, "figures": figures}
    return {**told, "measures": one.measures, "do": one.do, "dont": one.dont, "ratio": one.ratio}
