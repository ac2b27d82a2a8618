"""How a result is checked: commands, hashes of its files, signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm import installing
from coldwarm.report.document import Folded, Paragraph, Shell, name, table
from coldwarm.report.sections import ReportSection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.result import Measured
    from coldwarm.report.document import Block, Cell
    from coldwarm.report.sections import ShownResult

_COMMANDS = {
    "coldwarm validate DIR": (
        "reads every file strictly, computes every figure again from the raw samples, and names "
        "the first one that says anything else"
    ),
    "coldwarm snapshot verify DIR": (
        "the same of a snapshot, its hashes, and its signature with --public-key; it runs nothing "
        "of it"
    ),
    "coldwarm snapshot replicate DIR": (
        "installs the recorded environment anew, measures again by the same protocol, and reports "
        "agreement case by case; this runs code that the maker of the snapshot has chosen"
    ),
}
_SIGNED = (
    "A signed snapshot has the raw Ed25519 signature of its index, which names every file with its "
    "hash, in snapshot_index.json.sig. It can be checked without coldwarm:"
)
_OPENSSL = (
    "openssl pkeyutl -verify -pubin -inkey pub.pem -rawin -in snapshot_index.json "
    "-sigfile snapshot_index.json.sig"
)
_MOST_FILES = 16


def _blocks(shown: ShownResult) -> Iterator[Block]:
    if shown.first:
        where = f"coldwarm installed ({installing.advice()})"
        yield Paragraph(f"With DIR the folder of the results or of the snapshot, and {where}:")
        rows = ((name(line), what) for line, what in _COMMANDS.items())
        yield table(("command", "what it does"), rows, labels=2)
        yield Paragraph(_SIGNED)
        yield Shell(_OPENSSL)
    files = list(_files(shown.measured))
    columns = ("file that this report is made from", "SHA-256")
    yield table(columns, files[:_MOST_FILES], labels=2)
    if left := files[_MOST_FILES:]:
        yield Paragraph(f"{len(left)} more: their hashes are in the run's index, suite.json.")
        yield Folded("These files", (table(columns, left, labels=2),))


def _files(measured: Measured) -> Iterator[tuple[str, Cell]]:
    yield "environment.json", name(measured.environment_sha256)
    if measured.suite is not None:
        yield from ((one.path, name(one.sha256)) for one in measured.suite.cases)


SECTION = ReportSection(place=5, anchor="verify", title="How to verify", blocks=_blocks)
