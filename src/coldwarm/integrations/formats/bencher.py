"""Bencher Metric Format (BMF): for each benchmark its measures, each a value without samples.

``latency`` is in nanoseconds; the unit of any other measure is not in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Benchmarks, BenchmarkSamples
from coldwarm.integrations.formats import Amount, DocumentPart, Reader, TimeS, plain

if TYPE_CHECKING:
    from coldwarm.contracts.reasons import Reason
    from coldwarm.integrations.formats import Opened

_TOOL = "Bencher"
_LATENCY = "latency"


class _Measure(DocumentPart, frozen=True, kw_only=True):
    value: Amount
    """Nanoseconds."""


def _is_mine(document: dict[str, Any]) -> bool:
    """Say whether each of its values has measures with a value."""
    measures = [one for one in document.values() if isinstance(one, dict)]
    every = [measure for one in measures for measure in one.values()]
    return len(measures) == len(document) > 0 and all(
        isinstance(one, dict) and "value" in one for one in every
    )


def _benchmarks(opened: Opened) -> Benchmarks:
    """Return the benchmarks that have a latency.

    Raises:
        ContractError: the document is broken.
    """
    kept, left_out, _ = opened.by_name(
        (name, _benchmark(opened, name, measures)) for name, measures in opened.document.items()
    )
    return Benchmarks(path=opened.path, tool=_TOOL, benchmarks=kept, left_out=left_out)


def _benchmark(opened: Opened, name: str, measures: dict[str, Any]) -> BenchmarkSamples | Reason:
    if _LATENCY not in measures:
        return because("unit_elsewhere", unit=plain(", ".join(measures)))
    try:
        found = msgspec.convert(measures[_LATENCY], _Measure)
        time_s = msgspec.convert(found.value / 1e9, TimeS)
    except msgspec.ValidationError as error:
        raise opened.fault(f"{plain(name)}, {_LATENCY}: {error}") from None
    return BenchmarkSamples("warm", ((time_s,),))


READER = Reader(tool=_TOOL, is_mine=_is_mine, benchmarks=_benchmarks)
