"""The page as text: the template filled, with a policy that allows its own scripts alone."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from coldwarm import __version__
from coldwarm.errors import printable
from coldwarm.report.charts.looks import COLOURS
from coldwarm.report.charts.theme import config
from coldwarm.report.page import vega
from coldwarm.report.page.packing import embedded
from coldwarm.report.page.places import WIDTHS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.report.page.places import Section

_SCRIPTS = ("unpack.js", "tables.js", "figures.js", "controls.js", "start.js")


def filled(template: str, packed: Sequence[Section], **named: Any) -> str:  # noqa: ANN401
    """Return a page from its template; ``packed`` are the sections whose data goes with it.

    A page without any has no figures, and needs nothing that draws.
    """
    import jinja2  # noqa: PLC0415 - of a page alone

    own, style = _script(), _style()
    drawing = vega.script() if packed else ""
    environment = jinja2.Environment(
        autoescape=True,
        finalize=_seen,
        loader=jinja2.FunctionLoader(_asset),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    raw = environment.filters["safe"]
    configs = {theme: config(theme) for theme in ("light", "dark")}
    return str(
        environment.get_template(template).render(
            **named,
            packed=packed,
            base64=raw,  # has nothing that could be escaped, and is long
            version=__version__,
            policy=_policy(own, drawing, style),
            style=raw(style),
            script=raw(own),
            vega=raw(drawing),
            looks=raw(embedded({"configs": configs, "widths": WIDTHS})),
        )
    )


def _seen(value: object) -> object:
    """Return what goes into the page: foreign text as one line in which everything is seen."""
    return printable(value) if type(value) is str else value


def _policy(own: str, drawing: str, style: str) -> str:
    """Return what a browser may run and load: these scripts and this style, nothing else."""
    scripts = " ".join(f"'{_hash(text)}'" for text in (own, drawing) if text)
    return (
        f"default-src 'none'; script-src {scripts}; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return files("coldwarm.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def _script() -> str:
    """Return the page's own scripts as one, in a scope of their own."""
    parts = (_asset(name).removeprefix('"use strict";\n') for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{"".join(parts)}}})();\n'


def _style() -> str:
    swatches = (f'.swatch[data-colour="{one}"] {{ background: {one}; }}' for one in COLOURS)
    return "\n".join([_asset("page.css"), *swatches])
