"""Whether anything private is left in files that are about to be published.

What a run writes is masked as it is written. But a secret may be known here that was not known
there, and a file may be of an earlier version, or changed by hand: so all is looked through again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.files.faults import dotted, fault
from coldwarm.private import known
from coldwarm.private.masking import cleaned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    values = [value.encode("utf-8", "surrogateescape") for value in known.current().values]
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
