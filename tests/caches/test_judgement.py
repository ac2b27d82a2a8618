"""Whether evidence proves a cache mode: the table of what each owner says to what it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from coldwarm import caches
from coldwarm.caches import modes
from coldwarm.contracts.base import CACHE_MODES
from coldwarm.contracts.observation import Block, CacheEvidence
from coldwarm.contracts.reasons import because
from coldwarm.errors import PluginError

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode

COLD: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
WARM: CacheMode = "warm_process"
FIRST: CacheMode = "first_ever"


def evidence(owner: str = "jax", **fields: Any) -> CacheEvidence:
    return CacheEvidence(owner=owner, **fields)


def empty(**fields: Any) -> CacheEvidence:
    """Return what a start with empty caches shows."""
    return evidence(
        **{"files_before": 0, "hits": 0, "misses": 1, "compiles": 1, "bypasses": 0, **fields}
    )


def filled(**fields: Any) -> CacheEvidence:
    """Return what a start with filled caches shows."""
    return evidence(
        **{"files_before": 3, "hits": 2, "misses": 0, "compiles": 0, "bypasses": 0, **fields}
    )


@pytest.mark.parametrize(
    ("mode", "seen", "proved", "reason"),
    [
        (COLD, empty(), True, "empty_before: jax, 0, 1"),
        (FIRST, empty(), True, "empty_before: jax, 0, 1"),
        (COLD, empty(files_before=2), False, "files_before: jax, 2"),
        (COLD, empty(hits=1), False, "foreign_hits: jax, 1"),
        (COLD, empty(compiles=0), False, "not_compiled: jax"),
        (COLD, empty(compiles=None), False, "not_compiled: jax"),
        (
            COLD,
            empty(hits=1, files_after=2),
            True,
            "empty_before: jax, 1, 1",
        ),
        (COLD, empty(hits=1, files_after=0), False, "foreign_hits: jax, 1"),
        (COLD, empty(hits=1, files_after=2, compiles=0), False, "foreign_hits: jax, 1"),
        (
            COLD,
            empty(hits=1, files_after=2, files_before=1),
            False,
            "files_before: jax, 1",
        ),
        (COLD, empty(hits=None), False, "uncounted: jax, files hits"),
        (COLD, empty(files_before=None), False, "uncounted: jax, files hits"),
        (COLD, filled(), False, "files_before: jax, 3"),
        (FILLED, filled(), True, "filled_before: jax, 3, 2"),
        (FILLED, filled(misses=None, bypasses=None), True, "filled_before: jax, 3, 2"),
        (FILLED, filled(hits=0), False, "no_hits: jax"),
        (FILLED, filled(hits=None), False, "no_hits: jax"),
        (FILLED, filled(hits=0, requests=0), True, "none_new: jax, 3"),
        (FILLED, filled(hits=0, requests=0, new_files={".nbc": 1}), False, "new_files: jax, 1"),
        (FILLED, filled(hits=0, requests=0, compiles=1), False, "no_hits: jax"),
        (FILLED, filled(misses=1), False, "not_from_cache: jax, 1, 0, 0"),
        (FILLED, filled(bypasses=2), False, "not_from_cache: jax, 0, 2, 0"),
        (FILLED, filled(compiles=1), False, "not_from_cache: jax, 0, 0, 1"),
        (FILLED, filled(files_before=0), False, "files_before: jax, 0"),
        (FILLED, filled(files_before=None), False, "files_before: jax, 0"),
        (FILLED, empty(), False, "files_before: jax, 0"),
        (WARM, empty(hits=None), True, "start_not_judged"),
    ],
)
def test_files_and_counters_prove_or_contradict(
    mode: CacheMode,
    seen: CacheEvidence,
    proved: bool,  # noqa: FBT001 - of a table
    reason: str,
) -> None:
    judged = caches.judge(mode, seen, compiles=True)
    assert (judged.proved, str(judged.reason)) == (proved, reason)


def test_a_backend_that_compiles_nothing_need_not_compile() -> None:
    assert caches.judge(COLD, empty(compiles=0), compiles=False).proved


NUMBERS = st.none() | st.integers(0, 3)
EVIDENCE = st.builds(
    evidence,
    owner=st.sampled_from(["jax", "numba", "inductor"]),
    files_before=NUMBERS,
    files_after=NUMBERS,
    hits=NUMBERS,
    misses=NUMBERS,
    bypasses=NUMBERS,
    compiles=NUMBERS,
    new_files=st.dictionaries(st.sampled_from([".so", ".o", ".py"]), st.integers(0, 2)),
)


@given(EVIDENCE, st.booleans())
def test_no_evidence_proves_both_empty_and_filled(seen: CacheEvidence, compiles: bool) -> None:  # noqa: FBT001 - drawn
    judged = {mode: modes.judge(mode, [seen], compiles=compiles) for mode in CACHE_MODES}
    assert not (judged[COLD].proved and judged[FILLED].proved)
    if judged[FILLED].proved:
        assert seen.hits or seen.requests == 0
        assert not seen.misses
        assert not seen.compiles
    if judged[COLD].proved:
        assert not seen.files_before
        assert not seen.hits or (seen.files_after and seen.compiles), "its own entries"
    assert all(judgement.reason for judgement in judged.values())


@given(EVIDENCE, EVIDENCE)
def test_every_owner_must_prove_the_mode(first: CacheEvidence, second: CacheEvidence) -> None:
    for mode in CACHE_MODES:
        alone = [modes.judge(mode, [one], compiles=True) for one in (first, second)]
        both = modes.judge(mode, [first, second], compiles=True)
        assert both.proved == all(judgement.proved for judgement in alone)


def test_without_a_cache_a_fresh_process_is_cold() -> None:
    assert modes.judge(COLD, [], compiles=False).proved
    assert modes.judge(FILLED, [], compiles=False).proved


def block(compiles: int | None) -> Block:
    reasons = {} if compiles is not None else {"compiles": because("not_told", by="the backend")}
    return Block(
        order=0, start_s=0.0, batch=1, samples_s=[1.0], compiles=compiles, null_reasons=reasons
    )


@pytest.mark.parametrize(
    ("compiles", "proved", "reason"),
    [
        ([0, 0], True, "nothing_compiled: 2"),
        ([0, 2], False, "compiled_in_window: 2"),
        ([0, 2, 0, 0], True, "nothing_compiled_since: 2, 2"),
        ([0, 2, 1, 0], False, "compiled_in_window: 3"),
        ([1, 2], False, "every_call_compiled: 3, 2"),
        ([1], False, "compiled_in_window: 1"),
        ([0, None], False, "blocks_uncounted: 1, not_told: the backend"),
        ([], False, "no_warm_block"),
    ],
)
def test_the_warm_regime_needs_blocks_without_compiles(
    compiles: list[int | None],
    proved: bool,  # noqa: FBT001 - of a table
    reason: str,
) -> None:
    judged = modes.judge_blocks([block(number) for number in compiles])
    assert (judged.proved, str(judged.reason)) == (proved, reason)


@pytest.mark.parametrize(
    ("seen", "proved"),
    [
        (empty(writes=1, files_after=1), True),
        (empty(writes=1, files_after=0), False),
        (empty(owner="inductor", files_after=9), True),
        (empty(owner="inductor", files_after=0), False),
        (empty(owner="inductor", files_after=9, misses=0), False),
        (empty(owner="inductor", files_after=9, misses=0, bypasses=2), True),
    ],
)
def test_what_was_compiled_into_an_empty_cache_must_be_there(
    seen: CacheEvidence,
    proved: bool,  # noqa: FBT001 - of a table
) -> None:
    """A graph that cannot be kept goes past Inductor's caches, and is compiled all the same."""
    assert modes.judge(COLD, [seen], compiles=True).proved == proved


