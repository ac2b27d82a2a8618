"""Foreign text on its way out: what any command prints for a terminal or as JSON.

Names, reasons, paths and versions come from artifacts, plug-ins and frameworks. On a terminal they
are shown as what they are and never obeyed: no control character, no turn of the direction
of writing, no new line, no command of a workflow. Markdown and HTML have functions of their own in
their modules.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from coldwarm.errors import is_plain, printable
from coldwarm.masking import cleaned, masked
from coldwarm.report.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import ConsoleOptions, RenderableType

_Value = TypeVar("_Value")
_TRAILING = re.compile(r" +(?=\n)")
_WORKFLOW = re.compile(r"##(?=\w*\[)")
"""Beginning of a workflow's command anywhere in a line."""


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


def without_secrets(value: _Value) -> _Value:
    """Return a document, or a part of one, with nothing private in its texts."""
    made: Any = value
    if isinstance(value, str):
        made = masked(value)
    elif isinstance(value, Document):
        made = Document(without_secrets(value.title), without_secrets(value.blocks))
    elif isinstance(value, tuple):
        parts = map(without_secrets, value)
        made = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return cast("_Value", made)


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


_color: dict[str, Any] = {}


def use_color(*, always: bool) -> None:
    """Make every console from now on print with colors, or without."""
    _color.update({"force_terminal": True} if always else {"color_system": None})


class _Trimmed:
    """A file that keeps no blanks before the end of a line, which would be copied with it."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, data: str) -> int:
        return self._file.write(_TRAILING.sub("", data))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a file has
        return getattr(self._file, name)


class PlainConsole(Console):
    """A console that shows text and obeys none: no markup in it, and nothing but plain characters.

    Whatever reaches it unescaped is escaped here, at the cost of the layout alone.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - whatever rich takes
        """Take the options of a console of rich."""
        # In a notebook rich would make a cell's output of whatever is printed, also into a text.
        plain = {"markup": False, "emoji": False, "highlight": False, "force_jupyter": False}
        super().__init__(**{**plain, **_color, **options})

    @property
    def file(self) -> IO[str]:
        """The file that it writes to."""
        return cast("IO[str]", _Trimmed(super().file))

    @file.setter
    def file(self, file: IO[str]) -> None:
        self._file = file

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 - as the base has it
        """Print, and cut no line at the edge of a terminal: it may be code."""
        super().print(*objects, **{"crop": False, **options})

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of what is printed."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(_each(segment.text), segment.style)
