"""A snapshot verified as a whole: bytes, contracts, signature, and everything that is computed.

What follows from the runs is made once more and compared. Where this version says that it has
measured all of them, a difference is a fault; else other rules may have made it, and it is counted
as only hashed, but for what every version makes alike.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import structs

from coldwarm.catalogue import stored
from coldwarm.contracts import nextstat
from coldwarm.contracts.catalogue import INDEXES
from coldwarm.contracts.codec import MAX_BYTES, decode, decode_as, dotted, encode, parse
from coldwarm.contracts.environment import ENVIRONMENT
from coldwarm.contracts.nextstat import NextstatResult
from coldwarm.contracts.reader import NAME, Index
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.snapshot import (
    BaselineManifest,
    CheckedFile,
    SnapshotFault,
    SnapshotIndex,
    Verification,
)
from coldwarm.errors import ContractError, ExitCode, UsageError
from coldwarm.publish import documents, layout, signing, storage
from coldwarm.publish.content import Content, Snapshot, below, run_of, verdicts_of
from coldwarm.publish.lock import read_pins
from coldwarm.publish.storage import fault_for, reader_fault, snapshot_fault
from coldwarm.runner import consistency, recompute
from coldwarm.runner.consistency import between

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from coldwarm.catalogue.stored import Stored
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.contracts.snapshot import FaultKind, FileAnswer
    from coldwarm.publish.content import Verdicts, View
    from coldwarm.runner.recompute import Examined

_CODES: Mapping[FaultKind, ExitCode] = {
    "presence": ExitCode.FAILED,
    "bytes": ExitCode.FAILED,
    "schema": ExitCode.FAILED,
    "content": ExitCode.CONTRADICTION,
    "signature": ExitCode.SIGNATURE,
}
_SHOWN = 100
"""Faults that are told: one alone is enough."""
_ALIKE = {
    layout.MANIFEST: {"snapshot_id", "results", "datasets"},
    layout.VALIDATION: {"snapshot_id", "generated_at", "gates", "figures"},
}
"""Fields that every version makes alike of the same runs."""
_PACKED = re.compile(rb"H4sI[A-Za-z0-9+/]{20,}={0,2}")
"""Beginning of gzip, in base64."""
_BARE = b"\x1f\x8b\x08" + bytes(5)
"""The same where it has no name, no remark and no date."""


class _SnapshotError(RefusedError):
    """A snapshot that does not hold, and is therefore not used."""

    def __init__(self, path: str, first: SnapshotFault) -> None:
        """Keep the first fault."""
        where = f"{path}/{first.path}" if first.path else path
        super().__init__(because("snapshot_wrong", first.reason, path=where))
        self.exit_code = _CODES[first.kind]


def exit_code(found: Verification) -> ExitCode:
    """Return what a command ends with: the code of the first fault's kind."""
    return _CODES[found.faults[0].kind] if found.faults else ExitCode.FINE