def test_bytecode_is_judged_by_the_prefix() -> None:
    owner = modes.owner("bytecode")
    assert owner.judge(COLD, evidence("bytecode", files_before=9), compiles=False).proved
    for before, after, proved in ((0, 5, True), (1, 5, False), (0, 0, False)):
        seen = evidence("bytecode", files_before=before, files_after=after)
        assert owner.judge(FIRST, seen, compiles=False).proved == proved


def test_every_owner_moves_its_cache_and_says_what_it_cannot_control(tmp_path: Path) -> None:
    for name, owner in modes.owners().items():
        assert name == owner.name
        root = tmp_path / name
        root.mkdir()
        variables = owner.isolate(root)
        # What was made beforehand is no cache: a process is told where it lies. And a home of
        # its own has in it what the user has: it is laid elsewhere.
        elsewhere = name in {"made", "files"}
        assert any(str(root) in value for value in variables.values()) != elsewhere
        assert modes.limitations([name])
    with pytest.raises(PluginError, match="no cache owner is called 'jaxx'; known are bytecode"):
        modes.owner("jaxx")


def test_jax_with_nothing_left_to_compile_must_not_have_used_its_cache_in_any_mode() -> None:
    unused = empty(requests=0, hits=0, misses=0, writes=0, compiles=0, files_after=0)
    for mode in (COLD, FILLED, FIRST):
        assert modes.judge(mode, [unused], compiles=False).proved
        for field in ("requests", "compiles", "files_after"):
            for value in (1, None):
                used = replace(unused, **{field: value})
                assert not modes.judge(mode, [used], compiles=False).proved
    assert modes.judge(WARM, [replace(unused, compiles=1)], compiles=False).proved


