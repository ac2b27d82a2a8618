"""Formats of other tools: a module of this folder for each, found by scanning it.

It is named as ``--format`` names it, with ``_`` for ``-``. Where results are written so, it defines
its ``WRITER``, where files of the tool are compared, its ``READER``, and where a file of it holds
the results of many commits, its ``HISTORY``.

No format opens a file or writes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from coldwarm.contracts.base import MOST_S, WARM, Record
from coldwarm.contracts.codec import explain, parse, read_bytes
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Benchmarks, BenchmarkSamples
from coldwarm.errors import ContractError, printable, shorten

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import Measured
    from coldwarm.integrations.figures import Exported, Figure

TimeS = Annotated[float, msgspec.Meta(gt=0.0, le=MOST_S)]
Amount = Annotated[float, msgspec.Meta(gt=0.0, le=2.0**63)]
"""Amount of seconds or bytes."""
LONGEST_NAME = 200
"""Characters of a benchmark's name that are kept."""
_FAILED = "runs_failed_elsewhere"
_GZIP = b"\x1f\x8b"


def _anything(_figure: Figure) -> str | None:
    return None


@dataclass(frozen=True, kw_only=True)
class Writer:
    """How results are written in a format."""

    files: Callable[[Exported], dict[str, bytes]]
    """Return what to write by name; of one file under ``""``."""
    why_not: Callable[[Figure], str | None] = _anything
    """Return why the format has no place for a figure; ``None``: it has."""
    is_one_file: bool = True
    """Whether it is not several in a folder."""
    is_json: bool = True
    """Whether what is written is JSON."""
    joined: Callable[[str, bytes, bytes], bytes] | None = None
    """For a format that keeps results by commit: return what becomes of a file of a name that is
    there already, from what it held and what is new; ``ValueError`` where that cannot be."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """How a tool's JSON is read."""

    tool: str
    """Its name as its makers write it."""
    is_mine: Callable[[dict[str, Any]], bool]
    """Say whether a document looks like its own."""
    benchmarks: Callable[[Opened], Benchmarks]
    """Return what it holds; ``ContractError`` where it is broken."""
    writes_nan: bool = False
    """Whether it writes NaN where there is no number, which JSON has not."""


@dataclass(frozen=True, kw_only=True)
class HistoryReader:
    """How a tool's file is read that holds the results of many commits."""

    tool: str
    """Its name as its makers write it."""
    begins: re.Pattern[bytes]
    """What stands before the JSON where the file is a script, which is never run."""
    is_mine: Callable[[dict[str, Any]], bool]
    """Say whether a document without that looks like its own."""
    results: Callable[[Opened], list[Benchmarks]]
    """Return what it holds; ``ContractError`` where it is broken."""


def names() -> list[str]:
    """Return the formats that results are written as."""
    return [name.replace("_", "-") for name in _defining("WRITER")]


def load(name: str) -> Writer:
    """Return how results are written in a format.

    Raises:
        ImportError: there is none of this name.
    """
    writer: Writer = _module(name.replace("-", "_")).WRITER
    return writer


def _module(name: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"{__name__}.{name}")


def _defining(name: str) -> Iterator[str]:
    """Yield the modules that define a name, in their order; none is loaded for it."""
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        if f"\n{name} = " in file.read_text("utf-8"):
            yield file.stem


_HEAD = 1024
"""Bytes in which an artifact of coldwarm has its ``schema_version``."""


def read(path: Path) -> Measured | Benchmarks:
    """Read a result of coldwarm, or a file of another tool, of which nothing is believed unseen.

    Raises:
        UsageError: there is nothing.
        ContractError: it is broken, of a kind that is not read, or holds several results.
    """
    found = read_all(path)
    if len(found) > 1:
        what = f"holds {len(found)} results; type coldwarm history add {path} --to history"
        raise ContractError(str(path), what)
    return found[0]


