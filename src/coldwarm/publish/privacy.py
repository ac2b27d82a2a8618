"""Whether anything private is left in files that are about to be published.

What a run writes is masked as it is written. But a secret may be known here that was not known
there, and a file may be of an earlier version, or changed by hand: so all is looked through again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.files.faults import dotted, fault
from coldwarm.private import known
from coldwarm.private.masking import MASK, cleaned, masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.errors import ContractError

_JSON = {".json", ".jsonl"}
_At = tuple[str | int, ...]


def refuse_private(files: Mapping[str, bytes]) -> None:
    """Refuse files that hold a text which would be masked if it were written now.

    Args:
        files: Texts, by the path that is told.

    Raises:
        ContractError: there is one; the message says where, and not what.
    """
    for path, data in files.items():
        for error in _found(path, data):
            raise error


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


def _found(path: str, data: bytes) -> Iterator[ContractError]:
    suffix = path[path.rfind(".") :]
    lines = data.splitlines() if suffix == ".jsonl" else [data]
    for number, text in enumerate(lines, start=1):
        plain = json.loads(text) if suffix in _JSON else text.decode()
        clean = cleaned(plain) if suffix in _JSON else masked(plain)
        if clean != plain:
            at = dotted(_difference(plain, clean)) or None
            yield fault(path, number if suffix == ".jsonl" else None, at, _WHAT)


_WHAT = (
    f"holds something private of this user or machine, which is written as {MASK} or ~ when "
    "a run is measured here; measure again, or make the snapshot where it was measured"
)


def _difference(one: Any, other: Any, at: _At = ()) -> _At:  # noqa: ANN401 - any JSON value
    """Return where two values of the same shape differ first; a key is not told."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [((*at, str(key)), one[key], other[key]) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [((*at, place), *both) for place, both in enumerate(zip(one, other, strict=True))]
    else:
        return at
    return next((_difference(a, b, place) for place, a, b in pairs if a != b), at)
