"""Whether what a snapshot says besides its runs follows from them: all of it is made once more."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coldwarm.contracts import nextstat
from coldwarm.contracts.codec import MAX_BYTES, decode, decode_as, encode
from coldwarm.contracts.nextstat import NextstatResult
from coldwarm.contracts.parsing import dotted
from coldwarm.contracts.reader import Index
from coldwarm.contracts.reasons import because
from coldwarm.contracts.snapshot import BaselineManifest, ValidationReport
from coldwarm.errors import ContractError, UsageError
from coldwarm.publish import citing, layout, lock, manifest, validation
from coldwarm.publish.faults import by_other_rules, contradiction, fault, told
from coldwarm.publish.opening import read_limited
from coldwarm.publish.runs import Content, Run, below, verdicts_of
from coldwarm.runner import consistency
from coldwarm.runner.consistency import between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.base import Record
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import Measured
    from coldwarm.contracts.snapshot import SnapshotFault, SnapshotIndex
    from coldwarm.publish.runs import Judged, View


_PACKED = re.compile(rb"H4sI[A-Za-z0-9+/]{20,}={0,2}")
"""What gzip begins with, in base64."""
_BARE = b"\x1f\x8b\x08" + bytes(5)
"""The same where it has no name, no remark and no date."""


@dataclass(frozen=True)
class Whole:
    """A snapshot whose runs hold."""

    folder: Path
    index: SnapshotIndex
    measured: Mapping[str, Measured]
    """By the name of their folder."""
    judged: Sequence[Judged] = ()
    """Its patterns and claims."""

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The bytes of every file that the index names."""
        most = MAX_BYTES
        return {row.path: read_limited(self.folder, row.path, most) for row in self.index.artifacts}

    @cached_property
    def runs(self) -> list[Run]:
        """The runs as they were put into the snapshot, in its order."""
        made = []
        for name, one in self.measured.items():
            files = below(self.files, f"{layout.RESULTS}/{name}/")
            if one.suite is not None and one.environment is not None:
                cases = [*one.cases.values()]
                made.append(Run(name, one.suite, one.environment, cases, files, one.otherwise))
        return sorted(made, key=lambda run: (run.suite.suite, run.suite.started_at))

    @cached_property
    def content(self) -> Content:
        """The runs, and the verdicts on patterns and claims."""
        found = [verdicts_of(one, below(self.files, f"{one.kind}/")) for one in self.judged]
        return Content(self.runs, found)

    @cached_property
    def published(self) -> dict[str, bytes]:
        """The published results of all runs, and their index."""
        return manifest.published_files(self.content)

    @cached_property
    def made(self) -> dict[str, bytes]:
        """Every file of a contract that is made of others alone, as this version writes it."""
        index, content = self.index, self.content
        report = validation.report(index.snapshot_id, index.generated_at, *content)
        made = {layout.VALIDATION: encode(report), **self.published}
        for run in content.runs:
            own = Content([run], [])
            files = self.published if len(content.all_runs) == 1 else manifest.published_files(own)
            made |= {f"{run.folder}/{path}": data for path, data in files.items()}
        measured = {f"{layout.RESULTS}/{name}": one for name, one in self.measured.items()}
        for judged in self.judged:
            measured |= {f"{judged.kind}/{path}": one for path, one in judged.runs.items()}
        for folder, one in measured.items():
            if one.answers is not None:
                made[f"{folder}/{layout.ANSWERS}"] = encode(one.answers)
        return made

    @cached_property
    def manifest(self) -> BaselineManifest:
        """What the manifest says."""
        return decode_as(BaselineManifest, self.files[layout.MANIFEST], layout.MANIFEST)

    @cached_property
    def report(self) -> ValidationReport:
        """What the validation report says."""
        return decode_as(ValidationReport, self.files[layout.VALIDATION], layout.VALIDATION)


@dataclass
class _Followed:
    """What was found out about everything that is made of the runs."""

    faults: list[SnapshotFault] = field(default_factory=list)
    otherwise: list[SnapshotFault] = field(default_factory=list)
    """What the rules of today make otherwise, where all may be of another version."""
    not_made: dict[str, Reason] = field(default_factory=dict)
    """Files that were not made again, or came out otherwise for reasons that may be innocent."""


