"""How Sphinx builds the documentation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import _generate  # found through the lines above
import coldwarm
from _generate import feed

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "coldwarm"
author = "The coldwarm authors"
HERE = Path(__file__).parent

project_copyright = "The coldwarm authors"
version = release = coldwarm.__version__

# myst_nb reads notebooks, and loads myst_parser for the rest.
extensions = ["myst_nb"]
# A notebook is shown as it was committed; a test executes it again.
nb_execution_mode = "off"
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3
# What other pages include is no page.
exclude_patterns = ["_build", "**.ipynb_checkpoints", "reference/_parts/**"]
# Docstrings say `name` now and then; it is code.
default_role = "literal"
# A verdict has the colour of what it says; docs/_static/pages.css has these.
rst_prolog = "".join(f".. role:: verdict-{tone}\n" for tone in ("good", "bad", "open")) + "\n"
# Two hyphens are an option, not a dash.
smartquotes = False

# Blocks without a language are commands.
highlight_language = "text"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = f"coldwarm {release}"
html_show_sphinx = False


def _write_reference(app: Sphinx) -> None:
    """Write the reference pages before Sphinx looks for sources."""
    del app
    _generate.generate(HERE.parent / "src" / "coldwarm", HERE / "reference")


def _write_feed(app: Sphinx, error: Exception | None) -> None:
    """Write the verdicts as data beside the pages."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / feed.NAME).write_text(feed.text(HERE.parent / "src" / "coldwarm"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the generator with Sphinx."""
    app.connect("builder-inited", _write_reference)
    app.connect("build-finished", _write_feed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
