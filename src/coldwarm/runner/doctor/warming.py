"""Writes what fills JAX's cache beforehand: a script, and beside it the programs."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from coldwarm.doctor.kept.programs import FOLDER, MODULE, OPTIONS
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.stats.doctor.kept import Programs

_ENDING = ".programs.zip"
"""Of the archive, in the place of the script's own."""
_WHEN = (1980, 1, 1, 0, 0, 0)
"""Of each file in the archive: the same programs make the same bytes."""


def archive_of(script: Path) -> Path:
    """Return where the programs of a script lie."""
    return script.with_name(script.stem + _ENDING)


def refuse(script: Path) -> None:
    """Refuse to write over a file that is no such script, before a program is run in vain.

    Raises:
        UsageError: there is one.
    """
    has_text = script.is_file() and script.stat().st_size > 0
    if has_text and not archive_of(script).is_file():
        raise UsageError(
            f"--warmup: {script} is there, and --warmup has not written it; name another file"
        )


def write(found: Programs, text: str, script: Path, journal: Path) -> None:
    """Write a script and the archive of its programs, which lie beside the journal.

    Raises:
        UsageError: they cannot be written there.
    """
    try:
        with zipfile.ZipFile(archive_of(script), "w", zipfile.ZIP_DEFLATED) as archive:
            for one in found.kept:
                for end in (MODULE, OPTIONS):
                    raw = (journal / FOLDER / f"{one.file}{end}").read_bytes()
                    entry = zipfile.ZipInfo(f"{one.file}{end}", _WHEN)
                    archive.writestr(entry, raw, zipfile.ZIP_DEFLATED)
        script.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = f"{error.strerror}: {error.filename}"
        raise UsageError(f"--warmup: {script} cannot be written: {reason}") from error
