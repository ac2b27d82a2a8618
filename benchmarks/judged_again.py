"""Writes what follows from the samples of stored results anew, by the rules of today.

``python -m benchmarks.judged_again FOLDER …`` takes extracted folders of ``coldwarm run``,
``patterns run`` or ``claims run``. No sample is changed; of them a new snapshot can be made.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from coldwarm.catalogue import stored
from coldwarm.contracts import nextstat
from coldwarm.contracts.catalogue import INDEXES
from coldwarm.contracts.codec import decode_as, encode
from coldwarm.contracts.reader import NAME
from coldwarm.contracts.result import SuiteResult
from coldwarm.runner import recompute, results


def _save(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return sha256(data).hexdigest()


def run(folder: Path) -> None:
    """Write the cases of a run, its answers and its index."""
    measured = recompute.read(folder)
    index = decode_as(SuiteResult, (folder / NAME).read_bytes())
    cases = measured.cases
    rows = [
        replace(
            row,
            sha256=_save(folder / row.path, encode(cases[row.case])),
            status=cases[row.case].status,
            reason=cases[row.case].reason,
        )
        for row in index.cases
    ]
    index = replace(index, cases=rows)
    if measured.answers is not None and index.answers_path is not None:
        hashed = _save(folder / index.answers_path, encode(measured.answers))
        index = replace(index, answers_sha256=hashed)
    _save(folder / NAME, encode(index))
    if (folder / "nextstat" / nextstat.INDEX).is_file() and measured.environment is not None:
        results._write_published(
            lambda path, data: _save(folder / path, data),
            [*cases.values()],
            measured.environment,
            deterministic=index.deterministic,
        )


def catalogue(folder: Path) -> None:
    """Write the runs of patterns or claims, and their verdicts."""
    kind = stored.kind_of(folder)
    if kind is None:
        sys.exit(f"{folder} holds neither patterns nor claims")
    for path in stored.read(folder, kind).pointed:
        run(folder / path)
    found = stored.read(folder, kind)
    before, after = found.index.verdicts, found.again.index.verdicts
    turned = {name for name, said in before.items() if after[name] != said}
    _save(folder / INDEXES[kind], encode(found.again.index))
    print(f"{folder}: {len(before)} verdicts, turned: {', '.join(sorted(turned)) or 'none'}")


def main(folders: list[str]) -> int:
    """Write each folder anew."""
    for folder in map(Path, folders):
        if (folder / NAME).is_file():
            run(folder)
        else:
            catalogue(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
