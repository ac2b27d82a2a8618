"""The JSON of hyperfine (``--export-json``): whole starts of commands, each a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Benchmarks, BenchmarkSamples
from coldwarm.integrations.formats import DocumentPart, Reader, TimeS

if TYPE_CHECKING:
    from coldwarm.contracts.reasons import Reason
    from coldwarm.integrations.formats import Opened


_TOOL = "hyperfine"


class _Command(DocumentPart, frozen=True, kw_only=True):
    command: str
    times: list[TimeS]
    """Seconds from the start of the command to its end."""
    exit_codes: list[int | None] = []
    """``None``: ended by a signal."""


class _Document(DocumentPart, frozen=True, kw_only=True):
    results: list[_Command]


def _is_mine(document: dict[str, Any]) -> bool:
    """Say whether a document looks like hyperfine's."""
    return isinstance(document.get("results"), list) and "result_columns" not in document


def _benchmarks(opened: Opened) -> Benchmarks:
    """Return the commands, each run of one a process.

    Raises:
        ContractError: the document is broken.
    """
    document = opened.typed(_Document)
    kept, left_out, failed = opened.by_name(
        (one.command, _benchmark(one)) for one in document.results
    )
    return Benchmarks(
        path=opened.path,
        tool=_TOOL,
        benchmarks=kept,
        left_out=left_out,
        failed=failed,
    )


def _benchmark(one: _Command) -> BenchmarkSamples | Reason:
    failed = sum(code != 0 for code in one.exit_codes)
    if failed:
        return because("runs_failed_elsewhere", tool=_TOOL, n_failed=failed)
    if not one.times:
        return because("no_samples_elsewhere", tool=_TOOL)
    return BenchmarkSamples("cold", tuple((time_s,) for time_s in one.times), to_its_end=True)


READER = Reader(tool=_TOOL, is_mine=_is_mine, benchmarks=_benchmarks)
