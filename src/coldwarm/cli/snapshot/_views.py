"""The files of a snapshot that the reports render."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from coldwarm.cli._options import say
from coldwarm.installing import MissingError
from coldwarm.publish import layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.publish.runs import Content, View

_FORMATS = {"html": layout.PAGE, "pdf": layout.PDF}


def available() -> Mapping[str, View]:
    """Return what renders each such file, by its path as ``coldwarm.publish.layout`` has it."""
    return {path: partial(_rendered, name, path) for name, path in _FORMATS.items()}


def rendering() -> Mapping[str, View]:
    """Return the same, which raises ``MissingError`` where an extra is missing."""
    return {path: partial(_made, name, path) for name, path in _FORMATS.items()}


def _rendered(name: str, path: str, content: Content) -> bytes | None:
    """Return a file; ``None``: there is nothing to show, or an extra is missing, which is told."""
    try:
        return _made(name, path, content)
    except MissingError as error:
        say(f"coldwarm: {path} is left out: {error}", err=True)
        return None


def _made(name: str, path: str, content: Content) -> bytes | None:
    from coldwarm.catalogue.describe import verdict_table
    from coldwarm.report.formats import base

    results = [run.measured for run in content.runs]
    format_ = base.load(name)
    with_verdicts = getattr(format_, "with_verdicts", None)
    if with_verdicts is not None:
        verdicts = [
            verdict_table(one.index, one.environment, one.not_judged, one.n_otherwise)
            for one in content.verdicts
        ]
        files: dict[str, bytes] = with_verdicts(results, verdicts, path)
        return files[path]
    return format_.files(results, path)[path] if results else None
