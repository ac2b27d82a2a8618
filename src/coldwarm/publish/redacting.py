"""What is private: masked in results once more, and looked for in files about to be published."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from coldwarm.contracts import nextstat, run_journal
from coldwarm.contracts.codec import cleaned, decode, decode_as, encode
from coldwarm.contracts.nextstat import NextstatSuite
from coldwarm.contracts.parsing import dotted, fault
from coldwarm.contracts.reader import NAME
from coldwarm.contracts.result import CaseResult, SuiteResult
from coldwarm.errors import InvalidResultError
from coldwarm.publish import layout
from coldwarm.publish.writing import sha256_of, write_new
from coldwarm.runner import temporary
from coldwarm.runner.user_input import secret_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


_At = tuple[str | int, ...]


def private_in(files: Mapping[str, bytes]) -> list[str]:
    """Return where files hold a text that would be masked if it were written now.

    Args:
        files: Texts, by the path that is told.
    """
    return [place for path, data in files.items() for place in _found(path, data)]


def refuse_secrets(files: Mapping[str, bytes]) -> None:
    """Refuse files of any format that hold the value of a secret variable of this process.

    Raises:
        ContractError: one does; the message says which.
    """
    values = secret_values()
    for path, data in files.items():
        if any(value in path.encode() for value in values):
            what = "the name of a file holds the value of a variable that is a secret"
            raise fault("the snapshot", None, None, f"{what}; nothing was written")
        if any(value in data for value in values):
            what = "holds the value of a variable whose name says that it is a secret"
            raise fault(path, None, None, f"{what}; nothing was written")


def _found(path: str, data: bytes) -> Iterator[str]:
    by_line = path.endswith(".jsonl")
    for number, text in enumerate(data.splitlines() if by_line else [data], start=1):
        try:
            plain = json.loads(text)
        except ValueError:  # the last line of a journal may be torn
            plain = text.decode(errors="replace")
        clean = cleaned(plain)
        if clean != plain:
            place = f"{path}:{number}" if by_line else path
            yield ": ".join(filter(None, (place, dotted(_difference(plain, clean)))))


def _difference(one: Any, other: Any, at: _At = ()) -> _At:  # noqa: ANN401 - any JSON value
    """Return where two values of the same shape differ first; a key is not told."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [((*at, str(key)), one[key], other[key]) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [((*at, place), *both) for place, both in enumerate(zip(one, other, strict=True))]
    else:
        return at
    return next((_difference(a, b, place) for place, a, b in pairs if a != b), at)


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
        return private_in({f"{folder}/{path}": data for path, data in made.items()})

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
        file = folder / run_journal.JOURNAL
        file.write_bytes(data)
        entries, _ = run_journal.read_lines(file)
    return b"".join(run_journal.encode_line(one.kind, one.record) for one in entries)


def _published(files: dict[str, bytes]) -> bytes:
    index = decode_as(NextstatSuite, files[_INDEX])
    rows = [
        replace(row, sha256=sha256_of(files[f"{layout.PUBLISHED}/{row.path}"]))
        for row in index.cases
    ]
    return encode(replace(index, cases=rows))
