"""Whether what a snapshot says besides its runs follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.files.codec import load_as
from coldwarm.contracts.snapshot import BaselineManifest, ValidationReport
from coldwarm.errors import ContractError
from coldwarm.publish import layout
from coldwarm.publish.verifying.faults import contradiction, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.snapshot import SnapshotIndex
    from coldwarm.contracts.verification import SnapshotFault


def wrong(
    folder: Path, index: SnapshotIndex, runs: Mapping[str, Measured]
) -> Iterator[SnapshotFault]:
    """Yield where derived files say anything else than the runs."""
    try:
        manifest = load_as(BaselineManifest, folder / layout.MANIFEST)
        report = load_as(ValidationReport, folder / layout.VALIDATION)
    except ContractError as error:
        yield told("content", folder, error)
        return
    for path, record in ((layout.MANIFEST, manifest), (layout.VALIDATION, report)):
        if record.snapshot_id != index.snapshot_id:
            what = f"says {record.snapshot_id!r}, but the index says {index.snapshot_id!r}"
            yield contradiction(path, "snapshot_id", what)
    if report.generated_at != index.generated_at:
        what = f"says {index.generated_at!r}, but {layout.VALIDATION} says {report.generated_at!r}"
        yield contradiction(layout.INDEX, "generated_at", what)
    hashes = {row.path: row.sha256 for row in index.artifacts}
    for place, row in enumerate(manifest.results):
        if hashes.get(row.path) != row.sha256:
            what = f"says {row.sha256}, but the index says {hashes.get(row.path, 'nothing')}"
            yield contradiction(layout.MANIFEST, f"results[{place}].sha256", what)
    del runs
