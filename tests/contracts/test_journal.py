"""A journal loses a damaged line and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contracts import samples

from coldwarm.contracts.run_journal import JournalEntry, encode_line, mend, read_lines
from coldwarm.errors import ContractError, NewerVersionError, StorageError

if TYPE_CHECKING:
    from pathlib import Path

HEADER = JournalEntry("header", {"run": "é\n"})
SEEN = JournalEntry("observation", samples.observation())
EVENT = JournalEntry("event", {"what": "interrupted", "n": 1.5})
LINES = [encode_line(kind, record) for kind, record in (HEADER, SEEN, EVENT)]
settle = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def test_lines_come_back_in_order(path: Path) -> None:
    path.write_bytes(b"".join(LINES))
    assert read_lines(path) == ([HEADER, SEEN, EVENT], [])


@pytest.mark.parametrize("torn", [1, 40, len(LINES[2]) - 2])
def test_a_torn_line_is_reported_and_cut_off(path: Path, torn: int) -> None:
    path.write_bytes(LINES[0] + LINES[1] + LINES[2][:torn])
    entries, faults = read_lines(path)
    assert entries == [HEADER, SEEN]
    assert [(fault.line, fault.torn) for fault in faults] == [(3, True)]
    mend(path)
    assert path.read_bytes() == LINES[0] + LINES[1]


def test_a_whole_line_without_its_newline_counts(path: Path) -> None:
    path.write_bytes(LINES[0] + LINES[2][:-1])
    entries, faults = read_lines(path)
    assert entries == [HEADER, EVENT]
    assert faults[0].torn
    mend(path)
    assert path.read_bytes() == LINES[0] + LINES[2]
    mend(path)
    assert path.read_bytes() == LINES[0] + LINES[2]


@settle
@given(place=st.integers(0, len(LINES[1]) - 2), byte=st.integers(0, 255))
def test_any_damaged_byte_costs_its_own_line_only(path: Path, place: int, byte: int) -> None:
    damaged = bytearray(LINES[1])
    damaged[place] = byte
    path.write_bytes(LINES[0] + bytes(damaged) + LINES[2])
    entries, faults = read_lines(path)
    if bytes(damaged) == LINES[1]:
        assert len(entries) == 3
    else:
        assert [entry for entry in entries if entry != SEEN] == [HEADER, EVENT]
        assert entries == [HEADER, EVENT] or not faults
        assert all(fault.line in {2, 3} for fault in faults)


def test_a_line_that_breaks_its_contract_is_a_fault(path: Path) -> None:
    broken = encode_line("observation", {"schema_version": "coldwarm.observation.v2"})
    other = encode_line("observation", samples.environment())  # type: ignore[arg-type]
    array = encode_line("event", [1])  # type: ignore[arg-type]
    path.write_bytes(broken + LINES[0] + other + array)
    entries, faults = read_lines(path)
    assert entries == [HEADER]
    assert [fault.line for fault in faults] == [1, 3, 4]
    assert faults[0].what.startswith("case: is required")


def test_a_newer_observation_is_refused_and_not_skipped(path: Path) -> None:
    path.write_bytes(encode_line("observation", {"schema_version": "coldwarm.observation.v3"}))
    with pytest.raises(NewerVersionError, match=r"journal\.jsonl:1: .* install a newer coldwarm"):
        read_lines(path)


def test_what_is_no_json_is_not_written() -> None:
    with pytest.raises(ContractError, match="nan cannot be written"):
        encode_line("event", {"n": float("nan")})


def test_a_journal_that_is_not_there(path: Path) -> None:
    with pytest.raises(ContractError, match="cannot be read"):
        read_lines(path)
    with pytest.raises(StorageError, match="cannot be mended"):
        mend(path)
