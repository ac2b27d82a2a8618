"""The JSON of pytest-benchmark: calls of a function in the one process of a test run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.contracts.result import Benchmarks, BenchmarkSamples
from coldwarm.integrations.formats import DocumentPart, Reader, TimeS, plain

if TYPE_CHECKING:
    from coldwarm.integrations.formats import Opened


_TOOL = "pytest-benchmark"


class _Stats(DocumentPart, frozen=True, kw_only=True):
    data: list[TimeS] | None = None
    """Seconds for one call, by round; not there where only its statistics were saved."""


class _Test(DocumentPart, frozen=True, kw_only=True):
    fullname: str
    stats: _Stats


class _Cpu(DocumentPart, frozen=True, kw_only=True):
    brand_raw: str | None = None


class _Machine(DocumentPart, frozen=True, kw_only=True):
    cpu: _Cpu = _Cpu()


class _Commit(DocumentPart, frozen=True, kw_only=True):
    id: str | None = None


class _Document(DocumentPart, frozen=True, kw_only=True):
    machine_info: _Machine
    commit_info: _Commit = _Commit()
    benchmarks: list[_Test]
    datetime: str | None = None


def _is_mine(document: dict[str, Any]) -> bool:
    """Say whether a document looks like pytest-benchmark's."""
    return "machine_info" in document and "benchmarks" in document


def _benchmarks(opened: Opened) -> Benchmarks:
    """Return the tests, whose rounds all ran in one process.

    Raises:
        ContractError: the document is broken, or holds no samples.
    """
    document = opened.typed(_Document)
    kept, left_out, _ = opened.by_name(
        (one.fullname, _benchmark(opened, one)) for one in document.benchmarks
    )
    cpu, when = document.machine_info.cpu.brand_raw, document.datetime
    return Benchmarks(
        path=opened.path,
        tool=_TOOL,
        benchmarks=kept,
        left_out=left_out,
        cpu=plain(cpu) if cpu else None,
        started_at=plain(when) if when else None,
        commit=plain(document.commit_info.id) if document.commit_info.id else None,
    )


def _benchmark(opened: Opened, one: _Test) -> BenchmarkSamples:
    if not one.stats.data:
        what = f"holds no samples of {plain(one.fullname)}, only statistics: save them with"
        raise opened.fault(f"{what} --benchmark-json FILE, or with --benchmark-save-data")
    return BenchmarkSamples("warm", (tuple(one.stats.data),))


READER = Reader(tool=_TOOL, is_mine=_is_mine, benchmarks=_benchmarks)