@dataclass
class _VerifiedSnapshot:
    """A snapshot, and what was found out about it so far."""

    folder: Path
    key: Path | None
    """The public key that it should be signed with."""
    signer: signing.Signer | None
    """Who must have signed it through sigstore."""
    unsigned: bool
    views: Mapping[str, View]
    """Renderers of its page and its print."""
    entries: dict[str, storage.Entry] = field(default_factory=dict)
    index: SnapshotIndex | None = None
    index_sha256: str | None = None
    signature: signing.Signature = field(default_factory=signing.Signature)
    runs: dict[str, Measured] = field(default_factory=dict)
    """By the name of their folder, everything in them computed again."""
    stored: dict[str, Measured] = field(default_factory=dict)
    """The same as they lie there."""
    judged: list[Stored] = field(default_factory=list)
    """Its patterns and claims."""
    otherwise: list[SnapshotFault] = field(default_factory=list)
    """Values that the rules of today make otherwise, where another version says that it has
    measured."""
    not_made: dict[str, Reason] = field(default_factory=dict)
    """Files that were not made again, and why."""
    faults: list[SnapshotFault] = field(default_factory=list)

    @property
    def known_index(self) -> SnapshotIndex:
        """The index of a snapshot that holds."""
        if self.index is None:
            missing = snapshot_fault("presence", layout.INDEX, "file_missing")
            raise _SnapshotError(str(self.folder), missing)
        return self.index

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The bytes of every file that the index names."""
        rows = self.known_index.artifacts
        return {row.path: storage.read_limited(self.folder, row.path, MAX_BYTES) for row in rows}

    def _cases(self) -> list[CaseResult]:
        of_verdicts = (run for one in self.judged for run in one.runs.values())
        runs = (*self.runs.values(), *of_verdicts)
        return [case for run in runs for case in run.cases.values()]

    def same_version(self) -> bool:
        """Say whether all of it says that this version has measured it."""
        judged = all(one.same_version for one in self.judged)
        return judged and all(map(recompute.same_harness, self._cases()))

    def content(self, *, as_stored: bool = False) -> Content:
        """Return what was measured: computed again, or as it lies there."""
        measured = self.stored if as_stored else self.runs
        runs = [
            run
            for name, one in measured.items()
            for run in run_of(
                one,
                f"{layout.RESULTS}/{name}",
                below(self.files, f"{layout.RESULTS}/{name}/"),
            )
        ]
        return Content(
            sorted(runs, key=lambda run: (run.suite.suite, run.suite.started_at)),
            [self._verdicts(one, as_stored=as_stored) for one in self.judged],
            [],
        )

    def _verdicts(self, one: Stored, *, as_stored: bool) -> Verdicts:
        files = below(self.files, f"{one.kind}/")
        if as_stored:
            return verdicts_of(one.index, one.as_stored, files)
        again, n_otherwise = one.again, len(one.held.otherwise)
        return verdicts_of(again.index, one.runs, files, again.reasons, n_otherwise)

    def told(self, path: Path) -> Verification:
        """Return the record of it; ``path``: the folder or archive, as it was named."""
        rows = self.index.artifacts if self.index else []
        cases = [] if self.faults else self._cases()
        not_judged = [left for one in self.judged for left in one.again.not_judged]
        n_verdicts = sum(len(one.index.results) for one in self.judged) - len(not_judged)
        files = [] if self.faults else list(self._checked_files())
        answers = Counter(one.answer for one in files)
        n_figures = sum(map(consistency.n_computed, cases)) + n_verdicts
        n_unproved = min(len(self.otherwise), n_figures)
        return Verification(
            path=str(path),
            snapshot_id=self.index.snapshot_id if self.index else None,
            snapshot_index_sha256=self.index_sha256,
            holds=not self.faults,
            signature=self.signature.state,
            key_sha256=self.signature.key_sha256,
            identity=None if self.signer is None or self.faults else self.signer.identity,
            n_files=len(rows),
            n_bytes=sum(row.bytes for row in rows),
            n_cases=len(cases),
            n_verdicts=n_verdicts,
            n_proved=answers["proved"],
            n_signed=answers["signed"],
            n_only_hashed=answers["only_hashed"],
            n_figures_proved=n_figures - n_unproved,
            n_figures_only_hashed=0 if self.faults else len(self.otherwise) + len(not_judged),
            files=files,
            otherwise=self.otherwise[:_SHOWN],
            not_judged=not_judged,
            faults=self.faults,
        )

    def _checked_files(self) -> Iterator[CheckedFile]:
        """Yield what is known of each file of a snapshot without a fault."""
        paths = {layout.INDEX, *self.entries, *self.not_made}
        signed_by_known = self.signature.state == "valid" or self.signer is not None
        for path in sorted(paths - {layout.SIGNATURE, layout.PUBLIC_KEY}):
            part = layout.part_of(path)
            reason = self._reason_against(path, part)
            answer: FileAnswer = "proved" if reason is None else "only_hashed"
            alone = reason is None and (part is None or not part.made)
            if alone:
                holds = part.holds if part else "every other file with its hash, a name and a date"
                reason, answer = because("nothing_else_tells", holds=holds), "only_hashed"
            is_named = part is not None or path == layout.INDEX
            if signed_by_known and (alone or (path in self.not_made and is_named)):
                answer = "signed"
            yield CheckedFile(path=path, answer=answer, reason=reason)
        if self.signature.state == "unchecked":
            why = because("signature_not_asked")
            yield CheckedFile(path=layout.SIGNATURE, answer="only_hashed", reason=why)

    def _reason_against(self, path: str, part: layout.FileKind | None) -> Reason | None:
        """Return why a file is not what the rest of the snapshot makes of it, if so."""
        own = sum(one.path == path for one in self.otherwise)
        if own:
            return because("other_rules", n_values=own)
        if path in self.not_made:
            return self.not_made[path]
        if part is not None and part.made:
            folder = _folder_of_run(path)
            measured = (f"{layout.RESULTS}/", *(f"{kind}/" for kind in INDEXES))
            others = (one.path for one in self.otherwise if one.path.startswith(measured))
            if any(folder is None or one.startswith(folder) for one in others):
                return because("of_other_rules")
        return None


def _folder_of_run(path: str) -> str | None:
    """Return the folder of the run that a file is made of; ``None``: it is made of all."""
    name = path.rpartition("/")[2]
    if name == layout.ANSWERS:
        return path.removesuffix(name)
    folder, found, _ = path.partition(f"/{layout.PUBLISHED}/")
    return f"{folder}/" if found else None


def require(
    folder: Path,
    named: Path,
    key: Path | None = None,
    signer: signing.Signer | None = None,
    *,
    unsigned: bool = False,
) -> Snapshot:
    """Return the snapshot in a folder, which holds.

    Args:
        folder: Where it lies.
        named: What the user called it: the folder, or the archive that it was in.
        key: A public key that it must be signed with.
        signer: Who must have signed it through sigstore.
        unsigned: Whether it may have any signature, since that will be replaced.

    Raises:
        RefusedError: there is none, or the key cannot be read.
        SnapshotError: something is wrong with it.
    """
    verified = verify(folder, key, signer, unsigned=unsigned)
    if verified.faults:
        raise _SnapshotError(str(named), verified.faults[0])
    return Snapshot(
        folder,
        verified.known_index,
        verified.index_sha256 or "",
        verified.runs,
        {one.kind: one.again.index.verdicts for one in verified.judged},
        verified.signature.key_sha256 if key else None,
        signer.identity if signer else None,
    )


def verify(
    folder: Path,
    key: Path | None = None,
    signer: signing.Signer | None = None,
    *,
    unsigned: bool = False,
    views: Mapping[str, View] | None = None,
) -> _VerifiedSnapshot:
    """Verify the snapshot in a folder.

    Args:
        folder: Where it lies.
        key: A file of PEM with the public key that it must be signed with.
        signer: Who must have signed it through sigstore.
        views: What renders its page and its print, by path, so that they are held against the runs;
            ``None``: they are not.
        unsigned: Whether its signatures are left out, as they will be replaced.

    Raises:
        RefusedError: there is no such folder, the key cannot be read, or an extra is missing.
    """
    verified = _VerifiedSnapshot(folder, key, signer, unsigned, views or {})
    for step in (_opened, _index, _listed, _bytes, _contracts, _measured, _judged, _following):
        verified.faults = list(islice(step(verified), _SHOWN))
        if verified.faults:
            break
    return verified


def _opened(verified: _VerifiedSnapshot) -> Iterator[SnapshotFault]:
    """Look what lies in the folder: links, pipes, devices and what is too large are not opened."""
    folder = verified.folder
    if not folder.is_dir():
        raise RefusedError(because("no_snapshot", folder=str(folder)))
    verified.entries = {entry.path: entry for entry in storage.list_files(folder)}
    for entry in verified.entries.values():
        if entry.reason is not None and not entry.path.endswith("/"):
            yield fault_for("presence", entry.path, entry.reason)
    if layout.INDEX not in verified.entries:
        yield snapshot_fault("presence", layout.INDEX, "file_missing")


def _index(verified: _VerifiedSnapshot) -> Iterator[SnapshotFault]:
    """Read the index, and hold it against its signature before anything in it is believed."""
    folder = verified.folder
    try:
        data = storage.read_limited(folder, layout.INDEX)
        verified.index_sha256 = hashlib.sha256(data).hexdigest()
        if not verified.unsigned:
            verified.signature = signing.checked_key(folder, verified.entries, data, verified.key)
            yield from verified.signature.faults
        if verified.signer is not None:
            yield from signing.checked_keyless(folder, data, verified.signer)
        elif layout.BUNDLE in verified.entries and not verified.unsigned:
            verified.not_made[layout.BUNDLE] = because("bundle_not_asked")
            yield from signing.of_another(folder, data)
        verified.index = decode_as(SnapshotIndex, data, f"{folder}/{layout.INDEX}")
    except ContractError as error:
        yield reader_fault("schema", folder, error)


def _listed(verified: _VerifiedSnapshot) -> Iterator[SnapshotFault]:
    """Yield files that are named and not there, and those that nobody names."""
    named: set[str] = set()
    for row in verified.known_index.artifacts:
        if row.path in named:
            yield snapshot_fault("schema", layout.INDEX, "named_twice", path=row.path)
        named.add(row.path)
        if row.path in layout.NOT_INDEXED:
            yield snapshot_fault("schema", layout.INDEX, "not_to_be_named", path=row.path)
        elif row.path not in verified.entries:
            yield snapshot_fault("presence", row.path, "file_missing")
        elif layout.part_of(row.path) is None:
            yield snapshot_fault("presence", row.path, "no_such_part")
    for path, entry in verified.entries.items():
        if entry.reason is not None:  # a folder without a file
            yield fault_for("presence", path, entry.reason)
        elif path not in named and path not in layout.NOT_INDEXED:
            yield snapshot_fault("presence", path, "file_not_named")
    for part in layout.lacking(named):
        yield snapshot_fault("presence", layout.INDEX, "part_missing", part=part.holds)


def _bytes(verified: _VerifiedSnapshot) -> Iterator[SnapshotFault]:
    """Yield files that have another size or hash than the index says."""
    for row in verified.known_index.artifacts:
        try:
            n_bytes, sha256 = storage.digest(verified.folder, row.path)
        except ContractError as error:
            yield reader_fault("presence", verified.folder, error)
            continue
        if n_bytes != row.bytes:
            sizes = {"size_bytes": n_bytes, "named_bytes": row.bytes}
            yield snapshot_fault("bytes", row.path, "other_size", **sizes)
        elif sha256 != row.sha256:
            yield snapshot_fault("bytes", row.path, "other_bytes", sha256=sha256)


def _contracts(verified: _VerifiedSnapshot) -> Iterator[SnapshotFault]:
    """Yield files that do not keep the contract that they have by their path."""
    folder = verified.folder
    for row in verified.known_index.artifacts:
        path, part = row.path, layout.part_of(row.path)
        try:
            if part is not None and part.contract:
                data = storage.read_limited(folder, path, MAX_BYTES)
                _, document = parse(data, f"{folder}/{path}")
                decode(data, f"{folder}/{path}")
                if document["schema_version"] != part.contract:
                    said = str(document["schema_version"])
                    other = because("other_contract", found=said, expected=part.contract)
                    yield fault_for("schema", path, other)
            elif path in {layout.LOCK, layout.PINS}:
                read_pins(folder)
        except ContractError as error:
            yield reader_fault("schema", folder, error)
        except RefusedError as error:
            yield fault_for("schema", path, error.reason)
        except (ValueError, RecursionError) as error:
            text = f"cannot be read: {error}"
            yield snapshot_fault("schema", path, "artifact_wrong", text=text)


def _measured(verified: _VerifiedSnapshot) -> Iterator[SnapshotFault]:
    """Compute everything again that is said of each run."""
    start = f"{layout.RESULTS}/"
    names = {path.split("/")[1] for path in verified.entries if path.startswith(start)}
    for name in sorted(names):
        path = f"{layout.RESULTS}/{name}"
        try:
            found = recompute.examine(verified.folder / path)
        except UsageError:
            yield snapshot_fault("content", path, "part_missing", part="the index of a run")
            continue
        yield from _wrong_run(verified, found)
        if found.stored is not None and found.measured is not None:
            verified.stored[name], verified.runs[name] = found.stored, found.measured


def _wrong_run(verified: _VerifiedSnapshot, found: Examined) -> Iterator[SnapshotFault]:
    """Yield the faults of a run, and keep what another version says otherwise."""
    folder = verified.folder
    otherwise = found.measured.otherwise if found.measured else ()
    verified.otherwise += [reader_fault("content", folder, one) for one in otherwise]
    yield from (reader_fault("content", folder, one) for one in found.faults)


def _judged(verified: _VerifiedSnapshot) -> Iterator[SnapshotFault]:
    """Judge patterns and claims again, once their files and runs are known to hold."""
    for kind, name in INDEXES.items():
        own = [path for path in verified.entries if path.startswith(f"{kind}/")]
        if f"{kind}/{name}" not in own:
            yield from (snapshot_fault("content", path, "nothing_makes_it") for path in own)
            continue
        try:
            found = stored.read(verified.folder / kind, kind)
            faults = list(_unlike(found, own)) or list(_wrong(verified, found))
            if not faults:
                verified.judged.append(found)
        except ContractError as error:
            faults = [reader_fault("content", verified.folder, error)]
        yield from faults


def _unlike(found: Stored, own: Collection[str]) -> Iterator[SnapshotFault]:
    """Yield where the files are not those that results point to."""
    runs = [f"{found.kind}/{path}/" for path in found.pointed]
    beside = {f"{found.kind}/{name}" for name in (INDEXES[found.kind], ENVIRONMENT)}
    for path in runs:
        if f"{path}{NAME}" not in own:
            yield snapshot_fault("content", path, "part_missing", part="its index")
    for path in own:
        if path not in beside and not path.startswith(tuple(runs)):
            yield snapshot_fault("content", path, "nothing_makes_it")


def _wrong(verified: _VerifiedSnapshot, found: Stored) -> Iterator[SnapshotFault]:
    folder = verified.folder
    for path in found.pointed:
        yield from _wrong_run(verified, recompute.examine(found.folder / path))
    verified.otherwise += [reader_fault("content", folder, one) for one in found.held.otherwise]
    yield from (reader_fault("content", folder, one) for one in found.held.faults)


def _following(verified: _VerifiedSnapshot) -> Iterator[SnapshotFault]:
    """Make everything once more that follows from the runs, and compare.

    What another version made is of the runs as they were computed by that, so the one of both sides
    is taken that explains more.
    """
    same = verified.same_version()
    try:
        content = verified.content()
        least = [*_differences(verified, content)]
        if least:
            sides = least, [*_differences(verified, verified.content(as_stored=True))]
            least = min(sides, key=lambda side: (sum(always for _, always in side), len(side)))
        faults = [one for one, always in least if always or same]
        yield from faults
        if faults:
            return
        verified.otherwise += [_by_other_rules(one) for one, _ in least]
        _compare_bytes(verified, content)
        yield from _render_again(verified, content, same=same)
    except (LookupError, TypeError, ValueError, ContractError, UsageError) as error:
        what = f"holds what nothing can be made of: {type(error).__name__}: {error}"
        yield _contradiction(layout.MANIFEST, "", what)


def _contradiction(path: str, field_: str, what: str) -> SnapshotFault:
    """Return the fault of a field that says anything else than what it follows from."""
    reason = because("contradicts", text=what)
    return SnapshotFault(kind="content", path=path, field=field_, reason=reason)


def _by_other_rules(one: SnapshotFault) -> SnapshotFault:
    """Return a contradiction as what it is where another version may have made it by its rules."""
    known = one.reason.code == "contradicts"
    text = str(one.reason.values["text"]) if known else "by the rules of another version"
    return structs.replace(one, reason=because("said_otherwise", text=text))


def _differences(
    verified: _VerifiedSnapshot, content: Content
) -> Iterator[tuple[SnapshotFault, bool]]:
    """Yield where documents differ from those that runs make, and if that is true of no version."""
    files, index = verified.files, verified.known_index
    manifest = decode_as(BaselineManifest, files[layout.MANIFEST], layout.MANIFEST)
    for one in (*_of_copies(verified, content), *_of_places(files, manifest)):
        yield one, True
    stated = _stated(index, manifest, files)
    made = documents.documents_of(stated, content, files)
    start = f"{layout.PUBLISHED}/"
    for path in files:
        if path.startswith(start) and path not in made:
            yield snapshot_fault("content", path, "nothing_makes_it"), False
    for path, data in made.items():
        if path not in files:
            yield snapshot_fault("presence", path, "file_missing"), False
        else:
            yield from _differing(path, files[path], data)
    again = documents.snapshot_index(stated, content, files, index.workflow)
    for wrong in between(index, again):
        yield _contradiction(layout.INDEX, dotted(wrong.at), wrong.what), False


def _stated(
    index: SnapshotIndex, manifest: BaselineManifest, files: Mapping[str, bytes]
) -> documents.Statement:
    """Return what nothing else tells: whom the descriptions name, and how the snapshot was made."""
    deposit: Any = json.loads(files[layout.ZENODO])
    names = tuple(str(one["name"]) for one in deposit["creators"])
    return documents.Statement(
        snapshot_id=index.snapshot_id,
        generated_at=index.generated_at,
        deterministic=manifest.deterministic,
        lock=manifest.environment["lock"],
        wheel=manifest.nextstat.wheel_url or None,
        authors=() if names == (documents.NO_AUTHOR,) else names,
        licence=deposit.get("license"),
    )


def _of_places(files: Mapping[str, bytes], manifest: BaselineManifest) -> Iterator[SnapshotFault]:
    """Hold against the files which of them the manifest says that there are."""
    wheels = {path for path in files if path.startswith(f"{layout.HARNESS}/")}
    if wheels - {manifest.nextstat.wheel_url}:
        yield _contradiction(layout.MANIFEST, "nextstat.wheel_url", f"does not name {wheels.pop()}")
    if manifest.environment["lock"]["hashed"] is not (layout.LOCK in files):
        what = f"says otherwise than the files, of which {layout.LOCK} is one or is missing"
        yield _contradiction(layout.MANIFEST, "environment.lock.hashed", what)


def _of_copies(verified: _VerifiedSnapshot, content: Content) -> Iterator[SnapshotFault]:
    """Hold published results against their index, their own numbers, and those of their runs."""
    index = Index(verified.folder / layout.PUBLISHED / nextstat.INDEX)
    for row in index.checked():
        if row.fault is not None:
            yield reader_fault("content", verified.folder, row.fault)
    for path, data in verified.files.items():
        if not path.startswith(f"{layout.PUBLISHED}/"):
            continue
        record = decode(data, path)
        if isinstance(record, NextstatResult):
            for wrong in between(record, nextstat.summarised(record)):
                yield _contradiction(path, dotted(wrong.at), wrong.what)
        for run in content.runs if len(content.runs) == 1 else ():
            if run.files.get(path, data) != data:
                yield _contradiction(path, "", f"is another than {run.folder}/{path}")


_TOLD = {
    layout.PINS: "are not the distributions that the runs name",
    **dict.fromkeys(
        (layout.ZENODO, layout.CITATION, layout.CRATE),
        "does not describe the files of this snapshot",
    ),
}
"""Text about files without a contract that differ."""


def _differing(path: str, said: bytes, held: bytes) -> Iterator[tuple[SnapshotFault, bool]]:
    """Yield where two files differ; those of a contract by more than another computer rounds."""
    if said == held:
        return
    if path in _TOLD:
        yield _contradiction(path, "", _TOLD[path]), False
        return
    record = decode(said)
    found = [*between(record, decode(held))]
    for wrong in found:
        always = bool(wrong.at) and wrong.at[0] in _ALIKE.get(path, ())
        yield _contradiction(path, dotted(wrong.at), wrong.what), always
    if not found and path.startswith(f"{layout.PUBLISHED}/") and encode(record) != said:
        yield _contradiction(path, "", "is written otherwise than its contract is"), False


def _compare_bytes(verified: _VerifiedSnapshot, content: Content) -> None:
    """Tell files that say the same as what the runs make, and are not the same bytes.

    Blanks, the order of names and the last digits of a number are room for what nobody checks.
    """
    index = verified.known_index
    report = documents.validation_report(index.snapshot_id, index.generated_at, content)
    made = {layout.VALIDATION: encode(report), **documents.published_files(content)}
    for run in content.runs:
        own = documents.published_files(content._replace(runs=[run]))
        made |= {f"{run.folder}/{path}": data for path, data in own.items()}
    for run in content.all_runs:
        if run.measured.answers is not None:
            made[f"{run.folder}/{layout.ANSWERS}"] = encode(run.measured.answers)
    for path, data in verified.files.items():
        part = layout.part_of(path)
        if part is not None and part.made and part.contract and made.get(path) != data:
            verified.not_made[path] = because("written_otherwise")


def _render_again(
    verified: _VerifiedSnapshot, content: Content, *, same: bool
) -> Iterator[SnapshotFault]:
    """Render page and print once more."""
    for path in (layout.PAGE, layout.PDF):
        if path not in verified.files:
            continue
        text, data = "nothing renders it", None
        try:
            data = verified.views[path](content) if path in verified.views else None
        except UsageError as error:
            text = str(error)
        if data is None:
            verified.not_made[path] = because("not_made_again", text=text)
        elif _unpacked(data) == _unpacked(verified.files[path]):
            continue
        # Other versions of what draws and sets figures make other bytes; of a page, that is none.
        elif same and path == layout.PAGE:
            yield _contradiction(path, "", "is not the page that the runs make")
        else:
            verified.not_made[path] = because("made_otherwise")


def _unpacked(page: bytes) -> bytes:
    """Return a page with its data as they are, since zlib compresses them as its version does."""

    def plain(packed: re.Match[bytes]) -> bytes:
        try:
            member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            decoded = base64.b64decode(packed[0])
            data = member.decompress(decoded, MAX_BYTES)
        except (zlib.error, ValueError):
            return packed[0]
        plainly = decoded.startswith(_BARE) and base64.b64encode(decoded) == packed[0]
        alone = member.eof and not member.unused_data and plainly
        return data if alone else packed[0]

    return _PACKED.sub(plain, page)
