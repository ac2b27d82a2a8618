"""A real program with a copy of a real cache: what is found, what is missed, and why."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import pytest
from tests.started import coldwarm

HERE = Path(__file__).parent
JITTED, BY_NUMBA = HERE / "jitted.py", HERE / "kept_by_numba.py"
KEEP_ALL = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
NO_XLA_CACHES = {"JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none"}
HAS_PATH_IN_KEY = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)


def filled(folder: Path, program: Path = JITTED, /, **settings: str) -> Path:
    """Run a program that fills a cache, and return the cache."""
    names = ("JAX_COMPILATION_CACHE_DIR", "NUMBA_CACHE_DIR")
    env = {**os.environ, **KEEP_ALL, **dict.fromkeys(names, str(folder)), **settings}
    subprocess.run([sys.executable, program], env=env, check=True, capture_output=True)
    return folder


def checked(folder: Path, program: Path = JITTED, /, **settings: str) -> tuple[int, dict[str, Any]]:
    line = ("cache", "check", folder, "--format", "json", "--", program)
    done = coldwarm(*line, env={**os.environ, **settings})
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("filled") / "jax", JITTED, **NO_XLA_CACHES)


def test_a_copy_without_its_path_in_the_key_is_found(cache: Path) -> None:
    before = sorted(path.name for path in cache.iterdir())
    status, found = checked(cache, JITTED, **NO_XLA_CACHES)
    assert status == 0
    outcomes = {one["function"]: one["outcome"] for one in found["lines"]}
    assert (outcomes["step"], outcomes["total"]) == ("found", "found")
    assert sorted(path.name for path in cache.iterdir()) == before


def test_the_path_in_the_key_is_named(tmp_path: Path) -> None:
    folder = filled(tmp_path / "jax")
    status, found = checked(folder)
    codes = {one["function"]: [why["code"] for why in one["why"]] for one in found["lines"]}
    assert {one["n_missed"] for one in found["lines"]} == {int(HAS_PATH_IN_KEY)}
    if HAS_PATH_IN_KEY:
        assert (status, codes["step"]) == (1, ["key_folder"])
        (told,) = {one["why"][0]["values"]["kept"] for one in found["lines"] if one["why"]}
        assert Path(told) == folder
    else:
        assert (status, codes["step"]) == (0, [])


def test_an_option_of_the_compiler_is_named(cache: Path) -> None:
    flags = "--xla_cpu_max_isa=AVX2"
    status, found = checked(cache, JITTED, **NO_XLA_CACHES, XLA_FLAGS=flags)
    (step,) = (one for one in found["lines"] if one["function"] == "step")
    assert (status, step["outcome"]) == (1, "missed")
    assert [why["code"] for why in step["why"]] == ["key_option"]
    assert step["why"][0]["values"]["option"] == "xla_cpu_max_isa"


def test_a_changed_function_is_named_and_the_other_found(cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "jitted.py"
    program.write_text(JITTED.read_text(encoding="utf-8").replace("jnp.sin", "jnp.cos"))
    status, found = checked(cache, program, **NO_XLA_CACHES, **KEEP_ALL)
    told = {one["function"]: one for one in found["lines"]}
    assert status == 1
    assert [why["code"] for why in told["step"]["why"]] == ["key_program"]
    assert told["total"]["outcome"] == "found"


@pytest.mark.parametrize("changed", [False, True], ids=["touched", "changed"])
def test_numba_goes_by_what_is_in_the_file(tmp_path: Path, *, changed: bool) -> None:
    program = tmp_path / "kept_by_numba.py"
    shutil.copy(BY_NUMBA, program)
    folder = filled(tmp_path / "numba", program)
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace("found += one", "found += 2 * one") if changed else text)
    status, found = checked(folder, program)
    (total,) = found["lines"]
    assert (status, total["outcome"]) == ((1, "missed") if changed else (0, "found"))
    assert bool(total["why"]) is changed


def test_two_caches_are_held_against_each_other(cache: Path, tmp_path: Path) -> None:
    other = filled(tmp_path / "jax", JITTED, **NO_XLA_CACHES, XLA_FLAGS="--xla_cpu_max_isa=AVX2")
    told = json.loads(coldwarm("cache", "why", cache, other, "--format", "json").stdout)
    assert {why["code"] for one in told["programs"] for why in one["why"]} == {"key_option"}
    same = json.loads(coldwarm("cache", "why", cache, cache, "--format", "json").stdout)
    assert all(one["n_same"] and not one["why"] for one in same["programs"])


def test_a_person_reads_what_to_change(cache: Path) -> None:
    env = {**os.environ, **NO_XLA_CACHES, "XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}
    done = coldwarm("cache", "check", cache, "--", JITTED, env=env)
    assert done.returncode == 1
    assert "xla_cpu_max_isa was not set, and is now AVX2" in " ".join(done.stdout.split())
    listed = coldwarm("cache", "list", cache)
    assert "jit_step" in listed.stdout


def test_what_a_cache_saves_is_measured_with_the_settings_of_its_user(cache: Path) -> None:
    line = ("cache", "check", cache, "--min-saving", "1h", "--json", "--", JITTED)
    done = coldwarm(*line, env={**os.environ, **NO_XLA_CACHES}, timeout_s=400.0)
    assert done.returncode == 1, done.stderr  # an hour it does not save
    measured = json.loads(done.stdout)["measured"]
    assert {one["status"] for one in measured["starts"]} == {"ok"}
    filled = [one for one in measured["starts"] if one["cache_mode"] == "cold_process_warm_cache"]
    assert len(filled) == 5
    assert all(one["evidence"][0]["hits"] and not one["evidence"][0]["misses"] for one in filled)
    assert len(measured["savings"]) == 1


def test_an_empty_folder_is_refused_and_so_is_no_program(tmp_path: Path, cache: Path) -> None:
    done = coldwarm("cache", "check", tmp_path, "--", JITTED)
    assert (done.returncode, "fill it first" in done.stderr) == (2, True)
    done = coldwarm("cache", "check", cache)
    assert (done.returncode, "name a program" in done.stderr) == (2, True)


def key_of(framework: str, **settings: str) -> str:
    line = ("cache", "key", "--framework", framework)
    done = coldwarm(*line, env={**os.environ, **settings})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_fingerprint_changes_with_what_makes_jax_miss(cache: Path) -> None:
    usual, again = key_of("jax"), key_of("jax")
    assert usual == again
    flags = {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}
    assert key_of("jax", **flags) != usual
    assert checked(cache, JITTED, **NO_XLA_CACHES, **flags)[0] == 1


def test_a_fingerprint_changes_with_what_makes_numba_miss(tmp_path: Path) -> None:
    folder = filled(tmp_path / "numba", BY_NUMBA)
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert key_of("numba", **other) != key_of("numba")
    status, found = checked(folder, BY_NUMBA, **other)
    assert (status, found["lines"][0]["why"][0]["code"]) == (1, "numba_processor")


def test_a_fingerprint_goes_by_the_content_of_sources(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    keys = []
    for text in ("x = 1\n", "x = 2\n", "x = 1\n"):
        source.write_text(text, encoding="utf-8")
        line = ("cache", "key", "--framework", "numba", "--source", source)
        keys.append(coldwarm(*line).stdout)
    assert keys[0] == keys[2] != keys[1]


def test_a_framework_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = coldwarm("cache", "key", "--framework", "jax", "--python", sys.base_prefix + "/none")
    assert (done.returncode, "cannot be asked" in done.stderr) == (2, True)


def test_a_cache_that_was_filled_is_found_elsewhere(tmp_path: Path) -> None:
    done = coldwarm("cache", "warm", tmp_path / "new", "--", JITTED)
    assert done.returncode == 0, done.stderr
    assert "none missed" in done.stdout
    assert f"JAX_COMPILATION_CACHE_DIR={tmp_path / 'new'}" in done.stdout


def test_a_program_that_fails_fills_nothing(tmp_path: Path) -> None:
    program = tmp_path / "fails.py"
    program.write_text("raise SystemExit(7)\n", encoding="utf-8")
    done = coldwarm("cache", "warm", tmp_path / "new", "--", program)
    assert (done.returncode, "exit status 7" in done.stderr) == (3, True)


CALLABLE = """
import jax, numpy as np

