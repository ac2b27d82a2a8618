"""A replica held against its original: run by run, case by case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.checked import RepeatedRun, Replication
from coldwarm.contracts.comparison import LeftOutCase
from coldwarm.contracts.reasons import because
from coldwarm.stats import repeated
from coldwarm.stats.compare.comparable import (
    cautions,
    disagreements,
    failure,
    machine_differences,
    software_differences,
)
from coldwarm.stats.compare.known import known_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.checked import RebuiltEnvironment
    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.noise import NoiseReport
    from coldwarm.contracts.snapshot import SnapshotName


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


def report(
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
