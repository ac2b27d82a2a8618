"""Two snapshots that hold, compared by what they say and not by their bytes alone. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts.base import Difference
from coldwarm.contracts.checked import ComparedRuns, ComparedSnapshots
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import because
from coldwarm.contracts.snapshot import (
    Mismatch,
    ReplicationReport,
    SnapshotComparison,
    SnapshotName,
)
from coldwarm.errors import NothingComparableError
from coldwarm.stats.catalogue.again import changed
from coldwarm.stats.compare.comparable import (
    FIELDS,
    disagreements,
    failure,
    software_differences,
)
from coldwarm.stats.compare.results import NothingValidError, SameRunError, compare_results

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coldwarm.contracts.catalogue import ChangedVerdict
    from coldwarm.contracts.checked import Replication
    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.contracts.snapshot import SnapshotIndex

    Runs = Mapping[str, Measured]
    Verdicts = Mapping[str, Mapping[str, str]]

_ABSENT = "absent"


def compare(
    a: tuple[SnapshotIndex, str, Runs],
    b: tuple[SnapshotIndex, str, Runs],
    verdicts_a: Verdicts | None = None,
    verdicts_b: Verdicts | None = None,
) -> ComparedSnapshots:
    """Compare two snapshots, each an index, the SHA-256 of that, and its runs by name.

    ``verdicts_…`` are those of each: of patterns and of claims, by id.
    """
    ours, theirs = (
        {row.path: (row.sha256, row.bytes) for row in index.artifacts} for index, _, _ in (a, b)
    )
    runs = [(name, a[2][name], b[2][name]) for name in a[2] if name in b[2]]
    return ComparedSnapshots(
        a=named(a[0], a[1]),
        b=named(b[0], b[1]),
        files=files(ours, theirs),
        only_a=sorted(ours.keys() - theirs.keys()),
        only_b=sorted(theirs.keys() - ours.keys()),
        runs=[_runs(*one) for one in runs],
        runs_only_a=sorted(a[2].keys() - b[2].keys()),
        runs_only_b=sorted(b[2].keys() - a[2].keys()),
        patterns=_changed("patterns", verdicts_a or {}, verdicts_b or {}),
        claims=_changed("claims", verdicts_a or {}, verdicts_b or {}),
    )


def _changed(kind: str, a: Verdicts, b: Verdicts) -> list[ChangedVerdict] | None:
    return changed(a[kind], b[kind]) if kind in a and kind in b else None


def named(index: SnapshotIndex, sha256: str) -> SnapshotName:
    """Return what a snapshot is called, and the hash that says which one it is."""
    return SnapshotName(
        snapshot_id=index.snapshot_id, suite=index.suite, snapshot_index_sha256=sha256
    )


def files(
    ours: Mapping[str, tuple[str, int]], theirs: Mapping[str, tuple[str, int]]
) -> SnapshotComparison:
    """Compare hashes and sizes of files by their paths."""
    both = sorted(ours.keys() & theirs.keys())
    mismatches = [
        Mismatch(
            path=path,
            original_sha256=ours[path][0],
            replica_sha256=theirs[path][0],
            original_bytes=ours[path][1],
            replica_bytes=theirs[path][1],
        )
        for path in both
        if ours[path] != theirs[path]
    ]
    return SnapshotComparison(overlap_paths=len(both), mismatches=mismatches, ok=not mismatches)


def published(
    original: SnapshotIndex,
    original_sha256: str,
    replica: SnapshotIndex,
    replica_sha256: str,
    report: Replication,
) -> ReplicationReport:
    """Return the published report: by the bytes of files, with the agreement as a note."""
    sides = [
        {row.path: (row.sha256, row.bytes) for row in index.artifacts}
        for index in (original, replica)
    ]
    note = f"cases: {report.n_agree} agree, {report.n_disagree} disagree, "
    note += f"{report.n_undecided} undecided, {report.n_lost} without a valid answer; measured "
    note += "times are never the same bytes, so see coldwarm.replication_report.v1"
    return ReplicationReport(
        generated_at=report.generated_at,
        original=named(original, original_sha256),
        replica=named(replica, replica_sha256),
        comparison=files(*sides),
        notes=note,
        replica_snapshot_index=msgspec.to_builtins(replica),
    )


def _runs(name: str, a: Measured, b: Measured) -> ComparedRuns:
    both = [case for case in a.cases if case in b.cases]
    timings, why = _timings(a, b)
    return ComparedRuns(
        suite=name,
        datasets=_by_case(a, b, lambda case: case.dataset_sha256 or _ABSENT),
        gates=_by_case(a, b, _gate),
        statuses=_by_case(a, b, lambda case: case.status),
        protocol=disagreements({"A": [a], "B": [b]}, both),
        environment=software_differences(a, b, both),
        timings=timings,
        left_out=timings.left_out if timings else [],
        null_reasons={} if why is None else {"timings": why},
    )


def _by_case(a: Measured, b: Measured, told: Callable[[CaseResult], str]) -> list[Difference]:
    """Return the cases of which the two sides tell otherwise."""
    sides = [{name: told(case) for name, case in side.cases.items()} for side in (a, b)]
    return [
        Difference(name=name, a=sides[0].get(name, _ABSENT), b=sides[1].get(name, _ABSENT))
        for name in {**sides[0], **sides[1]}
        if sides[0].get(name) != sides[1].get(name)
    ]


def _gate(case: CaseResult) -> str:
    if failure(case) is not None:
        return "failed"
    passed = [seen.gate.passed for seen in case.observations if seen.gate is not None]
    return "passed" if passed else "not_reached"


def _timings(a: Measured, b: Measured) -> tuple[RunComparison | None, Reason | None]:
    try:
        return compare_results([a], [b], Policy(), FIELDS), None
    except SameRunError:
        return None, because("same_run")
    except NothingValidError as error:
        return None, error.reason
    except NothingComparableError:
        return None, because("no_common_case")