def followed(whole: Whole, again: Whole, views: Mapping[str, View], *, same: bool) -> _Followed:
    """Make every file once more that is made of the runs, and compare.

    Args:
        whole: The snapshot, with its runs as they lie there.
        again: The same with everything computed by this version, as ``create`` takes runs.
        views: What renders files: by path, such as ``report.html``.
        same: Whether this version says that it has measured all of them. It decides what a
            difference is called, never whether it is looked for.
    """
    found = _Followed()
    try:
        found.faults += _named(whole)
        # What another version made is of the runs as they were computed by that.
        found.faults += _fewest(_alike, again, whole)
        made = [] if found.faults else _fewest(_made, again, whole)
        if same:
            found.faults += made
        else:
            found.otherwise += map(by_other_rules, made)
        if not found.faults:
            _written(again, found)
            _viewed(again, views, found, same=same)
    except (LookupError, TypeError, ValueError, ContractError, UsageError) as error:
        what = f"holds what nothing can be made of: {type(error).__name__}: {error}"
        found.faults.append(contradiction(layout.MANIFEST, "", what))
    return found


def _fewest(held: Callable[[Whole], Iterator[SnapshotFault]], *sides: Whole) -> list[SnapshotFault]:
    """Return what is wrong with the side of which that is least."""
    least: list[SnapshotFault] | None = None
    for side in sides:
        found = list(held(side))
        if not found:
            return []
        if least is None or len(found) < len(least):
            least = found
    return least or []


def _written(again: Whole, found: _Followed) -> None:
    """Tell files that say the same as what the runs make, and are not the same bytes.

    Blanks, the order of names and the last digits of a number are room for what nobody checks.
    """
    made = again.made
    for path, data in again.files.items():
        part = layout.part_of(path)
        if part is None or not part.made or not part.contract or made.get(path) == data:
            continue
        found.not_made[path] = because("written_otherwise")


def _viewed(whole: Whole, views: Mapping[str, View], found: _Followed, *, same: bool) -> None:
    """Render page and print once more."""
    for path in (layout.PAGE, layout.PDF):
        if path not in whole.files:
            continue
        if path not in views:
            found.not_made[path] = because("not_made_again", text="nothing renders it")
            continue
        try:
            data = views[path](whole.content)
        except UsageError as error:
            found.not_made[path] = because("not_made_again", text=str(error))
            continue
        if data is None:
            found.not_made[path] = because("not_made_again", text="nothing renders it")
            continue
        if _unpacked(data) == _unpacked(whole.files[path]):
            continue
        # Other versions of what draws and sets figures make other bytes; of a page, that is none.
        if same and path == layout.PAGE:
            what = "is not the page that the runs make"
            found.faults.append(contradiction(path, "", what))
        else:
            found.not_made[path] = because("made_otherwise")


def _unpacked(page: bytes) -> bytes:
    """Return a page with its data as they are, since zlib compresses them as its version does."""

    def plain(packed: re.Match[bytes]) -> bytes:
        try:
            member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            told = base64.b64decode(packed[0])
            data = member.decompress(told, MAX_BYTES)
        except (zlib.error, ValueError):
            return packed[0]
        plainly = told.startswith(_BARE) and base64.b64encode(told) == packed[0]
        alone = member.eof and not member.unused_data and plainly
        return data if alone else packed[0]

    return _PACKED.sub(plain, page)


def _named(whole: Whole) -> Iterator[SnapshotFault]:
    """Hold names, dates and hashes against each other, which every version writes alike."""
    index, hashes = whole.index, {row.path: row.sha256 for row in whole.index.artifacts}
    pairs = [
        (layout.MANIFEST, "snapshot_id", whole.manifest.snapshot_id, index.snapshot_id),
        (layout.VALIDATION, "snapshot_id", whole.report.snapshot_id, index.snapshot_id),
        (layout.VALIDATION, "generated_at", whole.report.generated_at, index.generated_at),
    ]
    for place, row in enumerate(whole.manifest.results):
        said = hashes.get(row.path, "nothing")
        pairs.append((layout.MANIFEST, f"results[{place}].sha256", row.sha256, said))
    for path, at, said, held in pairs:
        if said != held:
            what = f"says {said!r}, but {layout.INDEX} says {held!r}"
            yield contradiction(path, at, what)
    inputs = {
        (case.dataset_id, case.dataset_sha256)
        for run in whole.measured.values()
        for case in run.cases.values()
        if case.dataset_sha256 is not None
    }
    if {(one.id, one.sha256) for one in whole.manifest.datasets} != inputs:
        yield contradiction(layout.MANIFEST, "datasets", "are not the inputs of its cases")
    wheels = {path for path in whole.files if path.startswith(f"{layout.HARNESS}/")}
    if wheels - {whole.manifest.nextstat.wheel_url}:
        yield contradiction(layout.MANIFEST, "nextstat.wheel_url", f"does not name {wheels.pop()}")
    if whole.manifest.environment["lock"]["hashed"] is not (layout.LOCK in whole.files):
        what = f"says otherwise than the files, of which {layout.LOCK} is one or is missing"
        yield contradiction(layout.MANIFEST, "environment.lock.hashed", what)


