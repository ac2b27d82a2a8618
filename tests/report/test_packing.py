"""Packs hold every number as it was; what stands in a script element cannot end it."""

from __future__ import annotations

import base64
import gzip
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.report.charts.chart import Columns
from coldwarm.report.page.packing import Pack, embedded


def unpacked(text: str) -> dict[str, list[dict[str, Any]]]:
    """Read a pack as the page's script does."""
    data = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    head, body = json.loads(data[4 : 4 + length]), data[4 + length :]
    sets = {}
    for name, found in head["sets"].items():
        n = found["n"]
        columns = {key: column(head["columns"][at], body, n) for key, at in found["fields"].items()}
        sets[name] = [{key: values[at] for key, values in columns.items()} for at in range(n)]
    return sets


def column(about: dict[str, Any], body: bytes, n: int) -> list[Any]:
    def planes(kind: str, start: int = 0) -> np.ndarray[Any, Any]:
        size = np.dtype(kind).itemsize
        at = about["at"] + start
        raw = np.frombuffer(body[at : at + n * size], dtype=np.uint8)
        return np.ascontiguousarray(raw.reshape(size, n).T).view(kind).ravel()

    if about["kind"] == "same":
        return [about["value"]] * n
    if about["kind"] == "choice":
        places = planes("<u1" if about["bytes"] == 1 else "<u2")
        return [about["values"][place] for place in places]
    if about["kind"] == "time":
        calls = about["calls"]
        of = planes("<u1", n * 4).tolist() if len(calls) > 1 else [0] * n
        pairs = zip(planes("<u4").tolist(), of, strict=True)
        return [ns / calls[place] / 1e9 for ns, place in pairs]
    return [None if math.isnan(value) else value for value in planes("<f8").tolist()]


VALUES = st.one_of(
    st.none(), st.booleans(), st.text(max_size=5), st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**53), 2**53),
)  # fmt: skip


@given(st.lists(st.fixed_dictionaries({"a": VALUES, "b": st.floats(0, 10)}), max_size=30))
def test_rows_come_out_as_they_went_in(rows: list[dict[str, Any]]) -> None:
    pack = Pack()
    pack.add("rows", rows)
    assert unpacked(pack.text())["rows"] == rows


@given(
    st.lists(st.tuples(st.integers(0, 2**31), st.sampled_from([1, 7, 64])), min_size=2, max_size=40)
)
def test_samples_of_a_clock_come_out_to_the_last_bit(clock: list[tuple[int, int]]) -> None:
    samples = [ns / calls / 1e9 for ns, calls in clock]
    pack = Pack([7, 64])
    pack.add("samples", Columns({"call_s": samples}))
    assert [row["call_s"] for row in unpacked(pack.text())["samples"]] == samples


def test_samples_of_a_clock_take_few_bytes_and_stand_once() -> None:
    rng = np.random.default_rng(0)
    samples = [int(ns) / 3 / 1e9 for ns in rng.normal(3e6, 1e5, 20_000)]
    pack = Pack([3])
    pack.add("samples", Columns({"call_s": samples}))
    once = len(pack.text())
    assert once < 4 * len(samples)
    pack.add("again", Columns({"seconds": samples, "candidate": ["x"] * len(samples)}))
    assert len(pack.text()) < once + 200


def test_true_is_not_one() -> None:
    pack = Pack()
    pack.add("rows", [{"a": True}, {"a": 1}, {"a": "1"}])
    assert [type(row["a"]) for row in unpacked(pack.text())["rows"]] == [bool, int, str]


def test_a_column_of_too_many_texts_is_refused() -> None:
    with pytest.raises(ValueError, match="70000 different texts"):
        Pack().add("rows", Columns({"a": [str(number) for number in range(70_000)]}))


@given(st.text())
def test_nothing_in_a_script_element_ends_it(text: str) -> None:
    made = embedded({"text": text + "</script><!--<script>", "more": ["&", "\u2028"]})
    assert not set(made) & set("<>&")
    assert made.isascii()
    assert json.loads(made)["text"] == text + "</script><!--<script>"
