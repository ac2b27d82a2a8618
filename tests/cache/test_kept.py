"""What lies in a cache is told without running any of it, whatever its files are."""

from __future__ import annotations

import os
import pickle
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.cache.check import listed, look
from coldwarm.caches import kept
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEY = "0" * 64


def number(value: int) -> bytes:
    made = b""
    while value > 0x7F:
        made, value = made + bytes([value & 0x7F | 0x80]), value >> 7
    return made + bytes([value])


def message(fields: Sequence[tuple[int, int | bytes]]) -> bytes:
    made = b""
    for place, value in fields:
        if isinstance(value, int):
            made += number(place << 3) + number(value)
        else:
            made += number(place << 3 | 2) + number(len(value)) + value
    return made


def entry(executable: bytes, options: bytes, *, header: bytes = b"") -> bytes:
    """Return an entry as JAX writes it: the seconds, a header perhaps, the program, its options."""
    ahead = number(len(header)) + header if header else b""
    body = ahead + message([(1, executable), (2, options)])
    return zlib.compress((3).to_bytes(4) + body)


def made_for(processor: str, folder: str = "/a", isa: str = "", code: bytes = b"\1\2") -> bytes:
    debug = message([(310, f"{folder}/xla_gpu_per_fusion_autotune_cache_dir".encode())])
    debug += message([(333, isa.encode())])
    instruction = message([(1, b"x"), (2, code), (7, message([(2, b"jit(f)/sin")]))])
    module = message([(3, message([(1, b"main"), (2, instruction)]))])
    executable = message([(1, message([(1, module)])), (9, message([(2, processor.encode())]))])
    options = message([(3, message([(3, debug)]))])
    return entry(executable, options, header=message([(1, 3)]))


FIELDS = st.lists(
    st.tuples(st.integers(1, 2**20), st.one_of(st.integers(0, 2**64 - 1), st.binary(max_size=300)))
)


@given(FIELDS)
def test_a_message_is_taken_apart_as_it_was_made(fields: list[tuple[int, int | bytes]]) -> None:
    assert kept.message_fields(message(fields)) == fields


@given(st.binary(max_size=200))
def test_bytes_are_a_message_or_refused(data: bytes) -> None:
    with suppress(ValueError):
        fields = kept.message_fields(data)
        assert kept.message_fields(message(fields)) == fields


def test_an_entry_tells_what_it_was_made_for(tmp_path: Path) -> None:
    (tmp_path / f"jit_step-{KEY}-cache").write_bytes(made_for("znver4", isa="AVX2"))
    (found,) = look(tmp_path).of("jax")
    assert (found.program, found.key, found.fault) == ("jit_step", KEY, None)
    assert found.parts["processor"] == "znver4"
    assert found.options["xla_cpu_max_isa"] == "AVX2"


def test_lines_of_the_source_are_no_part_of_a_program(tmp_path: Path) -> None:
    same = made_for("znver4")
    moved = zlib.compress(zlib.decompress(same).replace(b"jit(f)/sin", b"jit(g)/sin"))
    other = made_for("znver4", code=b"\1\3")
    for name, data in (("a", same), ("b", moved), ("c", other)):
        (tmp_path / f"jit_{name}-{KEY}-cache").write_bytes(data)
    a, b, c = (one.parts["program"] for one in look(tmp_path).of("jax"))
    assert a == b != c


class Runs:
    """Something that runs a command when it is unpickled."""

    def __init__(self, path: Path) -> None:
        """Make a folder there."""
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Return the command."""
        return os.mkdir, (str(self.path),)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    mark, folder = tmp_path / "ran", tmp_path / "cache"
    (folder / "fxgraph" / "ab" / "key").mkdir(parents=True)
    hostile = pickle.dumps(("0.68.1", Runs(mark), "m.f-3.py311.1.nbc"))
    (folder / "m.f-3.py311.nbi").write_bytes(hostile)
    (folder / "fxgraph" / "ab" / "key" / "entry").write_bytes(hostile)
    found = listed(folder)
    assert {one.owner for one in found.entries} == {"numba", "inductor"}
    assert not mark.exists()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "entry_damaged"),
        (made_for("znver4")[:-20], "entry_damaged"),
        (zlib.compress(b"\0\0\0\1" + b"no message at all" * 9), "entry_damaged"),
        (b"\x28\xb5\x2f\xfd" + b"\0" * 9, None),
    ],
    ids=["empty", "cut off", "of another format", "zstandard"],
)
def test_a_damaged_entry_is_listed_with_its_fault(
    tmp_path: Path, data: bytes, code: str | None
) -> None:
    (tmp_path / f"jit_f-{KEY}-cache").write_bytes(data)
    (found,) = listed(tmp_path).entries
    assert found.fault is not None
    assert found.fault.code in ({code} if code else {"entry_packed", "entry_damaged"})


def test_what_unpacks_to_far_more_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coldwarm.caches.jax_entries.MOST_BYTES", 1000)
    (tmp_path / f"jit_f-{KEY}-cache").write_bytes(zlib.compress(bytes(100_000)))
    (found,) = listed(tmp_path).entries
    assert found.fault is not None
    assert found.fault.code == "entry_large"


def test_links_and_special_files_are_not_opened(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "cache"
    outside.mkdir()
    folder.mkdir()
    (outside / f"jit_f-{KEY}-cache").write_bytes(made_for("znver4"))
    (folder / "linked").symlink_to(outside)
    (folder / f"jit_g-{KEY}-cache").symlink_to(outside / f"jit_f-{KEY}-cache")
    os.mkfifo(folder / f"jit_h-{KEY}-cache")
    found = listed(folder)
    assert (found.entries, found.n_others) == ([], 3)


def test_an_index_names_files_beside_it_alone(tmp_path: Path) -> None:
    texts = ("0.68.1", "array(float64, 1d, C)", "znver4", "+a,-b", "../m.f-3.py311.1.nbc")
    (tmp_path / "m.f-3.py311.nbi").write_bytes(pickle.dumps(texts))
    assert listed(tmp_path).entries == []


@pytest.mark.parametrize("name", ["missing", "file"])
def test_what_is_no_folder_is_refused_with_what_to_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="name the folder of a compilation cache"):
        look(tmp_path / name)