class Model:
    def __call__(self, x):
        return (x * 3).sum()

class Layers:
    @staticmethod
    @jax.jit
    def forward(x):
        return x - 2

model = jax.jit(Model())
print(model(np.ones(5)), model(np.ones(7)), Layers.forward(np.ones(4)))
print(jax.eval_shape(lambda x: x + 1, np.ones(3)), jax.jit(lambda x: x / 3)(np.ones(2)))
print(jax.jit(lambda x: x + 9).lower(np.ones(3)) is None)
"""


def test_whatever_a_function_is_it_is_found(tmp_path: Path) -> None:
    program = tmp_path / "callable.py"
    program.write_text(CALLABLE, encoding="utf-8")
    folder = filled(tmp_path / "jax", program, **NO_XLA_CACHES)
    status, found = checked(folder, program, **NO_XLA_CACHES)
    assert status == 0
    assert {one["outcome"] for one in found["lines"]} == {"found"}
    assert sum(one["n_found"] for one in found["lines"]) >= 4


def test_a_program_that_sets_its_own_folder_is_told(cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "own.py"
    line = f'jax.config.update("jax_compilation_cache_dir", {str(tmp_path / "own")!r})\n'
    text = JITTED.read_text(encoding="utf-8").replace("\n\n\n@jax.jit", f"\n{line}\n@jax.jit", 1)
    program.write_text(text, encoding="utf-8")
    status, found = checked(cache, program, **NO_XLA_CACHES)
    assert status == 1
    assert {one["outcome"] for one in found["lines"]} == {"elsewhere"}


def test_what_a_program_does_not_ask_to_keep_is_not_missed(tmp_path: Path) -> None:
    program = tmp_path / "kept_by_numba.py"
    text = BY_NUMBA.read_text(encoding="utf-8")
    other = text.replace("cache=True", "cache=False").replace("def total", "def other")
    program.write_text(text + other.partition("\n\n\n")[2].replace("total(", "other("))
    folder = filled(tmp_path / "numba", program)
    status, found = checked(folder, program)
    assert (status, [one["function"] for one in found["lines"]]) == (0, ["total"])


def test_the_arguments_of_a_program_are_its_own(cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "arguments.py"
    program.write_text("import sys\nassert sys.argv[1:] == ['@a', '', '--json']\n")
    done = coldwarm("cache", "check", cache, "--", program, "@a", "", "--json")
    assert done.returncode == 0, done.stderr


def test_what_fills_nothing_is_told(tmp_path: Path) -> None:
    program = tmp_path / "nothing.py"
    program.write_text("print(1)\n", encoding="utf-8")
    done = coldwarm("cache", "warm", tmp_path / "new", "--", program)
    assert (done.returncode, "compiles nothing that is kept" in done.stderr) == (2, True)


def test_what_a_thread_compiles_for_a_package_counts(cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "threads.py"
    program.write_text(
        "import jax, numpy as np, threading\n"
        "f = jax.jit(jax.nn.softmax)\n"
        "one = threading.Thread(target=f, args=(np.ones(700, np.float32),))\n"
        "one.start(); one.join()\n",
        encoding="utf-8",
    )
    status, found = checked(cache, program, **NO_XLA_CACHES, **KEEP_ALL)
    (line,) = (one for one in found["lines"] if one["function"] == "softmax")
    assert (status, line["outcome"]) == (1, "missed")


def test_who_silences_jax_is_not_told_that_the_cache_works(cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "silent.py"
    text = JITTED.read_text(encoding="utf-8")
    own = (
        "import jax._src.monitoring as told\ntold._event_duration_secs_listeners.clear()\n\n\n@jax"
    )
    program.write_text(text.replace("\n\n@jax", f"\n{own}", 1), encoding="utf-8")
    status, found = checked(cache, program, **NO_XLA_CACHES)
    assert "listeners_removed" in {one["code"] for one in found["unseen"]}
    assert status == 3


GRAPHS = """
import torch

