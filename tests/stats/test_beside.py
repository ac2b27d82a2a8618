"""What another setting would change: from processes beside those that figures are from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.stats.test_summarise import COLD, FILLED, WARM, observed, warm_blocks

from coldwarm.contracts.observation import CacheEvidence, published
from coldwarm.report.sentences import words
from coldwarm.stats import selection
from coldwarm.stats.selection import counted, is_beside, keeping
from coldwarm.stats.summarise import compare_case, summarise

if TYPE_CHECKING:
    from coldwarm.contracts.observation import Observation


def plain(seed: int, level: float = 1e-3, n_faults: int = 0, **changes: Any) -> Observation:
    blocks = [
        msgspec.structs.replace(block, page_faults=n_faults * len(block.samples_s))
        for block in warm_blocks(seed, level)
    ]
    return observed(seed, allocator="as_it_is", blocks=blocks, **changes)


def kept(seed: int, level: float, **changes: Any) -> Observation:
    own = {"cache_mode": WARM, "also_modes": [], "attempt": 1, **changes}
    return msgspec.structs.replace(plain(seed, level), allocator="keeps_memory", **own)


def default(seed: int, ttfr_s: float) -> Observation:
    changes = {"also_modes": [], "blocks": [], "attempt": 1, "ttfr_s": ttfr_s}
    made = plain(seed, cache_settings="framework_default")
    return msgspec.structs.replace(made, **changes)


def test_figures_are_of_programs_as_they_come() -> None:
    seen = [plain(i, 2e-3, 500) for i in range(5)] + [kept(i, 1e-3) for i in range(5)]
    summary = summarise(seen, [FILLED, WARM])
    assert summary.warm is not None
    assert summary.warm.call_s is not None
    assert summary.warm.call_s.median == pytest.approx(2e-3, rel=0.02)
    assert summary.warm.n_processes == 5
    assert summary.warm.page_faults == 500
    other = summary.warm.kept_memory
    assert other is not None
    assert other.call_s.median == pytest.approx(1e-3, rel=0.02)
    assert other.comparison.verdict == "faster"
    (caution,) = [one for one in summary.warnings if one.kind == "allocator"]
    assert caution.reason.code == "memory_returned"
    assert caution.reason.values["gain_ratio"] == pytest.approx(2, rel=0.05)
    assert "2 times as fast" in words(caution.reason)


def test_results_from_before_all_kept_memory_and_are_still_read() -> None:
    older = [
        msgspec.json.decode(
            msgspec.json.encode(
                {
                    name: value
                    for name, value in msgspec.to_builtins(plain(i)).items()
                    if name not in {"allocator", "cache_settings"}
                }
            ),
            type=type(plain(i)),
        )
        for i in range(3)
    ]
    assert {one.allocator for one in older} == {"keeps_memory"}
    assert counted(older, WARM) == older
    assert keeping(older) == []
    summary = summarise(older, [WARM])
    assert summary.warm is not None
    assert summary.warm.n_processes == 3
    assert summary.warm.kept_memory is None


def test_verdicts_between_candidates_are_of_programs_as_they_come() -> None:
    ours = [plain(i, 2e-3, 500) for i in range(5)] + [kept(i, 0.5e-3) for i in range(5)]
    theirs = [plain(i, 1e-3) for i in range(5)]
    (verdict,) = compare_case("numpy", theirs, ours, [WARM])
    assert verdict.verdict == "slower", "with memory kept it would be faster"


def test_no_gain_is_no_caution_and_an_open_one_is_told() -> None:
    same = [plain(i, 1e-3, 500) for i in range(5)] + [kept(i, 1e-3) for i in range(5)]
    assert not [c for c in summarise(same, [WARM]).warnings if c.kind == "allocator"]
    open_ = [plain(i, 1e-3, 500) for i in range(3)] + [kept(0, 0.5e-3)]
    (caution,) = [c for c in summarise(open_, [WARM]).warnings if c.kind == "allocator"]
    assert caution.reason.code == "memory_may_be_returned"
    few = summarise([plain(i, 1e-3, 2) for i in range(3)], [WARM])
    assert few.warm is not None
    assert few.warm.null_reasons["kept_memory"].code == "few_page_faults"
    assert not [c for c in few.warnings if c.kind == "allocator"]


def test_page_faults_matter_by_their_share_of_a_call() -> None:
    assert selection.gives_back(plain(0, 1e-3, 100).blocks)
    assert not selection.gives_back(plain(0, 1e-1, 100).blocks)
    assert not selection.gives_back(warm_blocks(0)), "not counted"


def test_a_framework_s_own_settings_are_a_figure_beside() -> None:
    seen = [plain(i) for i in range(3)] + [default(i, 2.0) for i in range(3)]
    (cold,) = summarise(seen, [FILLED]).cold
    assert cold.n_ok == 3
    assert cold.seconds["ttfr"].median == pytest.approx(0.5, rel=0.1)
    assert cold.framework_default is not None
    assert cold.framework_default.n_ok == 3
    assert cold.framework_default.seconds["ttfr"].median == 2.0


@pytest.mark.parametrize(
    ("kept_by_default", "code"),
    [("all", "same_by_default"), ("some", "not_measured_by_default")],
)
def test_what_was_not_measured_by_default_has_its_reason(kept_by_default: Any, code: str) -> None:
    found = CacheEvidence(owner="jax", compiles=1, kept_by_default=kept_by_default)
    (cold,) = summarise([plain(i, evidence=[found]) for i in range(2)], [FILLED]).cold
    assert cold.framework_default is None
    assert cold.null_reasons["framework_default"].code == code
    (empty,) = summarise([plain(0)], [COLD]).cold
    assert empty.null_reasons["framework_default"].code == "not_filled"


def test_what_is_beside_is_never_published() -> None:
    seen = [plain(0), kept(0, 1e-3), default(0, 1.0)]
    assert [is_beside(one) for one in seen] == [False, True, True]
    assert published(seen) == seen[:1]
