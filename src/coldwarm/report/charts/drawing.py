"""Figures as SVG, PNG and PDF, by vl-convert: without a browser, and without a network."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from coldwarm.errors import UsageError
from coldwarm.report.charts.chart import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from coldwarm.report.charts.chart import Chart, Theme

_SCALE = 2.0
"""Pixels of a PNG for one of the figure's."""
_OWN_ID = re.compile(
    r'(?<=\bid=")(?:clip|gradient_)\d+(?=")|(?<=url\(#)(?:clip|gradient_)\d+(?=\))'
)


def files(
    figures: Iterable[tuple[str, Chart]], draw: Callable[[Chart], bytes], ending: str
) -> dict[str, bytes]:
    """Return a file for each figure, by its name.

    Raises:
        UsageError: there is nothing to draw.
    """
    drawn = {f"{name}.{ending}": draw(chart) for name, chart in figures}
    if not drawn:
        text = "nothing was measured that a figure could show: `coldwarm show` says why"
        raise UsageError(text)
    return drawn


def svg(chart: Chart, theme: Theme = "light") -> bytes:
    """Return a figure as SVG, with its title and alternative text in it."""
    drawn: str = _converter().vegalite_to_svg(chart.whole(theme), **_options())
    drawn = _numbered(drawn)
    said = f"<title>{escape(chart.title)}</title><desc>{escape(chart.alt)}</desc>"
    start = drawn.index(">") + 1
    opening = f'{drawn[: start - 1]} role="img">'
    return (opening + said + drawn[start:]).encode()


def _numbered(drawn: str) -> str:
    """Return an SVG whose ids follow from what it shows.

    A process counts them on from one figure to the next; and of two figures on one page, none may
    have an id of the other.
    """
    places = {name: at for at, name in enumerate(dict.fromkeys(_OWN_ID.findall(drawn)), 1)}
    bare = _OWN_ID.sub(lambda found: str(places[found[0]]), drawn)
    shown = hashlib.sha256(bare.encode()).hexdigest()[:8]
    return _OWN_ID.sub(lambda found: f"c{shown}-{places[found[0]]}", drawn)


def png(chart: Chart, theme: Theme = "light") -> bytes:
    """Return a figure as PNG."""
    drawn: bytes = _converter().vegalite_to_png(chart.whole(theme), scale=_SCALE, **_options())
    return drawn


def pdf(chart: Chart) -> bytes:
    """Return a figure as PDF with its own fonts."""
    drawn: bytes = _converter().vegalite_to_pdf(chart.whole(), **_options())
    return drawn


def _converter() -> Any:  # noqa: ANN401 - a module without types
    import vl_convert  # noqa: PLC0415 - large

    return vl_convert


def _options() -> dict[str, Any]:
    # No address is allowed: the data of a figure is in it.
    return {"vl_version": VERSION, "allowed_base_urls": []}
