"""What a program must set for filled caches, and what its framework keeps without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.caches import modes
from coldwarm.contracts.observation import CacheEvidence
from coldwarm.registry import backends
from coldwarm.report import filled
from coldwarm.runner.isolation import process_variables

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheSettings

LOWERED = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"


def evidence(quick: int, longest_s: float, n: int = 2, **changes: Any) -> CacheEvidence:
    raw: dict[str, float | int | str | None] = {
        "quick_compiles": quick,
        "longest_compile_s": longest_s,
    }
    return CacheEvidence(owner="jax", compiles=n, raw=raw, **changes)


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        (evidence(0, 3.0), "all"),
        (evidence(1, 3.0), "some"),
        (evidence(2, 0.9), "some"),
        (evidence(2, 0.1), "none"),
        (evidence(0, 0.0, n=0), None),
        (CacheEvidence(owner="jax", compiles=2), None),
        (CacheEvidence(owner="inductor", compiles=2), "all"),
    ],
)
def test_what_a_framework_keeps_by_itself(found: CacheEvidence, kept: str | None) -> None:
    assert modes.kept_by_default(found, on_request=False) == kept


def test_numba_keeps_only_what_a_program_asks_for() -> None:
    found = CacheEvidence(owner="numba", compiles=1)
    assert backends()["numba"].keeps_on_request
    assert modes.kept_by_default(found, on_request=True) == "none"
    assert modes.kept_by_default(found, on_request=False) == "all", "as in a user's own code"


@pytest.mark.parametrize(("settings", "value"), [("keep_all", "0"), ("framework_default", None)])
def test_by_default_only_the_directory_is_set(
    tmp_path: Path, settings: CacheSettings, value: str | None
) -> None:
    found = process_variables(
        {LOWERED: "7"},
        backends()["jax_jit"],
        device="cpu",
        threads=None,
        mode="cold_process_warm_cache",
        root=tmp_path,
        mark="",
        deterministic=False,
        cache_settings=settings,
    )
    assert found["JAX_COMPILATION_CACHE_DIR"].startswith(str(tmp_path))
    assert found.get(LOWERED) == value


def test_a_start_by_default_may_find_nothing_but_no_foreign_entry() -> None:
    def judged(**counts: Any) -> bool:
        found = CacheEvidence(owner="jax", **counts)
        return modes.judge(
            "cold_process_warm_cache",
            [found],
            compiles=True,
            cache_settings="framework_default",
        ).proved

    assert judged(files_before=0, files_after=0, hits=0, compiles=2)
    assert judged(files_before=3, files_after=3, hits=2, compiles=1)
    assert not judged(files_before=0, files_after=0, hits=2, compiles=0), "of a cache elsewhere"
    assert not judged(compiles=2), "nothing was counted"


def test_the_line_to_copy_sets_what_the_measured_processes_had(tmp_path: Path) -> None:
    (needed,) = modes.settings([evidence(0, 0.0, n=0, hits=1)], on_request=False)
    had = modes.owner("jax").isolate(tmp_path)
    for name, value in needed.variables.items():
        assert had[name] == (str(tmp_path) if value == "DIR" else value)
    line = filled.line([needed])
    assert line.startswith("export JAX_COMPILATION_CACHE_DIR=DIR ")
    assert f"{LOWERED}=0" in line
    assert modes.settings([evidence(0, 0.0, hits=0)], on_request=False) == []


def test_numba_needs_a_word_in_the_program_and_no_line() -> None:
    found = [CacheEvidence(owner="numba", hits=1)]
    (needed,) = modes.settings(found, on_request=True)
    assert filled.code([needed]) == "numba.njit(cache=True) in the program"
    assert filled.line([needed]) == ""
    assert modes.settings(found, on_request=False) == [], "the user's code has it already"
