"""Formats of other tools: a module of this folder for each, found by scanning it.

It is named as ``--format`` names it, with ``_`` for ``-``. Where results are written so, it
defines::

    WHOLE = True   # one file; False where it writes several into a folder

    def why_not(figure: Figure) -> str | None:
        ...        # why this format has no place for a figure; None: it has

    def files(made: Exported) -> dict[str, bytes]:
        ...        # what to write by name; of one file under ""

and, where it keeps results by commit, ``BY_COMMIT = True`` and ``joined(name, old, new)``, which
returns what becomes of a file that is there already. Where files of the tool are compared, it
defines::

    TOOL = "hyperfine"                       # as its makers write it

    def is_mine(document: dict) -> bool:
        ...                                  # whether a JSON document looks like its own

    def benchmarks(opened: Opened) -> Benchmarks:
        ...                                  # what it holds; ContractError where it is broken

It opens no file and writes none.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from coldwarm.contracts.base import MOST_S, Record
from coldwarm.contracts.codec import read_bytes
from coldwarm.contracts.parsing import explain, fault, parse
from coldwarm.contracts.result import BenchmarkSamples
from coldwarm.errors import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import Benchmarks
    from coldwarm.errors import ContractError

TimeS = Annotated[float, msgspec.Meta(gt=0.0, le=MOST_S)]
Amount = Annotated[float, msgspec.Meta(gt=0.0, le=2.0**63)]
"""Of seconds or bytes."""
_LONGEST_NAME = 200
"""Characters of a benchmark's name that are kept."""
_FAILED = "runs_failed_elsewhere"
_GZIP = b"\x1f\x8b"


def names() -> list[str]:
    """Return the formats that results are written as."""
    return [name.replace("_", "-") for name in _defining("files")]


def load(name: str) -> Any:  # noqa: ANN401 - a module
    """Return the module of a format.

    Raises:
        ImportError: there is none of this name.
    """
    return import_module(f"{__name__}.{name.replace('-', '_')}")


def _defining(function: str) -> Iterator[str]:
    """Yield the modules with a function, in their order; none is loaded for it."""
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        if f"\ndef {function}(" in file.read_text("utf-8"):
            yield file.stem


def read(path: Path, data: bytes | None = None) -> Benchmarks:
    """Read a file of another tool, of which nothing is believed unseen.

    Raises:
        ContractError: it is broken, or of a kind that is not read.
    """
    data = read_bytes(path) if data is None else data
    if data.startswith(_GZIP):
        raise fault(str(path), None, None, "is compressed: unpack it with gunzip")
    text, document = parse(data, str(path))
    tools = [load(name) for name in _defining("benchmarks")]
    for one in tools:
        if isinstance(document, dict) and one.is_mine(document):
            found: Benchmarks = one.benchmarks(Opened(str(path), text, document))
            return found
    named = ", ".join(one.TOOL for one in tools)
    what = f"is no result that can be compared: of coldwarm, or the JSON of {named}"
    raise fault(str(path), None, None, what)


class DocumentPart(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A part of a document: what is read of it, and it may hold more."""


_P = TypeVar("_P", bound=DocumentPart)


@dataclass(frozen=True)
class Opened:
    """A document of another tool as plain values, and where it comes from."""

    path: str
    text: str
    document: dict[str, Any]

    def typed(self, type_: type[_P]) -> _P:
        """Return what is read of it.

        Raises:
            ContractError: a field is missing, or is not what it must be.
        """
        try:
            return msgspec.convert(self.document, type_)
        except msgspec.ValidationError as error:
            raise explain(error, self.document, type_, self.text, self.path) from None
        except (OverflowError, RecursionError) as error:
            raise self.fault(f"cannot be read: {error}") from None

    def fault(self, what: str) -> ContractError:
        """Return the error of something wrong in it."""
        return fault(self.path, None, None, what)

    def by_name(
        self, found: Iterable[tuple[str, BenchmarkSamples | Reason]]
    ) -> tuple[dict[str, BenchmarkSamples], dict[str, Reason], dict[str, Reason]]:
        """Return benchmarks by name, the reasons for those left out, and for those that failed.

        Raises:
            ContractError: there is none, one has no name, or two have the same.
        """
        kept: dict[str, BenchmarkSamples] = {}
        left_out: dict[str, Reason] = {}
        failed: dict[str, Reason] = {}
        for given, one in found:
            name = plain(given, _LONGEST_NAME)
            if not name:
                raise self.fault("holds a benchmark without a name")
            if name in kept or name in left_out or name in failed:
                raise self.fault(f"holds two benchmarks of the name {name!r}; name them apart")
            if isinstance(one, BenchmarkSamples):
                kept[name] = one
            else:
                (failed if one.code == _FAILED else left_out)[name] = one
        if not (kept or left_out or failed):
            raise self.fault("holds no benchmark")
        return kept, left_out, failed


def plain(text: str, longest: int = 80) -> str:
    """Return a text of a stranger in one line of at most about so many characters."""
    return shorten(printable(text.strip()), longest)
