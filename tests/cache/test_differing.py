"""Why a program is missed: the first cause that is certain, and no other beside it."""

from __future__ import annotations

import base64
import hashlib
import pickle
from typing import TYPE_CHECKING

import pytest
from tests.cache.test_kept import KEY, made_for

from coldwarm.cache.check import listed, look
from coldwarm.caches.differing import why_missed
from coldwarm.contracts.reasons import brief

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("now", "codes"),
    [
        (made_for("znver4", "/b"), ["key_folder: /a, /b"]),
        (made_for("znver4", isa="AVX2"), ["key_option: xla_cpu_max_isa, not set, AVX2"]),
        (made_for("skylake"), ["key_processor: znver4, skylake"]),
        (made_for("znver4", code=b"\1\3"), ["key_program"]),
        (made_for("haswell", isa="AVX2", code=b"\3"), None),
        (made_for("znver4"), ["key_unknown"]),
    ],
    ids=["folder", "option", "processor", "program", "all of them", "nothing"],
)
def test_what_differs_is_named(tmp_path: Path, now: bytes, codes: list[str] | None) -> None:
    for name, data in (("a", made_for("znver4")), ("b", now)):
        (tmp_path / f"jit_{name}-{KEY}-cache").write_bytes(data)
    kept, new = look(tmp_path).of("jax")
    found = [brief(one) for one in why_missed([kept], [new])]
    if codes is None:
        assert "key_program" not in found, "other operations are what other options lead to"
    else:
        assert found == codes


def test_the_nearest_of_several_is_what_is_compared(tmp_path: Path) -> None:
    usual, moved = made_for("znver4"), made_for("znver4", "/b")
    data = {"a": made_for("znver4", isa="AVX2"), "b": usual, "c": moved}
    for name, one in data.items():
        (tmp_path / f"jit_{name}-{KEY}-cache").write_bytes(one)
    *kept, new = look(tmp_path).of("jax")
    assert [one.code for one in why_missed(kept, [new])] == ["key_folder"]


def test_nothing_is_said_of_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / f"jit_a-{KEY}-cache").write_bytes(made_for("znver4"))
    (one,) = look(tmp_path).of("jax")
    assert [why.code for why in why_missed([], [one])] == ["key_absent"]
    assert [why.code for why in why_missed([one], [])] == ["key_not_compared"]


GRAPH = {
    "gm": "<lambda>()\n\ndef forward(self, x):\n    sin = torch.ops.aten.sin.default(x)",
    "example_inputs[0]": "TensorMetadata(dtype=torch.float32, shape=torch.Size([100]), stride=())",
    "cpp_runtime_thread_count": "2",
    "torch_version": "\x00\x01",
    "inductor_config[cpp.cxx]": "(None, 'g++')",
}


def graph(folder: Path, name: str, **changed: str) -> None:
    """Put an entry of Inductor's into a cache, whose key has some other parts."""
    lines = []
    for part, value in {**GRAPH, **changed}.items():
        digest = hashlib.sha256(value.encode(errors="surrogatepass")).digest()
        lines.append(f"[{base64.b32encode(digest)[:51].decode().lower()}] {part}: {value}")
    path = folder / "fxgraph" / name[:2] / name / "entry"
    path.parent.mkdir(parents=True)
    path.write_bytes(pickle.dumps({"source": "import torch", "lines": lines}))


@pytest.mark.parametrize(
    ("changed", "codes"),
    [
        ({"cpp_runtime_thread_count": "1"}, ["key_setting: cpp_runtime_thread_count, 2, 1"]),
        (
            {"inductor_config[cpp.cxx]": "(None, 'clang')", "gm": "another"},
            ["key_setting: torch._inductor.config.cpp.cxx, (None, 'g++'), (None, 'clang')"],
        ),
        ({"gm": "another"}, ["key_program"]),
        ({"example_inputs[0]": "another"}, ["key_program"]),
        ({"torch_version": "\x02", "cpp_runtime_thread_count": "1"}, ["key_build: PyTorch"]),
        ({"fx_kwargs[static_input_idxs]": "[0]"}, ["key_program"]),
        ({"system_info[device]": "{'name': 'B'}"}, ["key_processor: not set, {'name': 'B'}"]),
        (
            {"inductor_config[x]": "a" * 90},
            [f"key_setting: torch._inductor.config.x, not set, {'a' * 60}"],
        ),
        ({}, ["key_untold"]),
    ],
)
def test_a_graph_tells_in_what_its_key_differs(
    tmp_path: Path, changed: dict[str, str], codes: list[str]
) -> None:
    graph(tmp_path, "aa")
    graph(tmp_path, "bb", **changed)
    kept, new = look(tmp_path).of("inductor")
    assert [brief(one) for one in why_missed([kept], [new])] == codes
    assert kept.parts == {"operations": "sin", "types": "float32[100]"}


def test_a_graph_without_the_parts_of_its_key_tells_nothing(tmp_path: Path) -> None:
    graph(tmp_path, "aa")
    path = tmp_path / "fxgraph" / "bb" / "bb" / "entry"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no pickle")
    kept, new = look(tmp_path).of("inductor")
    for one, other in ((kept, new), (new, kept)):
        assert [why.code for why in why_missed([one], [other])] == ["key_untold"]


def test_the_same_graph_is_what_is_compared(tmp_path: Path) -> None:
    graph(tmp_path, "aa", torch_version="\x05", gm="old")
    graph(tmp_path, "bb", cpp_runtime_thread_count="1", **{"inductor_config[debug]": "True"})
    graph(tmp_path, "cc", gm="another")
    graph(tmp_path, "dd")
    *kept, new = look(tmp_path).of("inductor")
    found = [one.values["setting"] for one in why_missed(kept, [new])]
    assert found == ["cpp_runtime_thread_count", "torch._inductor.config.debug"]
    assert [one.code for one in why_missed(kept[:1], [new])] == ["key_build"]


def test_what_differs_late_in_a_long_value_is_shown(tmp_path: Path) -> None:
    graph(tmp_path, "aa", **{"inductor_config[x]": "a" * 200 + "b"})
    graph(tmp_path, "bb", **{"inductor_config[x]": "a" * 200 + "c"})
    kept, new = look(tmp_path).of("inductor")
    (found,) = why_missed([kept], [new])
    assert str(found.values["kept"]).endswith("ab")
    assert str(found.values["now"]).endswith("ac")


def test_hostile_values_are_listed(tmp_path: Path) -> None:
    begin = "dtype=torch.a, shape=torch.Size(["
    graph(tmp_path, "aa", **{"example_inputs[0]": begin * 50_000, "gm": "\ud800"})
    (found,) = listed(tmp_path).entries
    assert found.fault is None
