"""What to read with care is told once for each kind, with its cause and its remedy."""

from __future__ import annotations

import msgspec
import pytest

from coldwarm.contracts.observation import Observation, Telemetry
from coldwarm.contracts.result import CaseResult, Caution
from coldwarm.report import care
from coldwarm.report.words import MODES


def told(remarks: tuple[care.Remark, ...], label: str) -> list[str]:
    return [remark.text for remark in remarks if remark.label == label]


def caution(kind: str, figure: str | None, value: float | None, **changes: object) -> Caution:
    fields = {
        "kind": kind,
        "subject": "warm_process",
        "n_processes": 2,
        "of_processes": 5,
        "figure": figure,
        "value": value,
        "text": f"{figure} had {kind}",
        "advice": "do something",
    }
    return msgspec.convert(fields | changes, Caution)


def warned(case: CaseResult, *cautions: Caution) -> CaseResult:
    return msgspec.structs.replace(case, warnings=list(cautions))


@pytest.fixture
def three(cases: list[CaseResult]) -> list[CaseResult]:
    """Three measured cases of one group."""
    return [warned(case) for case in cases[:3]]


def of_group(cases: list[CaseResult]) -> tuple[care.Remark, ...]:
    return care.of_group(cases, tuple(MODES)[1:])


def test_candidates_of_equal_figures_stand_together(three: list[CaseResult]) -> None:
    figures = ("2 of 5 processes", "1 of 5 processes", "2 of 5 processes")
    cases = [
        warned(case, caution("unsteady", f, 1.0)) for case, f in zip(three, figures, strict=True)
    ]
    (text,) = told(of_group(cases), "not steady")
    assert text == (
        "numpy, torch_eager_cpu (2 of 5 processes), jax_jit_cpu (1 of 5): "
        "the warm call did not settle; do something"
    )


def test_ratios_become_a_range(three: list[CaseResult]) -> None:
    first = warned(three[0], caution("second_call", "1.5×", 1.5))
    second = warned(three[1], caution("second_call", "6.9×", 6.94))
    (text,) = told(of_group([first, second]), "second call")
    assert text == "1.5× to 6.9× a steady one in numpy, jax_jit_cpu; do something"
    (text,) = told(of_group([warned(first, caution("second_call", None, None))]), "second call")
    assert text.startswith("– a steady one")


@pytest.mark.parametrize("kind", ["rejected", "failed"])
def test_what_is_lost_is_told_in_full(three: list[CaseResult], kind: str) -> None:
    cases = [warned(case, caution(kind, "1 of 5 processes", 1.0)) for case in three[:2]]
    assert told(of_group(cases), kind) == [
        f"numpy, warm: 1 of 5 processes had {kind}; do something",
        f"jax_jit_cpu, warm: 1 of 5 processes had {kind}; do something",
    ]


def test_noise_is_summed_and_its_worst_figure_told(
    three: list[CaseResult], observation: Observation
) -> None:
    quiet = msgspec.structs.replace(observation, telemetry=Telemetry())
    used = {"subject": "other processes used … processors"}
    switches = {"subject": "… involuntary switches a second", "n_processes": 1}
    cases = [
        warned(three[0], caution("noisy", "0.9", 0.9, **used)),
        warned(
            three[1], caution("noisy", "1.4", 1.4, **used), caution("noisy", "310", 310, **switches)
        ),
        three[2],
    ]
    cases = [msgspec.structs.replace(case, observations=[quiet] * 5) for case in cases]
    (text,) = told(care.of_suite(cases), "noisy machine")
    assert text == (
        "other processes used up to 1.4 processors (4 of 15 processes), "
        "up to 310 involuntary switches a second (1 of 15 processes); do something"
    )


def test_precision_counts_the_figures(three: list[CaseResult]) -> None:
    cases = [warned(three[0], caution("precision", "±12.0%", 0.12)), *three[1:]]
    # numpy and torch_eager_cpu have no figure with filled caches.
    assert told(care.of_suite(cases), "precision") == [
        "±5% asked for, not reached by 1 of 7 figures; do something"
    ]


def test_few_processes_by_group(cases: list[CaseResult]) -> None:
    few = caution("few", "2 processes", 2.0, n_processes=2, of_processes=2)
    none = caution("few", "0 processes", 0.0, n_processes=0, of_processes=0)
    some = [warned(cases[0], few, none), warned(cases[7])]
    wanted = "per figure in matmul · 512 · f32: wide intervals, or none; do something"
    assert told(care.of_suite(some), "few processes") == [f"only 2 {wanted}"]
    all_ = [warned(cases[0], few), warned(cases[7], few)]
    (text,) = told(care.of_suite(all_), "few processes")
    assert text == "only 2 per figure: wide intervals, or none; do something"
    assert told(care.of_suite([warned(cases[0], none)]), "few processes") == []


def test_undecided_verdicts_are_explained_once(cases: list[CaseResult]) -> None:
    wide = msgspec.structs.replace(cases[2].comparisons[1], smallest_detectable=4.4)
    alone = msgspec.structs.replace(wide, smallest_detectable=None, ratio=None, reason="one only")
    changed = msgspec.structs.replace(cases[1], comparisons=[wide, alone])
    texts = told(care.of_suite([cases[2], changed]), "undecided")
    assert texts[0].startswith("2 of 4 verdicts: ")
    assert "could have shown is 1.08× to 5.4×" in texts[0]
    assert texts[1] == "jax_jit_cpu: one only"


def test_nothing_to_heed_is_no_remark(three: list[CaseResult]) -> None:
    assert care.of_group([three[1]], tuple(MODES)[1:]) == ()
    assert care.of_suite([three[1]]) == ()
