"""What to read with care is told once for each kind, with its cause and its remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from coldwarm.contracts.answer import Caution, CautionKind
from coldwarm.contracts.observation import Observation, Telemetry
from coldwarm.contracts.reasons import Reason, because
from coldwarm.report import care
from coldwarm.report.sentences import CAUTION_ADVICE, words
from coldwarm.report.words import MODE_NAMES

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult


def told(remarks: tuple[care.Remark, ...], label: str) -> list[str]:
    return [remark.whole for remark in remarks if remark.label == label]


def caution(kind: CautionKind, reason: Reason, n: int = 2, of: int = 5) -> Caution:
    return Caution(
        kind=kind, cache_mode="warm_process", n_processes=n, of_processes=of, reason=reason
    )


def warned(case: CaseResult, *cautions: Caution) -> CaseResult:
    return msgspec.structs.replace(case, warnings=list(cautions))


@pytest.fixture
def three(cases: list[CaseResult]) -> list[CaseResult]:
    """Three measured cases of one group."""
    return [warned(case) for case in cases[:3]]


def of_group(cases: list[CaseResult]) -> tuple[care.Remark, ...]:
    return care.of_group(cases, tuple(MODE_NAMES)[1:])


def test_candidates_of_equal_figures_stand_together(three: list[CaseResult]) -> None:
    cases = [
        warned(case, caution("unsteady", because("drifts", change_share=0.1 * n), n))
        for case, n in zip(three, (2, 1, 2), strict=True)
    ]
    (text,) = told(of_group(cases), "not steady")
    assert text == (
        "the warm call did not become steady: numpy, torch_eager_cpu (2 of 5 processes), "
        f"jax_jit_cpu (1 of 5); {CAUTION_ADVICE['unsteady']}"
    )


def test_a_ratio_that_is_not_that_of_the_medians_is_explained(three: list[CaseResult]) -> None:
    """GIVEN medians that lie further apart than the interval that a verdict tells."""
    base, *others = (msgspec.structs.replace(one, baseline=one is three[0]) for one in three)
    warm = base.warm
    assert warm is not None
    assert warm.call_s is not None
    assert told(of_group([base, *others]), "ratio") == []
    third = msgspec.structs.replace(warm.call_s, median=warm.call_s.median / 3)
    verdict = msgspec.structs.replace(
        next(one for case in others for one in case.comparisons if one.metric == "warm.call_s"),
        ratio=0.5,
        low=0.4,
        high=0.6,
        verdict="faster",
    )
    quick = msgspec.structs.replace(warm, call_s=third)
    fast = msgspec.structs.replace(others[0], warm=quick, comparisons=[verdict])
    (text,) = told(of_group([base, fast]), "ratio")
    assert text == (
        f"{fast.candidate}, warm call: 2.00× faster in rounds that both have, "
        "3.00× faster by the medians of all rounds"
    )


def test_ratios_become_a_range(three: list[CaseResult]) -> None:
    cases = [
        warned(case, caution("second_call", because("slow_second_call", steady_ratio=ratio)))
        for case, ratio in zip(three, (1.5, 6.94), strict=False)
    ]
    (text,) = told(of_group(cases), "second call")
    assert text.startswith("1.5× to 6.9× a steady one in numpy, jax_jit_cpu; ")


def test_blocks_and_modules_are_counted(three: list[CaseResult]) -> None:
    blocks = caution("compiled", because("compiled_blocks", n_blocks=3))
    modules = caution("bytecode", because("no_bytecode", n_missing=30, n_modules=400))
    remarks = of_group([warned(three[0], blocks, modules)])
    assert "meanwhile: numpy (3 blocks); " in told(remarks, "compiled")[0]
    assert "every process: numpy (30 of 400); " in told(remarks, "no bytecode")[0]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("rejected", "1 of 5 processes rejected, because the evidence contradicts the mode"),
        ("failed", "1 of 5 processes failed"),
    ],
)
def test_what_is_lost_is_told_in_full(three: list[CaseResult], kind: CautionKind, why: str) -> None:
    reason = because("most_common", because("killed"), n_others=1)
    cases = [warned(case, caution(kind, reason, 1)) for case in three[:2]]
    sentence = f"{why}: {words(reason)}; {CAUTION_ADVICE[kind]}"
    assert told(of_group(cases), kind) == [
        f"numpy, warm: {sentence}",
        f"jax_jit_cpu, warm: {sentence}",
    ]


def test_noise_is_summed_and_its_worst_figure_told(
    three: list[CaseResult], observation: Observation
) -> None:
    quiet = msgspec.structs.replace(observation, telemetry=Telemetry())
    less, more = (because("foreign_cpu", foreign_processors=n) for n in (0.9, 1.4))
    switches = because("switches", switches_per_s=310.0)
    cases = [
        warned(three[0], caution("noisy", less)),
        warned(three[1], caution("noisy", more), caution("noisy", switches, 1)),
        three[2],
    ]
    cases = [msgspec.structs.replace(case, observations=[quiet] * 5) for case in cases]
    (text,) = told(care.of_suite(cases), "noisy machine")
    assert text == (
        f"{words(more)} at worst (4 of 15 processes), {words(switches)} at worst "
        f"(1 of 15 processes); {CAUTION_ADVICE['noisy']}"
    )


def test_precision_counts_the_figures(three: list[CaseResult]) -> None:
    reason = because("imprecise", reached_share=0.12, asked_share=0.05)
    cases = [warned(three[0], caution("precision", reason)), *three[1:]]
    # numpy and torch_eager_cpu have no figure with filled caches.
    (text,) = told(care.of_suite(cases), "precision")
    assert text.startswith("±5% asked for, not reached by 1 of 7 figures; ")


def test_few_processes_by_group(cases: list[CaseResult]) -> None:
    few = caution("few", because("few_valid", n_processes=2), 2, 2)
    none = caution("few", because("few_valid", n_processes=0), 0, 0)
    some = [warned(cases[0], few, none), warned(cases[7])]
    wanted = "per figure in matmul · 512 · f32: wide intervals, or none; raise --rounds"
    assert told(care.of_suite(some), "few processes") == [f"only 2 {wanted}"]
    all_ = [warned(cases[0], few), warned(cases[7], few)]
    (text,) = told(care.of_suite(all_), "few processes")
    assert text == "only 2 per figure: wide intervals, or none; raise --rounds"
    assert told(care.of_suite([warned(cases[0], none)]), "few processes") == []


def test_undecided_verdicts_are_explained_once(cases: list[CaseResult]) -> None:
    wide = msgspec.structs.replace(cases[2].comparisons[1], smallest_detectable=4.4)
    one = because("stated", text="one only")
    alone = msgspec.structs.replace(wide, smallest_detectable=None, ratio=None, reason=one)
    changed = msgspec.structs.replace(cases[1], comparisons=[wide, alone])
    texts = told(care.of_suite([cases[2], changed]), "undecided")
    assert texts[0].startswith("2 of 4 verdicts: ")
    assert "could have shown is 1.08× to 5.4×" in texts[0]
    assert texts[1] == "jax_jit_cpu: one only"


def test_nothing_to_heed_is_no_remark(three: list[CaseResult]) -> None:
    assert care.of_group([three[1]], tuple(MODE_NAMES)[1:]) == ()
    assert care.of_suite([three[1]]) == ()


def test_counts_that_differ_are_told_with_what_to_do(three: list[CaseResult]) -> None:
    why = because("counts_differ", name="programs", n_least=3, n_most=5)
    cases = [warned(three[0], caution("counts", why)), *three[1:]]
    (text,) = told(of_group(cases), "counts differ")
    assert text == (
        f"numpy: programs differ from process to process: 3 to 5; {CAUTION_ADVICE['counts']}"
    )
