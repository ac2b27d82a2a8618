"""Two snapshots held against each other, and a replica against its original. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from coldwarm.catalogue.verdict import changed
from coldwarm.contracts.base import Difference
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import because
from coldwarm.contracts.snapshot import (
    ComparedRuns,
    ComparedSnapshots,
    Mismatch,
    ReplicationReport,
    SnapshotComparison,
)
from coldwarm.errors import NothingComparableError
from coldwarm.publish.content import snapshot_name
from coldwarm.stats.comparable import FIELDS, disagreements, failure, software_differences
from coldwarm.stats.compared_results import NothingValidError, SameRunError, compare_results

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coldwarm.contracts.catalogue import ChangedVerdict, Kind
    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.contracts.snapshot import Replication, SnapshotIndex
    from coldwarm.publish.content import Snapshot

    _Verdicts = Mapping[Kind, Mapping[str, str]]


_ABSENT = "absent"


def compare_snapshots(a: Snapshot, b: Snapshot) -> ComparedSnapshots:
    """Return what differs between two snapshots that hold."""
    ours, theirs = ({row.path for row in one.index.artifacts} for one in (a, b))
    return ComparedSnapshots(
        a=a.name,
        b=b.name,
        files=_compare_files(a.index, b.index),
        only_a=sorted(ours - theirs),
        only_b=sorted(theirs - ours),
        runs=[_runs(name, run, b.runs[name]) for name, run in a.runs.items() if name in b.runs],
        runs_only_a=sorted(a.runs.keys() - b.runs.keys()),
        runs_only_b=sorted(b.runs.keys() - a.runs.keys()),
        patterns=_changed("patterns", a.verdicts, b.verdicts),
        claims=_changed("claims", a.verdicts, b.verdicts),
    )


def _changed(kind: Kind, a: _Verdicts, b: _Verdicts) -> list[ChangedVerdict] | None:
    return changed(a[kind], b[kind]) if kind in a and kind in b else None


def _compare_files(a: SnapshotIndex, b: SnapshotIndex) -> SnapshotComparison:
    """Compare hashes and sizes of the files that both indexes name."""
    ours, theirs = ({row.path: row for row in one.artifacts} for one in (a, b))
    both = sorted(ours.keys() & theirs.keys())
    mismatches = [
        Mismatch(
            path=path,
            original_sha256=ours[path].sha256,
            replica_sha256=theirs[path].sha256,
            original_bytes=ours[path].bytes,
            replica_bytes=theirs[path].bytes,
        )
        for path in both
        if ours[path] != theirs[path]
    ]
    return SnapshotComparison(overlap_paths=len(both), mismatches=mismatches, ok=not mismatches)


def published_report(
    original: Snapshot, replica: SnapshotIndex, replica_sha256: str, report: Replication
) -> ReplicationReport:
    """Return the published report: by the bytes of files, with the agreement as a note."""
    note = f"cases: {report.n_agree} agree, {report.n_disagree} disagree, "
    note += f"{report.n_undecided} undecided, {report.n_lost} without a valid answer; measured "
    note += "times are never the same bytes, so see coldwarm.replication_report.v1"
    return ReplicationReport(
        generated_at=report.generated_at,
        original=original.name,
        replica=snapshot_name(replica, replica_sha256),
        comparison=_compare_files(original.index, replica),
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


def _by_case(a: Measured, b: Measured, tell: Callable[[CaseResult], str]) -> list[Difference]:
    """Return the cases of which the two sides tell otherwise."""
    sides = [{name: tell(case) for name, case in side.cases.items()} for side in (a, b)]
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