def test_what_was_made_beforehand_must_be_there_and_be_loaded_in_every_mode() -> None:
    there = evidence("made", files_before=1, files_after=1, bytes_before=7, hits=1)
    for mode in (COLD, FILLED, FIRST, WARM):
        judged = modes.judge(mode, [there], compiles=False)
        assert judged.proved
        assert str(judged.reason) == "loaded: made, 1, 7"
        for wrong in ({"files_before": 0}, {"hits": 0}, {"new_files": {".o": 2}}):
            assert not modes.judge(mode, [replace(there, **wrong)], compiles=False).proved


def test_jax_may_hit_in_a_cold_start_what_it_wrote_itself_and_nothing_else() -> None:
    own = empty(hits=2, writes=1, files_after=3)
    judged = modes.judge(COLD, [own], compiles=True)
    assert judged.proved
    assert str(judged.reason) == "empty_before: jax, 2, 1"
    foreign = (
        empty(hits=2, writes=0, files_after=3),
        empty(hits=2, writes=1, files_before=1, files_after=3),
        empty(hits=2, writes=1, files_after=0),
    )
    for seen in (*foreign, empty(hits=2, writes=1, files_after=3, compiles=0)):
        assert not modes.judge(COLD, [seen], compiles=True).proved


def test_numba_may_hit_in_a_cold_start_what_it_wrote_itself() -> None:
    own = empty(owner="numba", hits=1, files_after=2)
    assert modes.judge(COLD, [own], compiles=True).proved
    elsewhere = replace(own, files_after=0)
    judged = modes.judge(COLD, [elsewhere], compiles=True)
    assert (judged.proved, str(judged.reason)) == (False, "foreign_hits: numba, 1")


def test_inductor_needs_new_machine_code_before_a_hit_counts_as_its_own() -> None:
    own = empty(owner="inductor", hits=1, files_after=5, new_files={".so": 1, ".gch": 1})
    assert modes.judge(COLD, [own], compiles=True).proved
    headers = replace(own, new_files={".gch": 1, "": 4})
    judged = modes.judge(COLD, [headers], compiles=True)
    assert not judged.proved
    assert str(judged.reason) == "foreign_hits: inductor, 1"


@pytest.mark.parametrize(
    ("raw", "new_files", "reason"),
    [
        ({"precompiled_headers": 1, "compile_file_calls": 2}, {".so": 1}, "no_new_header"),
        (
            {"precompiled_headers": 1, "compile_file_calls": 2},
            {".so": 1, ".gch": 1},
            "empty_before",
        ),
        (
            {"precompiled_headers": 1, "compile_file_calls": 2},
            {".so": 1, ".pch": 1},
            "empty_before",
        ),
        # Nothing was asked of the C++ compiler, or no header is wanted.
        ({"precompiled_headers": 1, "compile_file_calls": 0}, {}, "empty_before"),
        ({"precompiled_headers": 0, "compile_file_calls": 2}, {".so": 1}, "empty_before"),
        ({"precompiled_headers": None, "compile_file_calls": 2}, {".so": 1}, "empty_before"),
    ],
)
def test_a_cold_compilation_of_cpp_needs_a_header_of_its_own(
    raw: dict[str, Any], new_files: dict[str, int], reason: str
) -> None:
    seen = empty(owner="inductor", files_after=9, raw=raw, new_files=new_files)
    judged = modes.judge(COLD, [seen], compiles=True)
    assert judged.reason.code == reason
    assert judged.proved == (reason == "empty_before")