@torch.compile
def f(x):
    return torch.sin(x).cos() + x * 2

print(f(torch.ones(100)).sum())
"""


@pytest.mark.slow
def test_what_differs_in_the_key_of_a_graph_is_named(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program, folder = tmp_path / "graphs.py", tmp_path / "kept"
    program.write_text(GRAPHS, encoding="utf-8")
    filled(folder, program, TORCHINDUCTOR_CACHE_DIR=str(folder))
    status, found = checked(folder, program, TMPDIR=str(tmp_path))
    assert (status, {one["outcome"] for one in found["lines"]}) == (0, {"found"})
    settings = {
        "OMP_NUM_THREADS": ("1", "cpp_runtime_thread_count"),
        "TORCHINDUCTOR_MAX_AUTOTUNE": ("1", "torch._inductor.config.max_autotune"),
        "CXX": (shutil.which("g++") or "", "torch._inductor.config.cpp.cxx"),
    }
    for name, (value, setting) in settings.items():
        status, found = checked(folder, program, **{name: value})
        why = [one for line in found["lines"] for one in line["why"]]
        assert (status, {one["values"]["setting"] for one in why}) == (1, {setting})
    other = tmp_path / "other.py"
    other.write_text(GRAPHS.replace("x * 2", "x * 3"), encoding="utf-8")
    status, found = checked(folder, other)
    codes = {one["code"] for line in found["lines"] for one in line["why"]}
    assert (status, codes) == (1, {"key_program"})
