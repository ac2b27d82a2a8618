"""What the verification of a snapshot has found."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import Count, Record, Sha256
from coldwarm.contracts.reasons import Reason

FaultKind = Literal["presence", "bytes", "schema", "content", "signature"]
"""``presence``: a file is missing, not listed, or none that may be opened. ``bytes``: its size or
hash is another. ``schema``: it does not keep its contract. ``content``: it says what does not
follow from the rest. ``signature``: the index is not what was signed."""
SignatureState = Literal["valid", "invalid", "absent", "unchecked", "unknown_key"]
"""``unchecked``: there is one, and no public key to hold it against. ``unknown_key``: it is that of
the public key beside it, and no key of the reader's own was given to tell whose that is."""


class SnapshotFault(Record, frozen=True, kw_only=True):
    """One thing that is wrong with a snapshot."""

    kind: FaultKind
    path: str
    """The file below the snapshot's folder; empty for the folder itself."""
    line: Count | None = None
    field: str | None = None
    reason: Reason


class Verification(Record, frozen=True, kw_only=True):
    """Whether a snapshot holds, and where not."""

    schema_version: Literal["coldwarm.verification.v1"] = "coldwarm.verification.v1"
    path: str
    """The folder, or the archive, as it was named."""
    snapshot_id: str | None
    """``None``: the index cannot be read."""
    snapshot_index_sha256: Sha256 | None
    holds: bool
    signature: SignatureState
    key_sha256: Sha256 | None
    """Fingerprint of the key whose signature it is: the SHA-256 of the public key as DER."""
    identity: str | None = None
    """Who has signed it through sigstore, where that was asked and holds."""
    n_files: Count
    """Those that the index names."""
    n_bytes: Count
    """Of these together."""
    n_cases: Count
    """Cases of which everything was computed again."""
    n_cases_other_version: Count
    """Cases that another version of coldwarm measured: of these, counts and plain figures were
    computed again, and verdicts by the rules of today."""
    faults: list[SnapshotFault]
    """The first of each file; the first one of all decides the exit code."""
