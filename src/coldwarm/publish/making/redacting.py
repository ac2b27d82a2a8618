"""Results written once more, with everything masked that is private where a snapshot is made.

What a run writes is masked as it is written. But a secret may be known here that was not known
there. Then the files of the run are encoded again, which masks, from the inside out: each hash is
made of what is written, so that the whole agrees with itself.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.contracts.files import journal, nextstat
from coldwarm.contracts.files.codec import decode, decode_as, encode
from coldwarm.contracts.files.index import NAME
from coldwarm.contracts.published import NextstatSuite
from coldwarm.contracts.result import CaseResult, SuiteResult
from coldwarm.errors import InvalidResultError
from coldwarm.publish import layout
from coldwarm.publish.making import privacy
from coldwarm.publish.writing import sha256_of, write_new
from coldwarm.runner.process import temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_INDEX = f"{layout.PUBLISHED}/{nextstat.INDEX}"
_TIMES = 4
"""Once is enough, but where masking a secret uncovers another."""


def redacted(
    files: Mapping[str, bytes],
    folder: str,
    masked: Callable[[Mapping[str, bytes]], dict[str, bytes]],
) -> tuple[dict[str, bytes], list[str]]:
    """Return files with everything masked that is private here, and where that was.

    Args:
        files: By path below a folder.
        folder: That folder, as it is told.
        masked: Returns them written once more.

    Raises:
        InvalidResultError: something private is left.
    """

    def private(made: Mapping[str, bytes]) -> list[str]:
        return privacy.private_in({f"{folder}/{path}": data for path, data in made.items()})

    made, places = dict(files), private(files)
    left = places
    for _ in range(_TIMES):
        if not left:
            return made, places
        made = masked(made)
        left = private(made)
    if left:
        text = f"{left[0]} holds something private that masking does not take out; measure again"
        raise InvalidResultError(text)
    return made, places


@contextmanager
def written(files: Mapping[str, bytes]) -> Iterator[Path]:
    """Give a folder for a while in which these files lie."""
    with temporary.made() as folder:
        for path, data in files.items():
            write_new(folder / path, data)
        yield folder


def masked_files(old: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a run with every text masked, and every hash of what is written so.

    Args:
        old: The files, by path below the run's folder.
    """
    suite = decode_as(SuiteResult, old[NAME])
    files = {path: _encoded(path, data) for path, data in old.items()}
    environment = sha256_of(files[suite.environment_path])
    rows = []
    for row in suite.cases:
        case = decode_as(CaseResult, files[row.path])
        files[row.path] = encode(replace(case, environment_sha256=environment))
        rows.append(replace(row, sha256=sha256_of(files[row.path])))
    suite = replace(suite, cases=rows, environment_sha256=environment)
    if suite.answers_path is not None:
        suite = replace(suite, answers_sha256=sha256_of(files[suite.answers_path]))
    files[NAME] = encode(suite)
    if _INDEX in files:
        files[_INDEX] = _published(files)
    return files


def _encoded(path: str, data: bytes) -> bytes:
    if not path.endswith(".jsonl"):
        return encode(decode(data))
    with temporary.made() as folder:
        file = folder / journal.JOURNAL
        file.write_bytes(data)
        entries, _ = journal.read_lines(file)
    return b"".join(journal.encode_line(one.kind, one.record) for one in entries)


def _published(files: dict[str, bytes]) -> bytes:
    index = decode_as(NextstatSuite, files[_INDEX])
    rows = [
        replace(row, sha256=sha256_of(files[f"{layout.PUBLISHED}/{row.path}"]))
        for row in index.cases
    ]
    return encode(replace(index, cases=rows))
