"""Faults of a snapshot: how they are put together, and the exit code that each kind has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts.checked import SnapshotFault
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coldwarm.contracts.checked import FaultKind, Verification
    from coldwarm.contracts.reasons import Reason, Value
    from coldwarm.errors import ContractError

_CODES: Mapping[FaultKind, ExitCode] = {
    "presence": ExitCode.FAILED,
    "bytes": ExitCode.FAILED,
    "schema": ExitCode.FAILED,
    "content": ExitCode.CONTRADICTION,
    "signature": ExitCode.SIGNATURE,
}


class SnapshotError(RefusedError):
    """A snapshot that does not hold, and is therefore not used."""

    def __init__(self, path: str, fault: SnapshotFault) -> None:
        """Keep the first fault."""
        where = f"{path}/{fault.path}" if fault.path else path
        super().__init__(because("snapshot_wrong", fault.reason, path=where))
        self.exit_code = _CODES[fault.kind]


def fault(kind: FaultKind, path: str, code: str, /, **values: Value) -> SnapshotFault:
    """Return a fault with a reason of its own."""
    return SnapshotFault(kind=kind, path=path, reason=because(code, **values))


def for_reason(kind: FaultKind, path: str, reason: Reason) -> SnapshotFault:
    """Return a fault with a reason that is there."""
    return SnapshotFault(kind=kind, path=path, reason=reason)


def told(kind: FaultKind, folder: Path, error: ContractError) -> SnapshotFault:
    """Return what the reader of artifacts has found, its file as a path below the folder."""
    path = error.path.removeprefix(f"{folder}/")
    reason = because("artifact_wrong", text=error.what)
    return SnapshotFault(kind=kind, path=path, line=error.line, field=error.field, reason=reason)


def contradiction(path: str, field: str, what: str) -> SnapshotFault:
    """Return the fault of a field that says anything else than what it follows from."""
    reason = because("contradicts", text=what)
    return SnapshotFault(kind="content", path=path, field=field, reason=reason)


def by_other_rules(one: SnapshotFault) -> SnapshotFault:
    """Return a contradiction as what it is where another version may have made it by its rules."""
    text = "by the rules of another version" if one.reason.code != "contradicts" else ""
    reason = because("said_otherwise", text=text or str(one.reason.values["text"]))
    return msgspec.structs.replace(one, reason=reason)


def exit_code(found: Verification) -> ExitCode:
    """Return what a command ends with: the code of the first fault's kind."""
    return _CODES[found.faults[0].kind] if found.faults else ExitCode.FINE
