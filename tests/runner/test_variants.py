"""Which processes are measured beside those that figures are from."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from coldwarm.contracts.observation import Block, CacheEvidence
from coldwarm.runner import companions
from coldwarm.runner.cases import Options
from coldwarm.runner.ledger import Ledger
from coldwarm.runner.observe import Slot

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runner.conftest import Observe

    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.cases import Case
    from coldwarm.runner.observe import Running

WARM: CacheMode = "warm_process"
EMPTY: CacheMode = "cold_process_cold_cache"


def live(case: Case, tmp_path: Path, n_faults: int, round_: int = 0, *, glibc: bool = True) -> Any:
    slot = Slot(case, WARM, round_, 0, tmp_path, persistent=True)
    block = Block(order=0, start_s=1.0, batch=1, samples_s=[1e-3], compiles=0, page_faults=n_faults)
    return cast("Running", SimpleNamespace(slot=slot, blocks=[block], start=_start(glibc)))


def _start(glibc: bool) -> SimpleNamespace:  # noqa: FBT001 - one field
    return SimpleNamespace(glibc=glibc)


def test_memory_is_kept_beside_calls_that_give_it_back(
    case: Case, tmp_path: Path, observe: Observe, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MALLOC_TRIM_THRESHOLD_", "LD_PRELOAD", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    ledger = Ledger([observe(EMPTY)])
    wants = companions.wants_kept
    assert wants(live(case, tmp_path, 500), ledger, Options())
    assert not wants(live(case, tmp_path, 1), ledger, Options())
    assert wants(live(case, tmp_path, 1), ledger, Options(deterministic=True))
    assert not wants(live(case, tmp_path, 500, glibc=False), ledger, Options())
    assert not wants(live(replace(case, device="gpu"), tmp_path, 500), ledger, Options())
    short = Options(time_budget_s=60.0)
    assert not wants(live(case, tmp_path, 500), ledger, short), "the first figures come first"
    assert wants(live(case, tmp_path, 500, 1), ledger, short)
    for name, value in (("MALLOC_TRIM_THRESHOLD_", "1"), ("LD_PRELOAD", "/lib/libjemalloc.so")):
        set_ = replace(case, variables={name: value})
        assert not wants(live(set_, tmp_path, 500), ledger, Options())
    for round_ in range(companions.MOST_KEPT):
        kept = observe(WARM, round_, allocator="keeps_memory", attempt=1)
        ledger.add(kept)
        assert not wants(live(case, tmp_path, 500, round_), ledger, Options()), "one in a round"
    assert not wants(live(case, tmp_path, 500, 7), ledger, Options())


def test_a_failure_beside_is_not_the_case_s(case: Case, observe: Observe) -> None:
    ledger = Ledger([observe(EMPTY)])
    ledger.add(observe(WARM, allocator="keeps_memory", status="failed"))
    assert ledger.failure(case) is None
    assert not ledger.done(case, WARM, 0)
    ledger.add(observe(WARM, attempt=1, status="failed"))
    assert ledger.failure(case) is not None


@pytest.mark.parametrize(("kept", "wanted"), [("all", False), ("some", True), ("none", True)])
def test_a_start_by_default_is_measured_where_less_is_kept(
    case: Case,
    observe: Observe,
    kept: Any,
    wanted: bool,  # noqa: FBT001 - parametrised
) -> None:
    found = [CacheEvidence(owner="jax", compiles=1, kept_by_default=kept)]
    ledger = Ledger([observe(EMPTY, evidence=found)])
    assert companions.wants_default(case, ledger, Options(), 0) is wanted
    assert companions.keeps_nothing(case, ledger) is (kept == "none")
    filled = observe("cold_process_warm_cache", cache_settings="framework_default", evidence=found)
    ledger.add(filled)
    assert not companions.wants_default(case, ledger, Options(), 0), "once in a round"
