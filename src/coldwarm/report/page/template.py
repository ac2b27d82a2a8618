"""The template of the page: sections, places of figures, and a policy that allows its own scripts.

Putting Vega, Vega-Lite and Vega-Embed together as one script, of vl-convert, takes more than a
second, so a process of its own does it meanwhile.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from coldwarm import __version__
from coldwarm.errors import printable
from coldwarm.report.charts.chart import COLOURS, config
from coldwarm.report.page.packing import embedded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.report.answer_text import Line
    from coldwarm.report.document import Block


WIDTHS = {"wide": 600, "narrow": 240}
"""Widths of the plots, in pixels; the room that there is decides which is drawn."""


@dataclass(frozen=True)
class Drawing:
    """A figure's place on the page; what is drawn there is in the pack of its section."""

    id: str
    kind: str
    title: str
    caption: str
    alt: str


@dataclass(frozen=True)
class Section:
    """A workload, or all of a result together."""

    anchor: str
    title: str
    answer: tuple[Line, ...]
    beside: Drawing | None
    """Beside the answer."""
    drawings: tuple[Drawing, ...]
    looks: Mapping[str, str]
    """The colour of each candidate."""
    pack: str
    source: str
    """Where the figures are from."""
    before: tuple[Block, ...] = ()
    """What stands before the figures."""
    after: tuple[Block, ...] = ()


_DRAWS = 'window.vegaEmbed = vegaEmbed; document.dispatchEvent(new Event("vega-there"));'
"""End of the script."""
_BUNDLE = "import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle(sys.argv[1]))"


@cache
def begun() -> subprocess.Popen[str]:
    """Begin to put the script together, once."""
    command = [sys.executable, "-c", _BUNDLE, _DRAWS]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own


@cache
def script() -> str:
    """Return the script, such that nothing in it ends a script element."""
    made, _ = begun().communicate()
    if begun().returncode:  # no process could be started, or not so many: then here
        import vl_convert  # noqa: PLC0415 - large

        made = vl_convert.javascript_bundle(_DRAWS)
    return made.replace("</script", "<\\/script").replace("<!--", "<\\!--")


_SCRIPTS = ("unpack.js", "tables.js", "runs.js", "figures.js", "controls.js", "start.js")


def filled(template: str, packed: Sequence[Section], **named: Any) -> str:  # noqa: ANN401
    """Return a page from its template; ``packed`` are the sections whose data goes with it.

    A page without any has no figures, and needs nothing that draws.
    """
    import jinja2  # noqa: PLC0415 - of a page alone

    own, style = _script(), _style()
    drawing = script() if packed else ""
    environment = jinja2.Environment(
        autoescape=True,
        finalize=_seen,
        loader=jinja2.FunctionLoader(_asset),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
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
    return (
        resources.files("coldwarm.report.page").joinpath("assets", name).read_text(encoding="utf-8")
    )


def _script() -> str:
    """Return the page's own scripts as one, in a scope of their own."""
    parts = (_asset(name).removeprefix('"use strict";\n') for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{"".join(parts)}}})();\n'


def _style() -> str:
    swatches = (f'.swatch[data-colour="{one}"] {{ background: {one}; }}' for one in COLOURS)
    return "\n".join([_asset("page.css"), *swatches])