def read_all(path: Path) -> Sequence[Measured | Benchmarks]:
    """Read a result as ``read`` does, or a file of another tool with those of many commits.

    Raises:
        UsageError: there is nothing.
        ContractError: it is broken, or of a kind that is not read.
    """
    from coldwarm.runner import recompute  # noqa: PLC0415 - names of formats are to be had quickly

    if path.is_dir() or not path.exists():
        return [recompute.read(path)]
    data = read_bytes(path)
    if b'"schema_version"' in data[:_HEAD]:
        return [recompute.read(path)]
    if data.startswith(_GZIP):
        raise ContractError(str(path), "is compressed: unpack it with gunzip")
    for kept in _histories():
        # Blanks in its place, so that lines and columns in messages are those of the file.
        data = kept.begins.sub(lambda found: b" " * len(found[0]), data, count=1)
    try:
        return _results(str(path), *parse(data, str(path)))
    except ContractError:
        text, document = parse(data, str(path), with_nan=True)
        if not any(one.writes_nan and _is_of(one, document) for one in _readers()):
            raise
    return _results(str(path), text, document)


def _results(path: str, text: str, document: object) -> list[Benchmarks]:
    for kept in _histories():
        if isinstance(document, dict) and kept.is_mine(document):
            return kept.results(Opened(path, text, document))
    return [benchmarks(path, text, document)]


def benchmarks(path: str, text: str, document: object) -> Benchmarks:
    """Return what a document of another tool holds.

    Raises:
        ContractError: it is broken, or of a kind that is not read.
    """
    for one in _readers():
        if isinstance(document, dict) and _is_of(one, document):
            return one.benchmarks(Opened(path, text, document))
    tools = [one.tool for one in _readers()] + [one.tool for one in _histories()]
    named = ", ".join(tools)
    what = f"is no result that can be compared: of coldwarm, or the JSON of {named}"
    raise ContractError(path, what)


def _readers() -> list[Reader]:
    return [_module(name).READER for name in _defining("READER")]


def _histories() -> list[HistoryReader]:
    return [_module(name).HISTORY for name in _defining("HISTORY")]


def _is_of(reader: Reader, document: object) -> bool:
    return isinstance(document, dict) and reader.is_mine(document)


def benchmarks_of(measured: Measured) -> Benchmarks:
    """Return a run of coldwarm as benchmarks, named as they are exported."""
    from coldwarm.integrations.figures import exported  # noqa: PLC0415 - as in ``read``
    from coldwarm.stats.comparable import failure  # noqa: PLC0415 - likewise

    made = exported(measured)
    suite, place = measured.suite, measured.environment
    failed = {name: why for name, case in measured.cases.items() if (why := failure(case))}
    empty = [name for name, _ in made.left_out if name not in failed]
    return Benchmarks(
        path=measured.path,
        tool=None,
        benchmarks={one.name: _benchmark(one) for one in made.figures},
        short_names={one.case.case: one.name for one in made.figures if one.mode == WARM},
        left_out=dict.fromkeys(empty, because("no_valid_process")),
        failed=failed,
        complete=suite is None or suite.complete,
        cpu=place.cpu.model if place else None,
        run_id=suite.run_id if suite else None,
        started_at=suite.started_at if suite else None,
        environment_sha256=measured.environment_sha256,
    )


def _benchmark(figure: Figure) -> BenchmarkSamples:
    warm = figure.case.warm if figure.mode == WARM else None
    values = tuple(process.values for process in figure.processes)
    return BenchmarkSamples(_kind(figure), values, () if warm is None else (warm.steady,))


def _kind(figure: Figure) -> MetricKind:
    if figure.unit == "bytes":
        return "memory"
    return "warm" if figure.mode == WARM else "cold"


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
        return ContractError(self.path, what)

    def date(self, given_ms: int | None) -> str | None:
        """Return the date of so many milliseconds since 1970.

        Raises:
            ContractError: it is none.
        """
        if given_ms is None:
            return None
        try:
            return datetime.fromtimestamp(given_ms / 1000, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            raise self.fault(f"has the date {given_ms!s:.20}, which is none") from None

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
            name = plain(given, LONGEST_NAME)
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
