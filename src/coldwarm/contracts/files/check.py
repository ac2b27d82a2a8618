"""Whether an artifact keeps its contract, and whether a folder's artifacts agree.

A single file is read strictly. The folder of a run is checked as a whole: every hash in an
index is that of the file it names, every file is in an index, and what an index says of a
file is what the file says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.files.codec import decode, read_bytes
from coldwarm.contracts.files.faults import fault
from coldwarm.contracts.files.index import ADVICE, NAMES, Index, index_in
from coldwarm.contracts.files.inside import OutsideError, inside
from coldwarm.contracts.files.journal import Entry, header_of, stream
from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coldwarm.contracts.base import Record

_PRIVATE = {"work"}
_FOREIGN = {"ro-crate-metadata.json", "snapshot_index.json.sigstore.json"}
"""Files of other formats that lie beside artifacts in a snapshot."""
_LISTED = {"coldwarm.case_result", "coldwarm.answers", "nextstat.ml_benchmark_result"}


class Finding(NamedTuple):
    """What was found out about one artifact."""

    path: str
    contract: str
    """Its ``schema_version``, ``journal``, or empty where it was not recognised."""
    fault: str | None
    """One line with path, line and field; ``None``: it keeps its contract."""
    note: str = ""
    """What a reader should know although it is no fault."""
    error: ContractError | None = None
    """The fault with its parts."""
    otherwise: tuple[ContractError, ...] = ()
    """What another version of coldwarm says in it that today's rules do not, which is no fault."""


def check(path: Path) -> Iterator[Finding]:
    """Check a file, the folder of a run, or every artifact below any other folder."""
    if not path.is_dir():
        yield from _file(path)
    elif (index := index_in(path)) is not None:
        yield from _indexed(index)
    else:
        files = artifacts(path)
        if not files:
            what = "holds no artifact (*.json, *.jsonl)"
            yield _broken(path, fault(str(path), None, None, what))
        for file in files:
            yield from _file(file, path)


def artifacts(folder: Path) -> list[Path]:
    """Return the artifacts below a folder, but what is private, hidden or of another format."""
    return sorted(
        file
        for pattern in ("*.json", "*.jsonl")
        for file in folder.rglob(pattern)
        if file.name not in _FOREIGN
        and not any(p in _PRIVATE or p.startswith(".") for p in file.relative_to(folder).parts)
    )


def _file(path: Path, folder: Path | None = None) -> Iterator[Finding]:
    """Check one artifact; one that was found in a folder must lie in it, whatever links say."""
    if folder is not None:
        try:
            inside(folder, path.relative_to(folder).as_posix())
        except OutsideError as error:
            yield _broken(path, fault(str(path), None, None, str(error)))
            return
    if path.suffix == ".jsonl":
        yield from _journal(path)
        return
    try:
        record = decode(read_bytes(path), str(path))
    except ContractError as error:
        yield _broken(path, error)
    else:
        yield Finding(str(path), _contract_of(record), None)


def _journal(path: Path) -> Iterator[Finding]:
    n_entries, torn, damaged = 0, "", False
    try:
        for found in stream(path):
            if isinstance(found, Entry):
                n_entries += 1
                if found.kind == "header":
                    header_of(found.record, str(path))
            elif found.torn:
                torn = f", line {found.line} {found.what}"
            else:
                damaged = True
                what = f"{found.what}; the other lines are not affected"
                yield _broken(path, fault(str(path), found.line, None, what), "journal")
    except ContractError as error:
        yield _broken(path, error, "journal")
        return
    if not damaged:
        yield Finding(str(path), "journal", None, f"{n_entries} lines{torn}")


def _indexed(path: Path) -> Iterator[Finding]:
    """Check an index, its folder, and every artifact in it, each once."""
    folder = path.parent
    listed = {path}
    readable = True
    try:
        index = Index(path)
    except ContractError as error:
        readable = False
        yield _broken(path, error)
    else:
        contract, sound = _contract_of(index.suite), True
        for file, record, broken in index.checked():
            sound = sound and not (broken and file == path)
            told = str(broken) if broken else None
            yield Finding(str(file), _contract_of(record), told, error=broken)
        if sound:
            yield Finding(str(path), contract, None)
        listed = index.named
    for nested in artifacts(folder):
        if nested.name in NAMES and nested not in listed:
            listed.update(artifacts(nested.parent))
            yield from _indexed(nested)
    for file in artifacts(folder):
        if file not in listed:
            yield from _unlisted(file, path) if readable else _file(file, folder)


def _unlisted(file: Path, index: Path) -> Iterator[Finding]:
    """Check a file that no index names; a result among them is a fault."""
    for finding in _file(file, index.parent):
        if finding.fault is None and finding.contract.rpartition(".v")[0] in _LISTED:
            what = f"is not in the index {index}; {ADVICE}"
            yield _broken(file, fault(str(file), None, None, what), finding.contract)
        else:
            yield finding


def _contract_of(record: Record | None) -> str:
    return str(getattr(record, "schema_version", ""))


def _broken(path: Path, error: ContractError, contract: str = "") -> Finding:
    return Finding(str(path), contract, str(error), error=error)
