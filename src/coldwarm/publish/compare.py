"""Two snapshots held against each other, and a replica against its original. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from coldwarm.catalogue.judge import changed
from coldwarm.contracts.base import Difference
from coldwarm.contracts.comparison import LeftOutCase
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import because
from coldwarm.contracts.snapshot import (
    ComparedRuns,
    ComparedSnapshots,
    Mismatch,
    RepeatedRun,
    Replication,
    ReplicationReport,
    SnapshotComparison,
    SnapshotName,
)
from coldwarm.errors import NothingComparableError
from coldwarm.stats import repeated
from coldwarm.stats.comparable import (
    FIELDS,
    cautions,
    disagreements,
    failure,
    known_noise,
    machine_differences,
    software_differences,
)
from coldwarm.stats.compared_results import NothingValidError, SameRunError, compare_results

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.catalogue import ChangedVerdict
    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.contracts.snapshot import RebuiltEnvironment, SnapshotIndex

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


def of_run(
    name: str, original: Measured, replica: Measured, reports: Sequence[NoiseReport] = ()
) -> RepeatedRun:
    """Return what agrees of a run and its repetition.

    ``reports`` tell by how much two equal runs differ on the machine of the original.
    """
    noise = known_noise(reports, original.environment)
    sides = {"original": [original], "replica": [replica]}
    left_out = _left_out(original, replica)
    gone = {one.case for one in left_out}
    both = [case for case in original.cases if case in replica.cases and case not in gone]
    same_machine = not machine_differences(original, replica)
    if same_machine:
        cases = repeated.in_seconds(original, replica, both, noise.shares)
    else:
        cases = repeated.to_baseline(original, replica, both)
    hashes = [
        {case.protocol.harness_sha256 for case in run.cases.values()} for run in (original, replica)
    ]
    return RepeatedRun(
        name=name,
        suite=original.suite.suite if original.suite else "",
        original_run_id=original.suite.run_id if original.suite else "",
        replica_run_id=replica.suite.run_id if replica.suite else "",
        same_machine=same_machine,
        basis="seconds" if same_machine else "baseline",
        same_harness=hashes[0] == hashes[1],
        cases=cases,
        left_out=left_out,
        differing=disagreements(sides, both),
        software=software_differences(original, replica, both),
        warnings=cautions(sides, both, noise if same_machine else None),
    )


def _left_out(original: Measured, replica: Measured) -> list[LeftOutCase]:
    """Return the cases that have no valid answer on one side, with the reason."""
    found = []
    for name, case in original.cases.items():
        other = replica.cases.get(name)
        if other is None:
            found.append(LeftOutCase(case=name, side="B", reason=because("only_in", side="A")))
            continue
        for side, one in (("A", case), ("B", other)):
            why = failure(one)
            if why is None and one.status == "warn" and not one.cold and one.warm is None:
                why = one.reason
            if why is not None:
                found.append(
                    LeftOutCase(
                        case=name, side="A" if side == "A" else "B", reason=why, failed=True
                    )
                )
                break
    return found


def replication(
    original: SnapshotName,
    signed_by: str | None,
    environment: RebuiltEnvironment,
    runs: Sequence[RepeatedRun],
    generated_at: str,
) -> Replication:
    """Return the report over all runs."""
    counts = repeated.counted(case for run in runs for case in run.cases)
    lost = sum(one.side == "B" for run in runs for one in run.left_out)
    return Replication(
        generated_at=generated_at,
        original=original,
        original_signed_by=signed_by,
        environment=environment,
        runs=list(runs),
        n_agree=counts["agrees"],
        n_disagree=counts["disagrees"],
        n_undecided=counts["undecided"],
        n_lost=lost,
        ok=counts["agrees"] > 0 and not counts["disagrees"] and not lost,
    )
