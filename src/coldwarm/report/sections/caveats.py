"""What weakens figures, and what was not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.document import Paragraph, terms
from coldwarm.report.sections import ReportSection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.report.document import Block
    from coldwarm.report.sections import ShownResult


def _blocks(shown: ShownResult) -> Iterator[Block]:
    if shown.view is None:
        yield Paragraph("Caveats are told of a whole run; this is one case alone.")
        return
    if not shown.view.care:
        yield Paragraph("Nothing was found that weakens these figures.")
    yield from terms(shown.view.care, "care")
    yield from terms((("not measured", why) for why in shown.view.unavailable), "care")


SECTION = ReportSection(place=1, anchor="trust", title="Caveats", blocks=_blocks, stands_open=True)
