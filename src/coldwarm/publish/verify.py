"""A snapshot verified as a whole: bytes, contracts, signature, and everything that is computed."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from coldwarm.catalogue import stored
from coldwarm.contracts import reader
from coldwarm.contracts.catalogue import INDEXES
from coldwarm.contracts.codec import decode_as
from coldwarm.contracts.environment import ENVIRONMENT
from coldwarm.contracts.reader import NAME
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.snapshot import CheckedFile, SnapshotIndex, Verification
from coldwarm.errors import ContractError, UsageError
from coldwarm.publish import faults, following, layout, opening, signing
from coldwarm.publish.faults import SnapshotError, fault, told
from coldwarm.publish.runs import Judged
from coldwarm.runner import consistency, recompute
from coldwarm.runner.recompute import validated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from coldwarm.catalogue.stored import Stored
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.contracts.snapshot import FileAnswer, SnapshotFault
    from coldwarm.publish.runs import View


_SHOWN = 100
"""Faults that are told: one alone is enough."""


@dataclass
class _Verified:
    """A snapshot, and what was found out about it so far."""

    folder: Path
    key: Path | None
    """The public key that it should be signed with."""
    signer: signing.Signer | None = None
    """Who must have signed it through sigstore."""
    unsigned: bool = False
    files: dict[str, opening.Entry] = field(default_factory=dict)
    index: SnapshotIndex | None = None
    index_sha256: str | None = None
    signature: signing.Signature = field(default_factory=signing.Signature)
    runs: dict[str, Measured] = field(default_factory=dict)
    """By the name of their folder, everything in them computed again."""
    stored: dict[str, Measured] = field(default_factory=dict)
    """The same as they lie there."""
    judged: list[Stored] = field(default_factory=list)
    """Its patterns and claims."""
    views: Mapping[str, View] = field(default_factory=dict)
    """What renders its page and its print."""
    otherwise: list[SnapshotFault] = field(default_factory=list)
    """What the rules of today make otherwise, where another version says that it has measured."""
    not_made: dict[str, Reason] = field(default_factory=dict)
    """Files that were not made again, and why."""
    faults: list[SnapshotFault] = field(default_factory=list)

    def content(self) -> tuple[SnapshotIndex, str, dict[str, Measured]]:
        """Return index, hash of that, and runs of a snapshot that holds."""
        if self.index is None or self.index_sha256 is None:
            raise SnapshotError(str(self.folder), fault("presence", layout.INDEX, "file_missing"))
        return self.index, self.index_sha256, self.runs

    def _cases(self) -> list[CaseResult]:
        of_verdicts = (run for one in self.judged for run in one.runs.values())
        runs = (*self.runs.values(), *of_verdicts)
        return [case for run in runs for case in run.cases.values()]

    def same_version(self) -> bool:
        """Say whether all of it says that this version has measured it."""
        judged = all(one.same_version for one in self.judged)
        return judged and all(map(recompute.same_harness, self._cases()))

    def told(self, path: Path) -> Verification:
        """Return the record of it; ``path``: the folder or archive, as it was named."""
        rows = self.index.artifacts if self.index else []
        cases = [] if self.faults else self._cases()
        not_judged = [left for one in self.judged for left in one.again.not_judged]
        n_verdicts = sum(len(one.index.results) for one in self.judged) - len(not_judged)
        files = [] if self.faults else list(self._files())
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

    def _files(self) -> Iterator[CheckedFile]:
        """Yield what is known of each file of a snapshot without a fault."""
        paths = {layout.INDEX, *self.files, *self.not_made}
        for path in sorted(paths - {layout.SIGNATURE, layout.PUBLIC_KEY}):
            part = layout.part_of(path)
            reason = self._reason_against(path, part)
            answer: FileAnswer = "proved" if reason is None else "only_hashed"
            alone = reason is None and (part is None or not part.made)
            if reason is None and alone:
                holds = part.holds if part else "every other file with its hash, a name and a date"
                reason, answer = because("nothing_else_tells", holds=holds), "only_hashed"
            is_named = part is not None or path == layout.INDEX
            if (alone or (path in self.not_made and is_named)) and self._signed_by_known():
                answer = "signed"
            yield CheckedFile(path=path, answer=answer, reason=reason)
        if self.signature.state == "unchecked":
            why = because("signature_not_asked")
            yield CheckedFile(path=layout.SIGNATURE, answer="only_hashed", reason=why)

    def _signed_by_known(self) -> bool:
        return self.signature.state == "valid" or self.signer is not None

    def _reason_against(self, path: str, part: layout.Part | None) -> Reason | None:
        """Return why a file is not what the rest of the snapshot makes of it, if so."""
        own = sum(one.path == path for one in self.otherwise)
        if own:
            return because("other_rules", n_values=own)
        if path in self.not_made:
            return self.not_made[path]
        folder = _folder_of_run(path)
        measured = (f"{layout.RESULTS}/", *(f"{kind}/" for kind in INDEXES))
        if part is not None and part.made:
            others = (one.path for one in self.otherwise if one.path.startswith(measured))
            if any(folder is None or one.startswith(folder) for one in others):
                return because("of_other_rules")
        return None


def _folder_of_run(path: str) -> str | None:
    """Return the folder of the run that a file is made of; ``None``: it is made of all."""
    name = path.rpartition("/")[2]
    if name == layout.ANSWERS:
        return path.removesuffix(name)
    inside, found, _ = path.partition(f"/{layout.PUBLISHED}/")
    return f"{inside}/" if found else None


def require(
    folder: Path,
    named: Path,
    key: Path | None = None,
    signer: signing.Signer | None = None,
    *,
    unsigned: bool = False,
) -> _Verified:
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
        raise SnapshotError(str(named), verified.faults[0])
    return verified


def verify(
    folder: Path,
    key: Path | None = None,
    signer: signing.Signer | None = None,
    *,
    unsigned: bool = False,
    views: Mapping[str, View] | None = None,
) -> _Verified:
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
    verified = _Verified(folder, key, signer, unsigned, views=views or {})
    for step in (_opened, _index, _listed, _bytes, _contracts, _measured, _judged, _following):
        verified.faults = list(islice(step(verified), _SHOWN))
        if verified.faults:
            break
    return verified


def _opened(verified: _Verified) -> Iterator[SnapshotFault]:
    """Look what lies in the folder."""
    folder = verified.folder
    if not folder.is_dir():
        raise RefusedError(because("no_snapshot", folder=str(folder)))
    verified.files = {entry.path: entry for entry in opening.entries(folder)}
    yield from faults.unopened(verified.files)
    if layout.INDEX not in verified.files:
        yield fault("presence", layout.INDEX, "file_missing")


def _index(verified: _Verified) -> Iterator[SnapshotFault]:
    """Read the index, and hold it against its signature before anything in it is believed."""
    folder = verified.folder
    try:
        data = opening.read_limited(folder, layout.INDEX)
        verified.index_sha256 = hashlib.sha256(data).hexdigest()
        if not verified.unsigned:
            verified.signature = signing.checked_key(folder, verified.files, data, verified.key)
            yield from verified.signature.faults
        if verified.signer is not None:
            yield from signing.checked_keyless(folder, data, verified.signer)
        elif layout.BUNDLE in verified.files and not verified.unsigned:
            verified.not_made[layout.BUNDLE] = because("bundle_not_asked")
            yield from signing.of_another(folder, data)
        verified.index = decode_as(SnapshotIndex, data, f"{folder}/{layout.INDEX}")
    except ContractError as error:
        yield told("schema", folder, error)


def _listed(verified: _Verified) -> Iterator[SnapshotFault]:
    if verified.index is not None:
        yield from faults.missing_or_more(verified.index, verified.files)


def _bytes(verified: _Verified) -> Iterator[SnapshotFault]:
    for row in verified.index.artifacts if verified.index else ():
        yield from faults.other_bytes(verified.folder, row)


def _contracts(verified: _Verified) -> Iterator[SnapshotFault]:
    for row in verified.index.artifacts if verified.index else ():
        yield from faults.other_contract(verified.folder, row.path)


def _measured(verified: _Verified) -> Iterator[SnapshotFault]:
    """Compute everything again that is said of each run."""
    names = {path.split("/")[1] for path in verified.files if path.startswith(f"{layout.RESULTS}/")}
    for name in sorted(names):
        folder = verified.folder / layout.RESULTS / name
        otherwise: list[ContractError] = []
        for finding in validated(folder):
            if finding.error is not None:
                yield told("content", verified.folder, finding.error)
            otherwise += finding.otherwise
        verified.otherwise += [told("content", verified.folder, error) for error in otherwise]
        try:
            stored = reader.read(folder)
            verified.stored[name] = stored
            made = recompute.computed_again(stored).measured
            verified.runs[name] = replace(made, otherwise=tuple(otherwise))
        except ContractError as error:
            yield told("content", verified.folder, error)
        except UsageError:
            path = f"{layout.RESULTS}/{name}"
            yield fault("content", path, "part_missing", part="the index of a run")


def _judged(verified: _Verified) -> Iterator[SnapshotFault]:
    """Judge patterns and claims again, once their files and runs are known to hold."""
    for kind, name in INDEXES.items():
        own = [path for path in verified.files if path.startswith(f"{kind}/")]
        if f"{kind}/{name}" not in own:
            yield from (fault("content", path, "nothing_makes_it") for path in own)
            continue
        try:
            found = stored.read(verified.folder / kind, kind)
            faults = list(_unlike(found, own) or _wrong(verified, found))
            if not faults:
                verified.judged.append(found)
        except ContractError as error:
            faults = [told("content", verified.folder, error)]
        yield from faults


def _unlike(found: Stored, own: Collection[str]) -> list[SnapshotFault]:
    """Return where the files are not those that results point to."""
    runs = [f"{found.kind}/{path}/" for path in found.pointed]
    lacking = [path for path in runs if f"{path}{NAME}" not in own]
    beside = {f"{found.kind}/{name}" for name in (INDEXES[found.kind], ENVIRONMENT)}
    more = [p for p in own if p not in beside and not p.startswith(tuple(runs))]
    return [
        *(fault("content", path, "part_missing", part="its index") for path in lacking),
        *(fault("content", path, "nothing_makes_it") for path in more),
    ]


def _wrong(verified: _Verified, found: Stored) -> Iterator[SnapshotFault]:
    folder = verified.folder
    for path in found.pointed:
        for finding in validated(found.folder / path):
            if finding.error is not None:
                yield told("content", folder, finding.error)
            verified.otherwise += [told("content", folder, one) for one in finding.otherwise]
    verified.otherwise += [told("content", folder, one) for one in found.held.otherwise]
    yield from (told("content", folder, one) for one in found.held.faults)


def _today(one: Stored) -> Judged:
    n_otherwise = len(one.held.otherwise)
    return Judged(one.kind, one.again.index, one.runs, one.again.reasons, n_otherwise)


def _following(verified: _Verified) -> Iterator[SnapshotFault]:
    """Hold what is derived from the runs against what they make."""
    if verified.index is None:
        return
    whole, again = (
        following.Whole(verified.folder, verified.index, runs, judged)
        for runs, judged in (
            (verified.stored, [Judged(o.kind, o.index, o.as_stored) for o in verified.judged]),
            (verified.runs, [_today(one) for one in verified.judged]),
        )
    )
    found = following.followed(whole, again, verified.views, same=verified.same_version())
    verified.otherwise += found.otherwise
    verified.not_made |= found.not_made
    yield from found.faults
