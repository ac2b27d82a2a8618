"""The lines between runner and worker: what goes in comes out, and noise is told."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldwarm import wire

WORDS = st.text(st.characters())
"""Any text at all: control characters, halves of pairs, the astral planes."""
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
    max_leaves=20,
)


@settings(max_examples=50)
@given(st.dictionaries(WORDS, VALUES))
def test_a_job_is_read_as_it_was_written(job: dict[str, object]) -> None:
    line = wire.encode(job)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert wire.decode_bare(line) == job


@given(st.dictionaries(st.text(), st.text() | st.floats(allow_nan=False, allow_infinity=False)))
def test_a_reply_is_read_as_it_was_written(reply: dict[str, object]) -> None:
    assert wire.decode(wire.encode(reply)) == reply


@settings(max_examples=50)
@given(st.dictionaries(WORDS, VALUES))
def test_a_reply_is_the_same_without_json(reply: dict[str, object]) -> None:
    line = wire.encode_bare(reply)
    assert line.count(b"\n") == 1
    assert wire.decode(line) == wire.decode(wire.encode(reply))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_not_written_without_json(number: float) -> None:
    with pytest.raises(ValueError, match="no finite number"):
        wire.encode_bare({"a": [number]})


@given(
    st.binary()
    | st.text().map(str.encode)
    | VALUES.map(lambda value: repr(value).encode("utf-8", "replace"))
)
def test_noise_is_a_value_error_or_an_object(line: bytes) -> None:
    try:
        assert isinstance(wire.decode(line), dict)
    except ValueError:
        return


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b'"start"',
        b"NaN",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 5000,
        b"\xff\xfe{",
    ],
)
def test_what_is_no_message_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each parser says it in its own words
        wire.decode(line)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_not_sent(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        wire.encode({"x": number})


def test_a_line_longer_than_the_pipe_comes_in_one_piece() -> None:
    reader, writer = os.pipe()
    line = wire.encode({"text": "x" * 1_000_000})
    thread = threading.Thread(target=wire.write_all, args=(writer, line))
    thread.start()
    try:
        assert wire.read_line(reader) == line
    finally:
        thread.join()
        os.close(writer)
    with pytest.raises(wire.PipeClosedError):
        wire.read_line(reader)
    os.close(reader)
