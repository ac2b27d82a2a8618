"""PyTorch made beforehand, in real runs: what is left to do, and that no more was done."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from shutil import which
from typing import TYPE_CHECKING, Any

import pytest
from tests.backends.test_jax_aot import COLD, FILLED, of, starts

from coldwarm.backends.torch_aot import TorchAot
from coldwarm.contracts import codec
from coldwarm.contracts.result import CaseResult

if TYPE_CHECKING:
    from pathlib import Path

MISSING = [name for name in TorchAot.programs("cpu") if which(name) is None]
MISSING += ["torch"] if importlib.util.find_spec("torch") is None else []
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}"),
]
CASE = "mlp_train_step_128_f32"
FILES = {"torch_aot": "program.pt2", "torch_megacache": "artifacts.bin"}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CaseResult]:
    """Measure both backends on a workload that takes gradients, in every mode, once."""
    out: Path = tmp_path_factory.mktemp("aot") / "out"
    asked = ("--case", CASE, "--backend", "torch_aot_cpu,torch_megacache_cpu")
    effort = ("--rounds", "1", "--max-rounds", "1", "--json")
    command = [sys.executable, "-m", "coldwarm", "run", *asked, *effort, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {
        name: codec.load_as(CaseResult, out / "cases" / f"{name}_cpu_{CASE}.json") for name in FILES
    }


def test_every_process_is_proved_and_right(measured: dict[str, CaseResult]) -> None:
    for case in measured.values():
        assert (case.status, case.reason) == ("ok", None)
        for seen in case.observations:
            assert seen.gate is not None
            assert seen.gate.passed
            assert all(judged.proved for judged in seen.judgements.values())


def test_a_package_leaves_nothing_to_compile_in_any_mode(measured: dict[str, CaseResult]) -> None:
    for mode in (COLD, FILLED):
        for seen in starts(measured["torch_aot"], mode):
            cache = of(seen, "inductor")
            assert (cache.requests, cache.compiles, cache.files_before) == (0, 0, 0)
            assert cache.raw["compile_file_calls"] == 0
            assert ".lock" not in cache.new_files
            parts = seen.first_call_parts
            assert parts is not None
            assert (parts.trace_s, parts.lower_s, parts.compile_s) == (0.0, 0.0, 0.0)
            assert parts.cache_read_s


def test_entries_of_a_file_are_hit_in_empty_caches_but_cpp_is_compiled_again(
    measured: dict[str, CaseResult],
) -> None:
    for seen in starts(measured["torch_megacache"], COLD):
        cache = of(seen, "inductor")
        assert (cache.files_before, cache.misses, cache.compiles) == (0, 0, 0)
        assert cache.hits
        assert cache.raw["loaded_artifacts"] == cache.hits
        assert cache.raw["compile_file_calls"]
        parts = seen.first_call_parts
        assert parts is not None
        assert parts.trace_s
        assert parts.compile_s
        assert parts.cache_read_s
    for seen in starts(measured["torch_megacache"], FILLED):
        cache = of(seen, "inductor")
        assert cache.hits
        assert (cache.misses, cache.compiles) == (0, 0)


def test_what_was_loaded_is_what_was_made_and_the_making_compiled_it(
    measured: dict[str, CaseResult],
) -> None:
    for name, case in measured.items():
        (made,) = case.made
        (artifact,) = made.artifacts
        assert artifact.name == FILES[name]
        for seen in case.observations:
            loaded: dict[str, Any] = of(seen, "made").raw
            assert loaded == {f"sha256 {artifact.name}": artifact.sha256}
        (cache,) = made.evidence
        assert (cache.files_before, cache.hits) == (0, 0)
        assert cache.compiles
        assert made.parts.trace_s
        assert made.parts.lower_s
        assert made.parts.compile_s
        assert made.input_sha256 == case.dataset_sha256


def test_only_what_replaces_the_candidate_leaves_it_out(measured: dict[str, CaseResult]) -> None:
    windows = {name: case.protocol.windows["wrap"] for name, case in measured.items()}
    assert windows["torch_aot"].startswith("nothing")
    assert windows["torch_megacache"].startswith("building the candidate")


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> TorchAot:
    """Return the backend in this process, about to make something."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("inductor")))
    backend = TorchAot("cpu")
    backend.import_runtime()
    backend.watch()
    backend.begin_call()
    return backend


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_package_writes_into_its_arguments_as_the_candidate_does(
    backend: TorchAot, tmp_path: Path
) -> None:
    import torch

    backend.make(lambda x: {"twice": x.add_(1) * 2}, (torch.ones(3),), str(tmp_path))
    given = torch.ones(3)
    assert backend.load(str(tmp_path))(given)["twice"].tolist() == [4, 4, 4]
    assert given.tolist() == [2, 2, 2]


def test_a_candidate_whose_way_depends_on_values_is_not_fixed_to_these(
    backend: TorchAot, tmp_path: Path
) -> None:
    import torch

    with pytest.raises(RuntimeError, match="data-dependent"):
        backend.make(lambda x: x if x.sum() > 0 else -x, (torch.ones(3),), str(tmp_path))
    assert not list(tmp_path.iterdir())
