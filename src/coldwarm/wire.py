"""The messages between runner and worker, described once.

Both directions are lines of JSON on pipes of their own, so that whatever a candidate
prints goes elsewhere. This module runs on both sides: it imports nothing at module level,
because whatever it imports would be loaded before the framework under measurement.

Requests, runner to worker:

- the *job*, one line, sent right after the spawn: which backend, workload, size, dtype,
  seed, role (``measure``, ``reference``, ``make``, ``inspect``, ``marked``), whether the process
  is ``persistent``, how its ``allocator`` begins, what its caches keep (``cache_settings``), and
  the folder of what was, or is to be, ``made`` ahead of time;
- to a persistent process: ``{"op": "block", "batch": n, "seconds": s, "limit": n}`` for a
  block of warm calls, then ``{"op": "quit"}``.

Replies, worker to runner, by their ``type``: ``start`` (after the second call; of a process that
is not persistent also after the gate), ``block``, ``end`` (of a persistent one with the gate of
its first call), ``reference``, ``made``, ``inspect``, ``marked``, and ``failed`` with ``reason``
and ``detail``.
"""

LINE_LIMIT_BYTES = 8 * 1024 * 1024
"""No message is longer; more than this on the pipe is garbage."""

TYPE_CHECKING = False
"""As ``typing`` has it, which the measured side does not load: type checkers go by the name."""
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class PipeClosedError(Exception):
    """Nobody writes to the pipe any more."""


def because(code: str, /, **values: "str | float") -> "dict[str, Any]":
    """Return a reason as it goes over the pipe; see ``coldwarm.contracts.reasons``."""
    return {"code": code, "values": values}


def encode(message: "Mapping[str, Any]") -> bytes:
    """Return a message as one line.

    Characters stand as they are, and halves of surrogate pairs (of a path that is no
    UTF-8) as escapes: both JSON and ``decode_bare`` read either alike, but not a whole
    character that is written as a pair of escapes.

    Raises:
        ValueError: a number is not finite.
    """
    import json

    text = json.dumps(message, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def encode_bare(message: "Mapping[str, Any]") -> bytes:
    """Return what ``encode`` does, without importing ``json``.

    Raises:
        ValueError: a number is not finite.
    """
    return _written(message).encode("utf-8", "backslashreplace") + b"\n"


def _written(value: "Any") -> str:  # noqa: ANN401 - whatever a message holds
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    if isinstance(value, dict):
        fields = [f"{_written(str(name))}:{_written(item)}" for name, item in value.items()]
        return f"{{{','.join(fields)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    number = value + 0  # a subclass may write itself in another way
    if not -float("inf") < number < float("inf"):
        text = f"{number} is no finite number"
        raise ValueError(text)
    whole = hasattr(number, "__index__")
    return int.__repr__(int(number)) if whole else float.__repr__(float(number))


def _escaped(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    return sign if sign >= " " else f"\\u{ord(sign):04x}"


def decode(line: bytes) -> "dict[str, Any]":
    """Return the message in a line.

    Raises:
        ValueError: the line is not a JSON object.
    """
    import json

    try:
        message = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except RecursionError as error:
        text = "nested too deeply"
        raise ValueError(text) from error
    if not isinstance(message, dict):
        text = f"expected an object, got {type(message).__name__}"
        raise ValueError(text)  # noqa: TRY004 - a malformed line, whatever its type
    return message


def _finite(token: str) -> float:
    number = float(token)
    if not -float("inf") < number < float("inf"):
        text = f"{token[:40]} is no finite number"
        raise ValueError(text)
    return number


def decode_bare(line: bytes) -> "dict[str, Any]":
    """Return the message in a line that the runner wrote, without importing ``json``.

    Before its first result a worker may load nothing, and a line of JSON as ``encode``
    writes it is a Python literal once its three constants have names. The line comes from
    the runner, which tells the worker what code to run anyway; nothing else is ever read
    this way.
    """
    names = {"__builtins__": {}, "true": True, "false": False, "null": None}
    message = eval(line.decode(), names)  # noqa: S307 - see the docstring
    return dict(message)


def read_line(descriptor: int) -> bytes:
    """Read one line from a pipe, byte-exact, waiting without using the processor.

    Raises:
        PipeClosedError: the other side is gone.
    """
    import os

    chunks = []
    while True:
        chunk = os.read(descriptor, 65536)
        if not chunk:
            raise PipeClosedError
        chunks.append(chunk)
        if chunk.endswith(b"\n"):
            return b"".join(chunks)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data`` to a pipe."""
    import os

    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
