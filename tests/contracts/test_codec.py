"""Records survive the way to bytes and back; anything else is one clear line."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contracts import samples
from tests.contracts.strategies import plain, records

from coldwarm.contracts import codec
from coldwarm.contracts.base import Record, documents
from coldwarm.contracts.codec import decode, decode_as, encode, load_as
from coldwarm.contracts.environment import Environment
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.result import CaseResult
from coldwarm.errors import ContractError, NewerVersionError

if TYPE_CHECKING:
    from pathlib import Path

few = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
many = settings(max_examples=200, deadline=None, derandomize=True)

TYPES = documents()


def refusal(data: bytes) -> str:
    with pytest.raises(ContractError) as caught:
        decode(data, "f.json")
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


def read_or_refused(data: bytes) -> None:
    with contextlib.suppress(ContractError):
        decode(data, "f.json")
        return
    refusal(data)


def spoilt(record: Record, *path: str | int, value: object) -> bytes:
    document: Any = plain(record)
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return json.dumps(document, indent=2).encode()


@pytest.mark.parametrize("type_", TYPES)
@few
@given(data=st.data())
def test_every_record_survives_the_round_trip(type_: type[Record], data: st.DataObject) -> None:
    # A text that looks like a secret is masked when it is written.
    record = codec.without_secrets(data.draw(records(type_)))
    text = encode(record)
    assert decode(text) == record
    assert encode(decode(text)) == text
    assert text.endswith(b"\n")


@many
@given(st.binary())
def test_arbitrary_bytes_raise_nothing_but_a_contract_error(data: bytes) -> None:
    refusal(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@many
@given(st.sampled_from(["status", "observations", "protocol", "cold", "new"]), json_values)
def test_any_value_in_any_field_is_read_or_refused(field: str, value: object) -> None:
    read_or_refused(spoilt(samples.case([samples.observation()]), field, value=value))


@many
@given(st.data())
def test_a_cut_or_changed_byte_raises_nothing_but_a_contract_error(data: st.DataObject) -> None:
    text = bytearray(encode(samples.case([samples.observation()])))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] = data.draw(st.integers(0, 255))
    read_or_refused(bytes(text[: data.draw(st.sampled_from([place, len(text)]))]))


def test_the_same_content_gives_the_same_bytes() -> None:
    one = samples.environment(distributions={"a": "1", "b": "2"})
    other = samples.environment(distributions={"b": "2", "a": "1"})
    assert encode(one) == encode(other)


def test_numbers_of_a_series_stand_in_one_line() -> None:
    text = encode(samples.warm_observation([1.0, 2.5e-7, 3.0])).decode()
    assert '"samples_s": [1.0, 2.5e-7, 3.0]' in text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_no_number_is_written_that_json_does_not_have(number: float) -> None:
    with pytest.raises(ContractError, match=r"blocks\[0\]\.samples_s\[1\]: .* is null"):
        encode(samples.warm_observation([1.0, number]))


def test_no_record_is_written_that_could_not_be_read() -> None:
    with pytest.raises(ContractError, match=r"Observation: wall_s: expected float >= 0"):
        encode(samples.observation(wall_s=-1.0))
    with pytest.raises(ContractError, match="cannot be written as JSON"):
        encode(samples.observation(reason="\ud800"))


def test_a_fault_names_file_line_field_expectation_and_remedy() -> None:
    data = spoilt(samples.case([samples.observation()]), "observations", 0, "status", value="bad")
    line = data.decode().splitlines().index('      "status": "bad",') + 1
    assert refusal(data) == (
        f"f.json:{line}: observations[0].status: expected 'failed', 'ok' or 'rejected', "
        "got 'bad'; restore the file as it was written, or measure again"
    )


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        (("size",), "big", "size: expected int, got str"),
        (("environment_sha256",), "xyz", "environment_sha256: expected str matching"),
        (("environment_sha256",), "xyz", "got 'xyz'"),
        (("new\nfield",), 1, r"is no field of this record"),
        (("cold",), {}, "cold: expected array, got object"),
        (("observations", 0, "wall_s"), -1, "observations[0].wall_s: expected float >= 0"),
        (("observations", 0, "wall_s"), -1, "got -1"),
        (("observations", 0, "round"), -(10**30), "got a huge number"),
        (("protocol", "process", "a b"), "old", "protocol.process[\"a b\"]: expected 'fresh'"),
    ],
)
def test_faults_are_said_in_words(path: tuple[str | int, ...], value: Any, part: str) -> None:
    assert part in refusal(spoilt(samples.case([samples.observation()]), *path, value=value))


def test_the_guilty_key_of_a_mapping_is_found_with_its_line() -> None:
    document = plain(samples.case())
    document["protocol"]["process"] = {f"k{n}": "fresh" for n in range(50)} | {"k33": "?"}
    data = json.dumps(document, indent=1).encode()
    line = data.decode().splitlines().index('   "k33": "?",') + 1
    assert refusal(data).startswith(f"f.json:{line}: protocol.process.k33: expected ")


def test_a_missing_field_is_shown_at_its_record() -> None:
    document = plain(samples.case([samples.observation()]))
    del document["observations"][0]["wall_s"]
    message = refusal(json.dumps(document).encode())
    assert message.startswith("f.json:1: observations[0].wall_s: is required and is not there")


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "f.json:1:1: is not JSON"),
        (b'{"a":\n1;}', "f.json:2:2: is not JSON"),
        (b"\xef\xbb\xbf{}", "is not JSON"),
        (b"{}\n\xff", "f.json:2: is not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"[1]", "is no artifact"),
        (b'{"a": 1, "b": {\n"c": 1,\n"c": 2}}', "f.json:3: c: stands twice"),
        (b'{"a": "NaN",\n"b": NaN}', "f.json:2: NaN is no number"),
        (b'{"a": [\n-Infinity]}', "f.json:2: -Infinity is no number"),
        (b'{"a":\n1e999}', "f.json:2: the number 1e999 is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "number too long"),
        (rb'{"a": "\ud800"}', "surrogate"),
        (b"{}", "schema_version: is missing"),
        (b'{"schema_version": 1}', "schema_version: is missing or no text"),
        (
            b'{\n"schema_version": "coldwarm.case_reslt.v2"}',
            "did you mean 'coldwarm.case_result.v2'",
        ),
        (b'{"schema_version": "zzz"}', "known are coldwarm.answers.v1"),
    ],
)
def test_hostile_files_are_refused(data: bytes, part: str) -> None:
    assert part in refusal(data)


def test_deep_nesting_inside_a_record_is_refused() -> None:
    deep = b'{"schema_version": "coldwarm.observation.v2", "raw": ' + b"[" * 900 + b"]" * 900 + b"}"
    refusal(deep)


def test_a_newer_version_is_refused_with_what_to_do() -> None:
    with pytest.raises(NewerVersionError) as caught:
        decode(b'{"schema_version": "coldwarm.case_result.v3", "what": "ever"}', "out/x.json")
    assert str(caught.value) == (
        "out/x.json: coldwarm.case_result.v3 is newer than v2, which this coldwarm 0.1.0 reads; "
        "install a newer coldwarm to read it: in a clone of coldwarm, pip install ."
    )


def test_an_older_version_is_refused_with_what_to_do() -> None:
    older = {**plain(samples.observation()), "schema_version": "coldwarm.observation.v1"}
    assert "is older than coldwarm.observation.v2, which alone is read; measure again" in refusal(
        json.dumps(older).encode()
    )


def test_another_kind_of_record_than_wanted_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    file.write_bytes(encode(samples.environment()))
    assert isinstance(codec.load_as(Environment, file), Environment)
    with pytest.raises(ContractError, match=r"expected 'coldwarm\.observation\.v2', got"):
        decode_as(Observation, file.read_bytes())


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ContractError, match="cannot be read: No such file"):
        load_as(Record, tmp_path / "none.json")
    (tmp_path / "big.json").write_bytes(b"{}  ")
    monkeypatch.setattr(codec, "MAX_BYTES", 3)
    with pytest.raises(ContractError, match="is larger than 3 bytes"):
        load_as(Record, tmp_path / "big.json")


def test_a_large_record_is_read_in_linear_time() -> None:
    many_samples = samples.warm_observation([1e-6 * n for n in range(50_000)])
    measured = samples.case([many_samples])
    assert decode_as(CaseResult, encode(measured)) == measured
    assert msgspec.json.decode(encode(measured))["case"] == measured.case
