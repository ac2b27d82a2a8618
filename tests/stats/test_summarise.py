"""From observations to the figures, warnings and comparisons of a case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from coldwarm.contracts.observation import (
    Block,
    FirstCallParts,
    Judgement,
    Observation,
    Phase,
    Telemetry,
)
from coldwarm.contracts.reasons import because
from coldwarm.stats.summarise import compare_case, summarise

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode

COLD: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
WARM: CacheMode = "warm_process"


def warm_blocks(seed: int, level: float = 1e-3, first: int = 6) -> list[Block]:
    """Return three clean blocks of ten samples, the first ``first`` of them slower."""
    rng = np.random.default_rng(seed)
    series = level * (1 + 0.004 * rng.exponential(size=30))
    series[:first] *= 1.5
    return [
        Block(order=i, start_s=1.0 + i, batch=1, samples_s=part.tolist(), compiles=0)
        for i, part in enumerate(np.split(series, 3))
    ]


def observed(seed: int, **changes: Any) -> Observation:
    """Return a valid process that counts for a start with filled caches, and for warm."""
    rng = np.random.default_rng(seed)
    ttfr = 0.5 * float(np.exp(0.01 * rng.standard_normal()))
    plain: dict[str, Any] = {
        "case": "jax_jit_cpu_matmul_512_f32",
        "cache_mode": FILLED,
        "also_modes": [WARM],
        "round": seed,
        "attempt": 0,
        "order": seed,
        "status": "ok",
        "started_at": "2025-01-01T00:00:00Z",
        "wall_s": 2.0,
        "ttfr_s": ttfr,
        "ttfr_process_s": ttfr + 0.1,
        "phases": [
            Phase(name="import", start_s=0.1, duration_s=0.3, peak_rss_bytes=100),
            Phase(name="first_call", start_s=0.5, duration_s=ttfr - 0.3, peak_rss_bytes=150),
            Phase(name="second_call", start_s=0.9, duration_s=1.1e-3, peak_rss_bytes=200),
        ],
        "first_call_parts": FirstCallParts(
            trace_s=0.05,
            rest_s=0.1,
            null_reasons={"compile_s": because("stated", text="the program was read")},
        ),
        "blocks": warm_blocks(seed),
        "judgements": {
            FILLED: Judgement(proved=True, reason=because("no_hits", owner="jax")),
            WARM: Judgement(proved=True, reason=because("nothing_compiled", n_blocks=2)),
        },
    }
    return Observation(**(plain | changes))


def test_one_process_counts_for_each_mode_that_it_proves() -> None:
    found = summarise([observed(i) for i in range(5)], [FILLED, WARM], precision=0.5)
    (cold,) = found.cold
    assert (cold.n_ok, cold.n_rejected, cold.n_failed) == (5, 0, 0)
    assert cold.seconds["ttfr"].median == pytest.approx(0.5, rel=0.03)
    assert cold.seconds["first_call.trace"].median == 0.05
    assert cold.seconds["import"].n_processes == 5
    assert cold.null_reasons["first_call.compile"] == because("stated", text="the program was read")
    assert "device_init" in cold.null_reasons
    assert cold.peak_rss_bytes is not None
    assert cold.peak_rss_bytes.median == 200
    assert cold.precision_reached is not None
    warm = found.warm
    assert warm is not None
    assert warm.call_s is not None
    assert warm.call_s.median == pytest.approx(1.003e-3, rel=0.01)
    assert warm.steady.steady
    assert all(4 <= n <= 8 for n in warm.steady.warmup_samples)
    assert warm.batch == 1
    assert found.warnings == []


HIT = because("foreign_hits", owner="jax", n_hits=1)


def test_what_is_not_proved_does_not_count_and_is_told() -> None:
    unproved = {
        FILLED: Judgement(proved=True, reason=because("no_hits", owner="jax")),
        WARM: Judgement(proved=False, reason=because("compiled_in_window", n_programs=1)),
    }
    runs = [observed(0), observed(1), observed(2), observed(3, judgements=unproved)]
    runs.append(observed(4, status="rejected", reason=HIT, judgements={}))
    runs.append(
        observed(
            5, status="failed", reason=because("timeout", limit_s=60.0), judgements={}, blocks=[]
        )
    )
    found = summarise(runs, [FILLED, WARM])
    assert (found.cold[0].n_ok, found.cold[0].n_rejected, found.cold[0].n_failed) == (4, 1, 1)
    assert found.warm is not None
    assert (found.warm.n_processes, found.warm.n_rejected) == (3, 2)
    lost = [
        w for w in found.warnings if w.cache_mode == FILLED and w.kind in {"rejected", "failed"}
    ]
    assert [(w.kind, w.n_processes, w.of_processes) for w in lost] == [
        ("rejected", 1, 5),
        ("failed", 1, 6),
    ]
    assert lost[0].reason == HIT
    assert lost[1].reason.code == "timeout"


def test_blocks_with_compiles_never_count() -> None:
    dirty = Block(order=9, start_s=0.9, batch=1, samples_s=[9.0] * 5, compiles=1)
    unknown = Block(order=9, start_s=0.9, batch=1, samples_s=[9.0] * 5, compiles=None)
    told = [
        Block(order=i, start_s=1, batch=1, samples_s=b.samples_s, compiles=None,
              null_reasons={"compiles": because("came_unwatched", framework="jax")})
        for i, b in enumerate(warm_blocks(2))
    ]  # fmt: skip
    runs = [
        observed(0, blocks=[dirty, *warm_blocks(0)]),
        observed(1, blocks=[unknown, *warm_blocks(1)]),
        observed(2, blocks=told),
    ]
    found = summarise(runs, [WARM])
    assert found.warm is not None
    assert found.warm.call_s is not None
    assert found.warm.call_s.maximum < 2e-3
    assert found.warm.steady.warmup_samples[0] >= 5 + 4
    (left_out,) = [w for w in found.warnings if w.kind == "compiled"]
    assert (left_out.n_processes, left_out.of_processes) == (3, 3)
    assert left_out.reason == because("compiled_blocks", n_blocks=2 + len(told))


def test_nothing_valid_gives_reasons_and_no_figures() -> None:
    found = summarise([], [COLD, WARM], precision=0.1)
    assert found.cold[0].seconds == {}
    assert found.cold[0].null_reasons["ttfr"] == because("no_valid_process")
    assert found.warm is not None
    assert found.warm.call_s is None
    assert "call_s" in found.warm.null_reasons
    assert not found.warm.steady.steady
    assert found.warnings == []
    assert summarise([], [COLD]).warm is None


def test_warnings_say_cause_and_remedy() -> None:
    noisy = [
        Telemetry(flags=[because("foreign_cpu", foreign_processors=0.5 + i)]) for i in range(5)
    ]
    falling = [
        Block(order=0, start_s=1, batch=1, compiles=0, samples_s=np.linspace(2, 1, 40).tolist())
    ]
    slow = [Phase(name="second_call", start_s=0.9, duration_s=9.0)]
    runs = [observed(i, telemetry=noisy[i], blocks=falling, phases=slow) for i in range(5)]
    found = summarise(runs, [FILLED, WARM], precision=0.001).warnings
    by_kind = {w.kind: w for w in found}
    assert list(by_kind) == ["precision", "unsteady", "second_call", "noisy"]
    assert by_kind["precision"].reason.values["asked_share"] == 0.001
    assert by_kind["unsteady"].n_processes == 5
    assert by_kind["unsteady"].reason.code == "drifts_across"
    assert by_kind["second_call"].reason.values["steady_ratio"] == pytest.approx(7.2, abs=0.05)
    assert by_kind["noisy"].reason.values == {"foreign_processors": 4.5}


def test_a_disturbance_is_told_once_with_its_largest_figure() -> None:
    less, more = (because("foreign_cpu", foreign_processors=n) for n in (0.9, 1.4))
    taken = because("steal", steal_share=0.031)
    flags = [[less], [more, taken], []]
    runs = [observed(i, telemetry=Telemetry(flags=flags[i])) for i in range(3)]
    used, steal = [w for w in summarise(runs, [WARM]).warnings if w.kind == "noisy"]
    assert (used.reason, used.n_processes, used.of_processes) == (more, 2, 3)
    assert (steal.reason, steal.n_processes) == (taken, 1)


def test_a_mode_without_a_valid_process_is_told() -> None:
    runs = [
        observed(
            0, status="failed", reason=because("timeout", limit_s=60.0), judgements={}, blocks=[]
        )
    ]
    few = [w for w in summarise(runs, [FILLED]).warnings if w.kind == "few"]
    assert [w.reason for w in few] == [because("few_valid", n_processes=0)]


def test_start_is_what_no_phase_of_the_way_has() -> None:
    phases = [*observed(0).phases, Phase(name="wrap", start_s=0.4, duration_s=0.05)]
    (cold,) = summarise([observed(0, phases=phases)], [FILLED]).cold
    # 0.1 s before the import, less the wrap: the three named ones are ttfr and wrap.
    assert cold.seconds["start"].median == pytest.approx(0.05)
    (cold,) = summarise([observed(0)], [FILLED]).cold
    assert "start" in cold.null_reasons


def test_a_case_is_compared_by_mode() -> None:
    theirs = [observed(i) for i in range(5)]
    ours = [observed(i, ttfr_s=2.0 + 0.001 * i, blocks=warm_blocks(i, 0.5e-3)) for i in range(5)]
    cold, warm = compare_case("numpy_matmul_512_f32", theirs, ours, [FILLED, WARM])
    assert (cold.metric, cold.verdict) == (f"{FILLED}.ttfr_s", "slower")
    assert (warm.metric, warm.verdict) == ("warm.call_s", "faster")
    assert warm.ratio == pytest.approx(0.5, rel=0.01)
    assert warm.baseline == "numpy_matmul_512_f32"
    (missing,) = compare_case("numpy_matmul_512_f32", theirs, [], [WARM])
    assert missing.verdict == "undecided"


def test_a_verdict_says_where_a_side_was_not_steady_and_one_restless_process_is_not_that() -> None:
    falling = [
        Block(order=0, start_s=1, batch=1, compiles=0, samples_s=np.linspace(2, 1, 40).tolist())
    ]
    theirs = [observed(i) for i in range(5)]
    restless = [observed(0, blocks=falling), *(observed(i) for i in range(1, 5))]
    (warm,) = compare_case("base", theirs, restless, [WARM])
    assert warm.reason.code != "several"
    found = summarise(restless, [WARM])
    assert found.warm is not None
    assert (found.warm.steady.steady, found.warm.steady.n_steady) == (True, 4)
    assert found.warm.steady.reason.code == "steady_across"
    assert "unsteady" not in {caution.kind for caution in found.warnings}
    (warm,) = compare_case("base", theirs, [observed(i, blocks=falling) for i in range(5)], [WARM])
    assert [part.code for part in warm.reason.parts[1:]] == ["drifts_across"]
    change = warm.reason.parts[1].values["change_share"]
    assert change == pytest.approx(1 / 1.5 - 1, abs=0.03)


def test_single_calls_that_chose_the_batch_are_no_part_of_a_batched_series() -> None:
    """GIVEN a first block of single calls THEN figures come from the batched blocks alone."""
    seen = []
    for seed in range(3):
        single, *_ = warm_blocks(seed, level=2e-6, first=0)
        batched = [
            Block(
                order=b.order + 1, start_s=b.start_s, batch=256, samples_s=b.samples_s, compiles=0
            )
            for b in warm_blocks(seed, level=1e-6, first=0)
        ]
        seen.append(observed(seed, blocks=[single, *batched]))
    warm = summarise(seen, [WARM]).warm
    assert warm is not None
    assert warm.call_s is not None
    assert warm.batch == 256
    assert warm.call_s.maximum < 1.5e-6
    assert warm.steady.warmup_samples == [10, 10, 10]


def in_turns(seed: int, ttfr_s: float) -> Observation:
    return observed(seed, ttfr_s=ttfr_s, blocks=[], turns=60, round=20 + seed)


def judged_in_turns(alone_s: float, together_s: float, n: int = 5) -> Comparison:
    """Judge starts that take 0.5 s against others, alone and in turns."""
    ours = [observed(n, ttfr_s=alone_s * (1 + n / 100), blocks=[]) for n in range(3)]
    theirs = [observed(n, ttfr_s=0.5 * (1 + n / 100), blocks=[]) for n in range(3)]
    ours += [in_turns(place, together_s * (1 + place / 1000)) for place in range(n)]
    theirs += [in_turns(place, 0.5) for place in range(n)]
    return compare_case("b", theirs, ours, [FILLED])[0]


def test_starts_in_turns_tell_a_ratio_and_are_part_of_no_figure() -> None:
    found = judged_in_turns(0.55, 0.55)
    assert (found.verdict, found.reason.parts[0].code) == ("slower", "starts_in_turns")
    assert found.low is not None
    assert found.high is not None
    # A tenth of the difference is not sure.
    assert found.low < 1.1**0.9 < 1.1**1.1 < found.high
    assert judged_in_turns(0.5, 0.5).verdict == "same"
    assert judged_in_turns(0.55, 0.55, n=4).verdict == "undecided"
    seen = [*(observed(i) for i in range(5)), *(in_turns(i, 50.0) for i in range(5))]
    (cold,) = summarise(seen, [FILLED], precision=0.5).cold
    assert cold.n_ok == 5
    assert cold.seconds["ttfr"].maximum < 1


def test_starts_alone_that_contradict_those_in_turns_decide_and_that_is_told() -> None:
    found = judged_in_turns(5.0, 0.55)
    assert found.ratio == pytest.approx(10, rel=0.1)
    assert "turns_otherwise" in {part.code for part in found.reason.parts}
