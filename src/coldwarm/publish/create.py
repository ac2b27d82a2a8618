"""Making a snapshot: every file is made in memory, looked through, and written at once."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from packaging.utils import canonicalize_name

from coldwarm.contracts import codec
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.publish import (
    citing,
    environment,
    layout,
    lock,
    manifest,
    packages,
    redacting,
    registry,
    validation,
    wheel,
)
from coldwarm.publish.code import not_repeatable
from coldwarm.publish.writing import sha256_of, unwritable, write_new
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.user_input import is_private

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.reasons import Reason
    from coldwarm.publish.code import Code
    from coldwarm.publish.runs import Collected, Content, View


_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Request:
    """What a snapshot is made of and what it is called."""

    snapshot_id: str
    results: Collected
    deterministic: bool = False
    with_wheel: bool = False
    sources: packages.Sources | None = field(default_factory=packages.Sources)
    """Where wheels are asked for; ``None``: nowhere, so that there is no lock with hashes."""
    code: Code | None = None
    """Functions of the runs; ``None``: they are left out."""
    authors: tuple[str, ...] = ()
    licence: str | None = None
    workflow: Mapping[str, str] = field(default_factory=dict)
    """What is told of the workflow that makes the snapshot; left out where it is deterministic."""
    views: Mapping[str, View] = field(default_factory=dict)
    """Files that are rendered by the reports: by path, such as ``report.html``."""


class Made(NamedTuple):
    """A snapshot as far as it is made."""

    snapshot_id: str
    generated_at: str
    content: Content
    files: dict[str, bytes]
    """By path."""
    not_locked: list[str]
    """Distributions of which the lock has no wheel."""
    no_lock: Reason | None
    """Why there is no lock with hashes; ``None``: there is one."""
    not_repeatable: dict[str, Reason]
    """Why others cannot measure a case again from the snapshot."""
    masked: list[str]
    """Where something is masked that was not when it was measured."""

    @property
    def index_sha256(self) -> str:
        """What identifies its content."""
        return sha256_of(self.files[layout.INDEX])


def create(request: Request, folder: Path, known: Path | None = None) -> Made:
    """Make a snapshot in a folder that is empty or not there, whole or not at all.

    Args:
        request: What it is made of.
        folder: Where it is to lie.
        known: A registry whose ids are taken; ``None``: that beside the folder, if there is one.

    Raises:
        UsageError: the id is no id or taken, or the folder is not empty.
        ContractError: something private would be told.
        StorageError: it cannot be written.
    """
    _refuse_id(request.snapshot_id)
    citing.refuse(request.authors, request.licence)
    _refuse_content(folder)
    if not request.deterministic:
        registry.refuse_taken(folder, known, request.snapshot_id, None)
    made = make(request)
    registry.refuse_taken(folder, known, made.snapshot_id, made.index_sha256)
    _write(folder, made.files)
    return made


def _refuse_id(snapshot_id: str) -> None:
    """Refuse an id that is no plain name, or would be masked.

    Raises:
        UsageError: it is one of these.
    """
    if not _ID.fullmatch(snapshot_id):
        text = "--id takes letters, digits, dots, dashes and underscores, at most 100, such as"
        raise UsageError(f"{text} ml-2026-02: got {snapshot_id[:100]!r}")
    if is_private(snapshot_id):
        raise UsageError("--id holds something private, which would be told; choose another")


def _refuse_content(folder: Path) -> None:
    """Refuse a folder that holds anything, or is a file.

    Raises:
        UsageError: it does.
    """
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise UsageError(f"{folder} is a file or a link; choose another --out-dir")
    if (folder / layout.INDEX).exists():
        text = f"{folder} already holds a snapshot, which nothing changes; choose another --out-dir"
        raise UsageError(text)
    if any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; choose an empty or new --out-dir")


def make(request: Request) -> Made:
    """Return every file of a snapshot.

    Raises:
        UsageError: a result is no run, or the wheel would not be of what measured.
        InvalidResultError: a result is not valid.
        ContractError: something private would be told.
    """
    content = request.results.content
    if not content.environments:
        text = "nothing tells where these results were measured: their folder has no"
        raise UsageError(f"{text} environment.json; measure again")
    generated_at = content.finished_at
    if not request.deterministic:
        generated_at = datetime.now(UTC).isoformat(timespec="seconds")
    code = request.code.files if request.code else {}
    files = {f"{layout.CODE}/{path}": data for path, data in code.items()}
    files |= {**content.placed, **manifest.published_files(content)}
    own = _wheel(content) if request.with_wheel else None
    missing, no_lock = _lock(request, content, files, own)
    lacks = {"hashed": no_lock is None, "without_wheel": missing}
    settings = manifest.Settings(request.deterministic, lacks, own and own[0])
    said = manifest.manifest(request.snapshot_id, content, files, settings)
    files[layout.MANIFEST] = codec.encode(said)
    report = validation.report(request.snapshot_id, generated_at, *content)
    files[layout.VALIDATION] = codec.encode(report)
    made = Made(
        snapshot_id=request.snapshot_id,
        generated_at=generated_at,
        content=content,
        files=files,
        not_locked=missing,
        no_lock=no_lock,
        not_repeatable=not_repeatable(content.runs, request.code),
        masked=request.results.masked,
    )
    for path, view in request.views.items():
        data = view(content)
        if data is not None:
            files[path] = data
    _describe(request, made)
    return made


def _describe(request: Request, made: Made) -> None:
    """Add what describes all other files, and the index last."""
    about = citing.described(
        made.snapshot_id, made.generated_at, made.content, request.authors, request.licence
    )
    made.files[layout.CITATION] = citing.citation(about)
    made.files[layout.ZENODO] = citing.zenodo(about)
    made.files[layout.CRATE] = citing.crate(about, made.files)
    workflow = {} if request.deterministic else request.workflow
    index = manifest.index(made.snapshot_id, made.generated_at, made.content, made.files, workflow)
    made.files[layout.INDEX] = codec.encode(index)
    redacting.refuse_secrets(made.files)


def _wheel(content: Content) -> tuple[str, bytes]:
    """Return the path and bytes of the wheel of what measured."""
    if manifest.harness_sha256(content) not in {harness_sha256(), manifest.UNKNOWN}:
        text = "--with-wheel: the results were measured by other sources than those installed here"
        raise UsageError(f"{text}; leave it out, or measure again")
    return f"{layout.HARNESS}/{wheel.NAME}", wheel.build()


def _lock(
    request: Request,
    content: Content,
    files: dict[str, bytes],
    own: tuple[str, bytes] | None,
) -> tuple[list[str], Reason | None]:
    """Add the lock and the pins; return what lacks a wheel, and why there is no lock if so."""
    pinned = lock.pins(content)
    files[layout.PINS] = lock.requirements(pinned, own and own[0]).encode()
    if own is not None:
        files[own[0]] = own[1]
    if request.sources is None:
        return sorted(pinned), because("no_index_asked")
    requires = request.code.requires if request.code else ()
    locked = environment.of_pins(_roots(content, requires), pinned)
    asked = {name: version for name, version in locked.items() if name != lock.OWN}
    try:
        python = ".".join(content.environments[0].python.version.split(".")[:2])
        found = packages.wheels(asked, python, request.sources)
    except packages.UnreachableError as error:
        return sorted(pinned), error.reason
    locked |= {name: pinned[name] for name in pinned.keys() & {lock.OWN}}
    made = lock.pylock(locked, content.environments[0], found, own, requires)
    files[layout.LOCK] = made.text.encode()
    return made.missing, None


def _roots(content: Content, requires: Sequence[str]) -> set[str]:
    """Return what is needed to measure it again besides what coldwarm requires."""
    measured = [run.measured for run in content.all_runs]
    told = {
        name
        for run in measured
        for case in run.cases.values()
        for one in case.observations
        for name in one.versions
    }
    return environment.of_runs(measured, known=False) | {
        canonicalize_name(n) for n in (*told, *requires)
    }


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files beside the folder, and give them its name when they are on the disk."""
    target = folder.absolute()
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        for path, data in files.items():
            write_new(part / path, data)
        part.rename(target)  # takes the place of an empty folder, and of nothing else
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        with suppress(OSError):
            shutil.rmtree(part)
