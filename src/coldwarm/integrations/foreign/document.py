"""A document that another tool wrote: a stranger's, of which nothing is believed unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from coldwarm.contracts.base import MOST_S, Record
from coldwarm.contracts.parsing import explain, fault
from coldwarm.contracts.result import BenchmarkSamples
from coldwarm.errors import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.reasons import Reason
    from coldwarm.errors import ContractError

TimeS = Annotated[float, msgspec.Meta(gt=0.0, le=MOST_S)]
Amount = Annotated[float, msgspec.Meta(gt=0.0, le=2.0**63)]
"""Of seconds or bytes."""
_LONGEST_NAME = 200
"""Characters of a benchmark's name that are kept."""
_FAILED = "runs_failed_elsewhere"


class Part(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A part of a document: what is read of it, and it may hold more."""


_P = TypeVar("_P", bound=Part)


@dataclass(frozen=True)
class Opened:
    """A document as plain values, and where it comes from."""

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


@dataclass(frozen=True)
class _Held:
    """The benchmarks of a document by name; of those without valid samples the reason."""

    benchmarks: dict[str, BenchmarkSamples]
    left_out: dict[str, Reason]
    failed: dict[str, Reason]


def held(opened: Opened, found: Iterable[tuple[str, BenchmarkSamples | Reason]]) -> _Held:
    """Return benchmarks by their names.

    Raises:
        ContractError: there is none, one has no name, or two have the same.
    """
    kept = _Held({}, {}, {})
    names: set[str] = set()
    for given, one in found:
        name = plain(given, _LONGEST_NAME)
        if not name:
            raise opened.fault("holds a benchmark without a name")
        if name in names:
            raise opened.fault(f"holds two benchmarks of the name {name!r}; name them apart")
        names.add(name)
        if isinstance(one, BenchmarkSamples):
            kept.benchmarks[name] = one
        else:
            why = kept.failed if one.code == _FAILED else kept.left_out
            why[name] = one
    if not names:
        raise opened.fault("holds no benchmark")
    return kept


def plain(text: str, longest: int = 80) -> str:
    """Return a text of a stranger in one line of at most about so many characters."""
    return shorten(printable(text.strip()), longest)
