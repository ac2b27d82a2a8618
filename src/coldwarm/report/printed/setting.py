"""The printed report as PDF: its contents as data, its figures as files, set by a fixed template.

Texts of results reach typst as JSON, which it never takes for mark-up. It sees nothing but an
empty folder with the figures, takes no font of the machine, and the time in the file is when the
last process was measured, so that equal results give equal bytes.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.installing import require
from coldwarm.report.charts import drawing
from coldwarm.runner import temporary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.result import Measured
    from coldwarm.report.charts.chart import Chart


def pdf(
    template: str, said: dict[str, Any], drawn: Sequence[Chart], results: Sequence[Measured]
) -> bytes:
    """Return what is said of results, set by one of the templates beside this file.

    Raises:
        MissingError: typst is not installed.
    """
    typst = require("typst", extra="report")
    templates = files("coldwarm.report.printed")
    with temporary.made() as folder:
        for name in ("page.typ", template):
            Path(folder, name).write_bytes(templates.joinpath(name).read_bytes())
        for number, chart in enumerate(drawn, 1):
            Path(folder, f"figure-{number}.pdf").write_bytes(drawing.pdf(chart))
        compiler = typst.Compiler(
            input=str(Path(folder, template)),
            root=folder,
            ignore_system_fonts=True,
            sys_inputs={"contents": json.dumps(said)},
        )
        made: bytes = compiler.compile(format="pdf", timestamp=_measured_at(results))
    return made


def _measured_at(results: Sequence[Measured]) -> int:
    """Return the second in which the last of the results was ready; 1970 where none says it."""
    told = [one.suite.finished_at or one.suite.started_at for one in results if one.suite]
    return max((_second(text) for text in told), default=0)


def _second(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0
    return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))