@pytest.mark.parametrize(
    ("mode", "seen", "proved", "reason"),
    [
        (COLD, {"files_before": 0, "files_after": 9}, True, "empty_before: inductor, 3, 0"),
        (FIRST, {"files_before": 0, "files_after": 9}, True, "empty_before: inductor, 3, 0"),
        (COLD, {"files_before": 4, "files_after": 9}, False, "files_before: inductor, 4"),
        (COLD, {"files_before": 0, "files_after": 2}, False, "foreign_hits: inductor, 3"),
        (COLD, {"files_before": None, "files_after": 9}, False, "uncounted: inductor, files"),
        (FILLED, {"files_before": 9, "files_after": 9}, True, "filled_before: inductor, 9, 3"),
        (FILLED, {"files_before": 0, "files_after": 9}, False, "files_before: inductor, 0"),
    ],
)
def test_entries_made_ahead_of_time_are_hit_in_empty_caches(
    mode: CacheMode,
    seen: dict[str, Any],
    proved: bool,  # noqa: FBT001 - of a table
    reason: str,
) -> None:
    hit = {"hits": 3, "misses": 0, "bypasses": 0, "compiles": 0}
    found = evidence(owner="inductor", raw={"loaded_artifacts": 3}, **hit, **seen)
    judged = modes.judge(mode, [found], compiles=True)
    assert (judged.proved, str(judged.reason)) == (proved, reason)


def test_entries_made_ahead_of_time_need_a_header_of_their_own_and_a_count() -> None:
    raw = {"loaded_artifacts": 3, "precompiled_headers": 1, "compile_file_calls": 2}
    hit = {"hits": 3, "files_before": 0, "files_after": 9, "new_files": {".so": 2}}
    seen = evidence(owner="inductor", raw=raw, **hit)
    assert modes.judge(COLD, [seen], compiles=True).reason.code == "no_new_header"
    for n_loaded in (0, "3", None):
        other = replace(seen, raw={"loaded_artifacts": n_loaded})
        assert modes.judge(COLD, [other], compiles=True).reason.code == "foreign_hits"


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ({}, "cache_not_used: inductor"),
        ({"new_files": {".so": 1, ".cpp": 2, ".json": 2}}, "cache_not_used: inductor"),
        ({"new_files": {".lock": 1}}, "cache_used: inductor, 0, 0, 1"),
        ({"files_before": 2}, "cache_used: inductor, 0, 0, 2"),
        ({"requests": 1}, "cache_used: inductor, 1, 0, 0"),
        ({"compiles": 1}, "cache_used: inductor, 0, 1, 0"),
        ({"requests": None}, "uncounted: inductor, requests"),
        ({"files_before": None}, "uncounted: inductor, files"),
    ],
)
def test_a_package_leaves_nothing_to_the_compiler_in_any_mode(
    seen: dict[str, Any], reason: str
) -> None:
    counted = {"requests": 0, "hits": 0, "compiles": 0, "files_before": 0, "files_after": 5, **seen}
    found = evidence(owner="inductor", raw={"loaded_packages": 1}, **counted)
    for mode in (COLD, FIRST, FILLED):
        judged = modes.judge(mode, [found], compiles=False)
        assert (judged.proved, str(judged.reason)) == (reason.startswith("cache_not"), reason)
    assert modes.judge(WARM, [found], compiles=False).proved


def test_what_nobody_counts_is_judged_by_its_files() -> None:
    for owner in ("cuda", "extensions"):
        start = evidence(owner=owner, files_before=0, files_after=2, new_files={".so": 2})
        again = evidence(owner=owner, files_before=2, files_after=2)
        assert modes.judge(COLD, [start], compiles=False).proved
        assert not modes.judge(COLD, [again], compiles=False).proved
        assert modes.judge(FILLED, [again], compiles=False).proved
        assert not modes.judge(FILLED, [start], compiles=False).proved


def test_a_start_that_left_nothing_shows_filled_caches_too() -> None:
    none: dict[str, Any] = {
        "files_before": 0,
        "files_after": 0,
        "hits": 0,
        "misses": 0,
        "compiles": 0,
    }
    own = evidence("files", files_before=0, files_after=0, hits=0, requests=63)

    def shown(*seen: CacheEvidence, mode: CacheMode = COLD) -> list[CacheMode]:
        return list(modes.judge_other(mode, seen, "keep_all"))

    assert shown() == shown(own) == shown(own, evidence(**none)) == [FILLED]
    for left in (
        evidence(**none | {"compiles": 1}),
        evidence(**none | {"files_after": 1}),
        evidence(**none | {"files_before": None}),
        evidence(**none, new_files={".nbc": 1}),
        evidence("files", **none, raw={"without_0": "~/kept"}),
    ):
        assert shown(own, left) == []
    assert shown(own, mode=FILLED) == shown(own, mode=WARM) == shown(own, mode=FIRST) == []
    assert modes.judge_other(COLD, [own], "framework_default") == {}
