"""JSON without its loose ends: what is refused when artifacts are read and written.

The grammar of JSON leaves open what two equal keys mean, and common parsers accept NaN,
infinities and halves of surrogate pairs. An artifact with any of these would read
differently elsewhere, so it is refused.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

import msgspec

from coldwarm.contracts.files.faults import dotted, fault
from coldwarm.contracts.files.positions import line_of_repeated_key, line_of_token

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOO_DEEP = "is nested too deeply for any artifact"


class _TokenError(ValueError):
    """A number that JSON does not have; carries how it is written."""

    def __init__(self, token: str, message: str) -> None:
        super().__init__(message)
        self.token = token


class _RepeatedKeyError(ValueError):
    """A key that stands twice in one object."""


def parse(data: bytes, path: str) -> tuple[str, Any]:
    """Return the text and the plain values of one strict JSON document.

    Args:
        data: The bytes of the document.
        path: The file they come from, for messages.

    Raises:
        ContractError: not UTF-8, not JSON, NaN or infinite numbers, half of a surrogate
            pair, a key twice in one object, or nesting too deep to read.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fault(path, line, None, f"is not UTF-8 text: {error.reason}") from None
    try:
        return text, _load(text)
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise fault(place, None, None, f"is not JSON: {error.msg}") from None
    except RecursionError:
        raise fault(path, None, None, _TOO_DEEP) from None
    except UnicodeEncodeError:
        what = "holds half of a surrogate pair, which is no text"
        raise fault(path, None, None, what) from None
    except _TokenError as error:
        raise fault(path, line_of_token(text, error.token), None, str(error)) from None
    except _RepeatedKeyError:
        line, key = line_of_repeated_key(text)
        raise fault(path, line, key[:80], "stands twice in one object") from None
    except ValueError as error:  # an integer of thousands of digits
        raise fault(path, None, None, f"holds a number too long to read: {error}") from None


def refuse_non_finite(value: Any, name: str) -> None:
    """Refuse NaN and infinities, which JSON has no way to write.

    Args:
        value: Plain values, containers of any depth.
        name: What they are, for the message.

    Raises:
        ContractError: one was found; the message has its path.
    """
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                what = f"{item} cannot be written; a value that was not measured is null"
                raise fault(name, None, dotted(path) or None, what)
        elif isinstance(item, dict):
            stack.extend(((*path, str(k)), part) for k, part in item.items() if _suspect(part))
        elif isinstance(item, list | tuple):
            stack.extend(((*path, n), part) for n, part in enumerate(item) if _suspect(part))


def _suspect(value: Any) -> bool:
    """Whether a value has to be checked; a finite number, as most are, has not."""
    return type(value) is not float or not math.isfinite(value)


def _load(text: str) -> Any:
    document = json.loads(
        text,
        object_pairs_hook=_once,
        parse_float=_finite,
        parse_constant=_no_constant,
    )
    if _SURROGATE.search(text):
        msgspec.json.encode(document)  # raises where a pair is incomplete
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKeyError
    return found


def _finite(token: str) -> float:
    number = float(token)
    if not math.isfinite(number):
        raise _TokenError(token, f"the number {token[:40]} is too large")
    return number


def _no_constant(token: str) -> NoReturn:
    raise _TokenError(token, f"{token} is no number; a value that was not measured is null")
