"""Which processes are measured beside those that figures are from."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from coldwarm.contracts.observation import Block, CacheEvidence
from coldwarm.runner.case_list import Options
from coldwarm.runner.launch import Slot
from coldwarm.runner.ledger import Ledger
from coldwarm.runner.rounds import Rounds

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runner.conftest import Observe

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.case_list import Case
    from coldwarm.runner.launch import Running

WARM: CacheMode = "warm_process"
EMPTY: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"


def live(case: Case, tmp_path: Path, n_faults: int, round_: int = 0, *, glibc: bool = True) -> Any:
    slot = Slot(case, WARM, round_, 0, tmp_path, persistent=True)
    block = Block(order=0, start_s=1.0, batch=1, samples_s=[1e-3], compiles=0, page_faults=n_faults)
    return cast("Running", SimpleNamespace(slot=slot, blocks=[block], start=_start(glibc)))


def _started(slot: Slot) -> Any:
    return SimpleNamespace(slot=slot, process=SimpleNamespace(hold=lambda: None))


def _start(glibc: bool) -> SimpleNamespace:  # noqa: FBT001 - one field
    return SimpleNamespace(glibc=glibc)


class Beside:
    """What a round would start beside its processes, with nothing started."""

    def __init__(self, folder: Path, ledger: Ledger, options: Options, observe: Observe) -> None:
        """Begin with what a run has seen."""
        self.measured: list[Slot] = []
        self._observe = observe
        place = cast("Any", SimpleNamespace(options=options, work=folder, start=_started))
        listener = cast("Any", SimpleNamespace(process=lambda *_: None))
        self.rounds = Rounds(place, cast("Any", None), ledger, listener, lambda: False)
        vars(self.rounds).update(_whole=self.whole, _record=lambda _: None)

    def whole(self, slot: Slot) -> Observation:
        """Note the process that is asked for."""
        self.measured.append(slot)
        return self._observe(slot.mode)

    def default(self, case: Case) -> list[str]:
        """Return the modes of the processes measured by the framework's own settings."""
        self.rounds._by_default(case, 0)
        assert all(slot.cache_settings == "framework_default" for slot in self.measured)
        return [slot.mode for slot in self.measured]


def test_memory_is_kept_beside_calls_that_give_it_back(
    case: Case, tmp_path: Path, observe: Observe, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MALLOC_TRIM_THRESHOLD_", "LD_PRELOAD", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    ledger = Ledger([observe(EMPTY)])

    def wants(beside: Any, ledger: Ledger, options: Options) -> bool:
        twins = Beside(tmp_path, ledger, options, observe).rounds._keeping(beside)
        assert all(twin.slot.allocator == "keeps_memory" for twin in twins)
        return bool(twins)

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
    for round_ in range(5):
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


@pytest.mark.parametrize(
    ("kept", "modes"),
    [("all", []), ("some", [EMPTY, FILLED]), ("none", [FILLED])],  # nothing kept needs no filling
)
def test_a_start_by_default_is_measured_where_less_is_kept(
    case: Case,
    tmp_path: Path,
    observe: Observe,
    kept: Any,
    modes: list[str],
) -> None:
    found = [CacheEvidence(owner="jax", compiles=1, kept_by_default=kept)]
    ledger = Ledger([observe(EMPTY, evidence=found)])
    assert Beside(tmp_path, ledger, Options(), observe).default(case) == modes
    filled = observe(FILLED, cache_settings="framework_default", evidence=found)
    ledger.add(filled)
    assert Beside(tmp_path, ledger, Options(), observe).default(case) == [], "once in a round"


def test_a_driver_s_cache_is_filled_even_where_the_framework_keeps_nothing(
    case: Case, tmp_path: Path, observe: Observe
) -> None:
    jax = CacheEvidence(owner="jax", compiles=1, kept_by_default="none")
    for new_files, modes in (({"(none)": 2}, [EMPTY, FILLED]), ({}, [FILLED])):
        driver = CacheEvidence(owner="cuda", new_files=new_files)
        ledger = Ledger([observe(EMPTY, evidence=[jax, driver])])
        assert Beside(tmp_path, ledger, Options(), observe).default(case) == modes
