"""The environment of a measured process: nothing of the user's caches gets in."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from coldwarm import registry
from coldwarm.caches import modes
from coldwarm.contracts.base import CACHE_MODES
from coldwarm.contracts.reasons import RefusedError
from coldwarm.runner import suite, temporary
from coldwarm.runner.case_list import Options
from coldwarm.runner.guard import MARK
from coldwarm.runner.isolation import owners_of, process_variables, program_name, refuse_unnameable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.base import CacheMode

USERS = "/home/user/.cache/mine"
CACHES = (
    "JAX_COMPILATION_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "TRITON_HOME",
    "NUMBA_CACHE_DIR",
    "CUDA_CACHE_PATH",
    "PYTORCH_KERNEL_CACHE_PATH",
    "PYTHONPYCACHEPREFIX",
    "TMPDIR",
)
"""Variables with which a user may have moved a cache."""


def made(  # noqa: PLR0913 - each is one independent fact of a process
    root: Path,
    backend: str = "numpy",
    mode: CacheMode = "cold_process_cold_cache",
    *,
    deterministic: bool = False,
    threads: int | None = None,
    base: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    spec = registry.backends()[backend]
    return process_variables(
        base,
        spec,
        device="cpu",
        threads=threads,
        mode=mode,
        root=root,
        mark="m",
        deterministic=deterministic,
    )


@pytest.mark.parametrize("mode", CACHE_MODES)
@pytest.mark.parametrize("backend", list(registry.backends()))
def test_no_cache_of_the_user_is_used(tmp_path: Path, backend: str, mode: CacheMode) -> None:
    variables = made(tmp_path, backend, mode, base=dict.fromkeys(CACHES, USERS))
    assert USERS not in variables.values()
    for name in set(CACHES) - {"PYTHONPYCACHEPREFIX"}:
        assert Path(variables[name]).resolve().is_relative_to(tmp_path.resolve()), name


@pytest.mark.parametrize(
    "name", ["a b", "it's", 'say "x"', "Müller", "a;b", "$HOME", "a\nb", "(x)"]
)
def test_no_folder_of_a_process_is_called_by_what_takes_a_command_apart(
    tmp_path: Path, name: str
) -> None:
    root = tmp_path / name / "caches"
    variables = made(root, "torch_compile")
    named = {key: value for key, value in variables.items() if value.startswith("/")}
    assert {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_HOME", "TMPDIR"} <= named.keys()
    for value in named.values():
        assert shlex.split(value) == [value]
        assert value.isascii()
        assert Path(value).resolve().is_relative_to(root.resolve())
    assert made(root, "torch_compile") == variables  # or a filled cache would not be found again
    links = {Path(*Path(value).parts[:4]) for value in named.values()}
    assert all(link.is_symlink() for link in links)
    shutil.rmtree(root)
    temporary.unlink(root)
    assert not any(link.is_symlink() for link in links)


def test_links_are_made_where_a_plain_folder_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = tmp_path / "a b"
    blank.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(blank))
    assert temporary.is_plain(temporary.plain(blank))


def test_where_no_plain_name_can_be_had_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = tmp_path / "a b"
    blank.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(blank))
    monkeypatch.setattr(temporary, "_PLACES", ())
    kinds = registry.backends()
    refuse_unnameable(blank, [kinds["numpy"], kinds["jax_jit"]])
    with pytest.raises(RefusedError) as refused:
        refuse_unnameable(blank, [kinds["numpy"], kinds["torch_compile"]])
    assert refused.value.reason.code == "no_plain_folder"
    with pytest.raises(RefusedError):
        suite.run(Options(cases=("torch_compile_cpu_matmul_512_f32",)), blank / "out")
    assert not (blank / "out").exists()


def test_an_interpreter_is_started_by_a_plain_name(tmp_path: Path) -> None:
    python = tmp_path / "my env" / "bin" / "python"
    kinds = registry.backends()
    assert program_name(str(python), kinds["numpy"]) == str(python)
    named = Path(program_name(str(python), kinds["torch_compile"]))
    assert temporary.is_plain(named)
    assert named.parts[-2:] == ("bin", "python")
    assert named.parent.parent.readlink() == tmp_path / "my env"
    assert program_name("python3", kinds["torch_compile"]) == "python3"


def test_the_rest_of_the_environment_is_the_users_and_nothing_secret_is_added(
    tmp_path: Path,
) -> None:
    theirs = {"PATH": "/bin", "HOME": "/home/user", "LANG": "C", "EMPTY": ""}
    variables = made(tmp_path, base=theirs)
    assert {name: variables[name] for name in ("PATH", "LANG")} == {"PATH": "/bin", "LANG": "C"}
    own = tmp_path / "files" / "home"
    assert (variables["HOME"], variables["XDG_CACHE_HOME"]) == (str(own), str(own / ".cache"))
    added = variables.keys() - theirs.keys()
    isolated = {name for owner in modes.owners().values() for name in owner.isolate(tmp_path)}
    assert added <= isolated | {"TMPDIR", "XDG_CACHE_HOME", "PYTHONDONTWRITEBYTECODE", MARK}
    assert variables[MARK] == "m"


@pytest.mark.parametrize("mode", CACHE_MODES)
def test_bytecode_is_written_and_moved_in_first_ever_alone(tmp_path: Path, mode: CacheMode) -> None:
    variables = made(tmp_path, mode=mode, base={"PYTHONPYCACHEPREFIX": USERS})
    if mode == "first_ever":
        assert variables["PYTHONPYCACHEPREFIX"] == str(tmp_path / "bytecode")
        assert "PYTHONDONTWRITEBYTECODE" not in variables
    else:
        assert "PYTHONPYCACHEPREFIX" not in variables
        assert variables["PYTHONDONTWRITEBYTECODE"] == "1"


def test_the_directories_are_there_and_apart(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    first, second = made(one), made(two)
    assert (one / "tmp").is_dir()
    shared = {
        name for name, value in first.items() if value.startswith("/") and value == second.get(name)
    }
    assert not shared


def test_threads_are_bounded_and_a_deterministic_run_fixes_its_seeds(tmp_path: Path) -> None:
    assert made(tmp_path, threads=3)["OPENBLAS_NUM_THREADS"] == "3"
    assert "OPENBLAS_NUM_THREADS" not in made(tmp_path)
    assert made(tmp_path, deterministic=True)["PYTHONHASHSEED"] == "0"
    assert "PYTHONHASHSEED" not in made(tmp_path)


def test_which_caches_are_inspected() -> None:
    kinds = registry.backends()
    assert owners_of(kinds["numpy"], "cpu", "cold_process_cold_cache") == []
    assert owners_of(kinds["numpy"], "cpu", "first_ever") == ["bytecode"]
    assert owners_of(kinds["jax_jit"], "cpu", "warm_process") == ["jax"]
    assert "cuda" in owners_of(kinds["jax_jit"], "gpu", "warm_process")


def test_what_a_user_sets_to_nothing_stays_set(tmp_path: Path) -> None:
    hidden = made(tmp_path, base={"CUDA_VISIBLE_DEVICES": ""})
    assert hidden["CUDA_VISIBLE_DEVICES"] == ""