def _made(whole: Whole) -> Iterator[SnapshotFault]:
    """Make everything once more, and compare."""
    content, index, files = whole.content, whole.index, whole.files
    made = whole.published
    start = f"{layout.PUBLISHED}/"
    for path in {**made, **{path: b"" for path in files if path.startswith(start)}}:
        if path not in made:
            yield fault("content", path, "nothing_makes_it")
        elif path not in files:
            yield fault("presence", path, "file_missing")
        else:
            yield from _differing(path, files[path], made[path])
    wheel = whole.manifest.nextstat.wheel_url or None
    settings = manifest.Settings(
        deterministic=whole.manifest.deterministic,
        lock=whole.manifest.environment["lock"],
        wheel=wheel,
    )
    again: list[tuple[str, Record, Record]] = [
        (
            layout.MANIFEST,
            whole.manifest,
            manifest.manifest(index.snapshot_id, content, files, settings),
        ),
        (
            layout.VALIDATION,
            whole.report,
            validation.report(index.snapshot_id, index.generated_at, *content),
        ),
        (
            layout.INDEX,
            index,
            manifest.index(index.snapshot_id, index.generated_at, content, files, index.workflow),
        ),
    ]
    for path, said, held in again:
        for one in between(said, held):
            yield contradiction(path, dotted(one.at), one.what)
    yield from _described(whole)
    pins = lock.requirements(lock.pins(content), wheel).encode()
    if files[layout.PINS] != pins:
        yield contradiction(layout.PINS, "", "are not the distributions that the runs name")


def _alike(whole: Whole) -> Iterator[SnapshotFault]:
    """Hold what every version makes alike against the runs."""
    made = validation.report(whole.index.snapshot_id, whole.index.generated_at, whole.runs)
    for name in ("gates", "figures"):
        said, held = (len(getattr(one, name)) for one in (whole.report, made))
        pairs = zip(getattr(whole.report, name), getattr(made, name), strict=False)
        if said != held:
            what = f"are {said}, but the runs make {held}"
            yield contradiction(layout.VALIDATION, name, what)
        for place, (one, other) in enumerate(pairs):
            for wrong in between(one, other):
                at = dotted((name, place, *wrong.at))
                yield contradiction(layout.VALIDATION, at, wrong.what)
    yield from _numbers(whole)


def _numbers(whole: Whole) -> Iterator[SnapshotFault]:
    """Hold published results against their index, and against the numbers that they list."""
    for row in Index(whole.folder / layout.PUBLISHED / nextstat.INDEX).checked():
        if row.fault is not None:
            yield told("content", whole.folder, row.fault)
    for path, data in whole.files.items():
        if not path.startswith(f"{layout.PUBLISHED}/"):
            continue
        record = decode(data, path)
        for wrong in (
            consistency.wrong_published(record) if isinstance(record, NextstatResult) else ()
        ):
            yield contradiction(path, dotted(wrong.at), wrong.what)
        for run in whole.runs:
            own = run.files.get(path)
            if own is not None and own != data and len(whole.runs) == 1:
                yield contradiction(path, "", f"is another than {run.folder}/{path}")


def _differing(path: str, said: bytes, held: bytes) -> Iterator[SnapshotFault]:
    """Yield where two files of a contract differ, by more than another computer rounds."""
    if said == held:
        return
    record = decode(said)
    found = [contradiction(path, dotted(one.at), one.what) for one in between(record, decode(held))]
    if not found and encode(record) != said:
        found = [contradiction(path, "", "is written otherwise than its contract is")]
    yield from found


def _described(whole: Whole) -> Iterator[SnapshotFault]:
    """Hold the descriptions against what they describe; whom they name, nothing else tells."""
    deposit: Any = json.loads(whole.files[layout.ZENODO])
    names = tuple(str(one["name"]) for one in deposit["creators"])
    about = citing.described(
        whole.index.snapshot_id,
        whole.index.generated_at,
        whole.content,
        () if names == (citing.NO_AUTHOR,) else names,
        deposit.get("license"),
    )
    listed = {path: data for path, data in whole.files.items() if path != layout.CRATE}
    for path, made in (
        (layout.ZENODO, citing.zenodo(about)),
        (layout.CITATION, citing.citation(about)),
        (layout.CRATE, citing.crate(about, listed)),
    ):
        if whole.files[path] != made:
            yield contradiction(path, "", "does not describe the files of this snapshot")
