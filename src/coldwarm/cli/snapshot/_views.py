"""The files of a snapshot that the reports render."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from coldwarm.publish import layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.publish.runs import Content, View

_FORMATS = {"html": layout.PAGE, "pdf": layout.PDF}


def available() -> Mapping[str, View]:
    """Return what renders each such file, by its path as ``coldwarm.publish.layout`` has it."""
    from coldwarm.report.formats import base

    return {
        path: partial(_rendered, name, path)
        for name, path in _FORMATS.items()
        if name in base.names()
    }


def _rendered(name: str, path: str, content: Content) -> bytes | None:
    from coldwarm.report.catalogue.told import told
    from coldwarm.report.formats import base

    results = [run.measured for run in content.runs]
    format_ = base.load(name)
    with_verdicts = getattr(format_, "with_verdicts", None)
    if with_verdicts is not None:
        verdicts = [told(one.index, one.environment) for one in content.verdicts]
        files: dict[str, bytes] = with_verdicts(results, verdicts, path)
        return files[path]
    return format_.files(results, path)[path] if results else None
