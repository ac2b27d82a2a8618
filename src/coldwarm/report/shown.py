"""Foreign text on its way out: what any command prints for a terminal or as JSON.

Names, reasons, paths and versions come from artifacts, plug-ins and frameworks. On a terminal they
are shown as what they are and never obeyed: no control character, no turn of the direction
of writing, no new line, no command of a workflow. Markdown has a function of its own in
``coldwarm.report.markdown``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from coldwarm.errors import is_plain, printable, visible
from coldwarm.masking import cleaned, masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import ConsoleOptions, RenderableType

_WORKFLOW = re.compile(r"##(?=\w*\[)")
"""What begins a command of a workflow anywhere in a line."""
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def line(text: object, style: str = "") -> Text:
    """Return foreign text as one line of a table or a paragraph."""
    return Text(printable(str(text)), style=style)


def told(text: object) -> str:
    """Return foreign text as one line with nothing private in it."""
    return printable(masked(str(text)))


def withheld(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a sentence with nothing private in them."""
    found: dict[str, Any] = cleaned(values)
    return found


def lines(written: str, style: str = "") -> Text:
    """Return text of several lines whose breaks are the report's own."""
    return Text(_each(written), style=style)


def _each(written: str) -> str:
    return "\n".join(map(printable, written.split("\n")))


def json_text(text: str) -> str:
    r"""Return JSON that means the same and holds only plain characters, others as ``\u202e``."""
    escaped = "".join(c if c == "\n" or is_plain(c) else _units(c) for c in text)
    return _WORKFLOW.sub("#\\\\u0023", escaped)


def _units(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    units = (data[place : place + 2] for place in range(0, len(data), 2))
    return "".join(f"\\u{int.from_bytes(unit, 'big'):04x}" for unit in units)


def annotation(level: str, title: str, message: str, file: str | None = None) -> str:
    """Return one workflow command, with what would end its parts escaped."""
    place = f"file={visible(file.translate(_PROPERTY))}," if file else ""
    title = visible(title.translate(_PROPERTY))
    return f"::{level} {place}title={title}::{visible(message.translate(_DATA))}"


class PlainConsole(Console):
    """A console that shows text and obeys none: no markup in it, and nothing but plain characters.

    Whatever reaches it unescaped is escaped here, at the cost of the layout alone.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - whatever rich takes
        """Take the options of a console of rich."""
        # In a notebook rich would make a cell's output of whatever is printed, also into a text.
        plain = {"markup": False, "emoji": False, "highlight": False, "force_jupyter": False}
        super().__init__(**{**plain, **options})

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of what is printed."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(_each(segment.text), segment.style)
