"""Figures hold the numbers of the results, name their data, and say in words what there is."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.contracts import samples
from tests.report.charts import conftest

from coldwarm.contracts.answer import CallRange
from coldwarm.contracts.result import OwnCandidate
from coldwarm.report.charts import every, strips
from coldwarm.report.charts.chart import COLOURS, UNKNOWN, _luminance, ink_on, looks, shown
from coldwarm.report.charts.marks import ticks
from coldwarm.report.charts.workload import Workload, workloads
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from coldwarm.contracts.result import Measured
    from coldwarm.report.charts.chart import Chart


@pytest.fixture(scope="module")
def workload(measured: Measured) -> Workload:
    (one,) = workloads(list(measured.cases.values()), answers(list(measured.cases.values())))
    return one


@pytest.fixture(scope="module")
def charts(workload: Workload) -> dict[str, Chart]:
    return {chart.id: chart for chart in every.charts(workload)}


def named(node: Any) -> set[str]:
    """Return the data sets that a specification names."""
    if isinstance(node, dict):
        own = {node["data"]["name"]} if isinstance(node.get("data"), dict) else set()
        return own.union(*map(named, node.values()))
    return set().union(*map(named, node)) if isinstance(node, list) else set()


def test_every_kind_is_drawn(charts: dict[str, Chart]) -> None:
    """GIVEN a workload in which everything was measured THEN there is a figure of each kind."""
    assert list(charts) == list(every._KINDS)


@pytest.mark.parametrize("kind", every._KINDS)
def test_a_figure_is_whole(charts: dict[str, Chart], kind: str) -> None:
    """THEN its data are under the names of its specification, which holds none of them."""
    chart = charts[kind]
    assert named(chart.spec) == {name for name, rows in chart.data.items() if rows} - (
        {"crossings"} - named(chart.spec)
    )
    assert chart.title
    assert chart.caption.endswith(".")
    assert chart.alt.endswith(".")
    assert "values" not in chart.spec
    whole = chart.whole("dark")
    assert set(whole["datasets"]) == set(chart.data)
    assert whole["config"]["background"] != chart.whole("light")["config"]["background"]


def test_the_same_name_is_the_same_data(charts: dict[str, Chart]) -> None:
    found: dict[str, Any] = {}
    for chart in charts.values():
        for name, rows in chart.data.items():
            if name != "cheapest":  # whose texts depend on the width
                assert found.setdefault(name, rows) == rows


def test_cold_starts_are_those_of_the_result(charts: dict[str, Chart], measured: Measured) -> None:
    """THEN parts, medians and processes are the numbers of the case, and parts lie end to end."""
    data = charts["cold"].data
    for case in measured.cases.values():
        for cold in case.cold:
            own = {"candidate": case.candidate, "cache_mode": cold.cache_mode}
            (whole,) = [row for row in data["cold_wholes"] if row.items() >= own.items()]
            assert whole["median_s"] == cold.seconds["ttfr_process"].median
            assert whole["low_s"] == cold.seconds["ttfr_process"].low
            parts = [row for row in data["cold_parts"] if row.items() >= own.items()]
            assert parts[0]["start_s"] == 0
            for before, after in pairwise(parts):
                assert after["start_s"] == before["end_s"]
            by_part = {row["part"]: row["seconds"] for row in parts}
            assert by_part["compile"] == cold.seconds["first_call.compile"].median
            seen = [row["seconds"] for row in data["cold_starts"] if row.items() >= own.items()]
            assert seen == [
                one.ttfr_process_s for one in case.observations if one.cache_mode == cold.cache_mode
            ]


def test_warm_samples_are_those_of_the_result(charts: dict[str, Chart], measured: Measured) -> None:
    rows = charts["warm_points"].data["warm_samples"]
    for case in measured.cases.values():
        raw = chain.from_iterable(
            block.samples_s for one in case.observations for block in one.blocks
        )
        own = [row["seconds"] for row in rows if row["candidate"] == case.candidate]
        assert own == list(raw)
        assert case.warm
        assert case.warm.call_s
        steady = [row for row in rows if row["candidate"] == case.candidate and row["steady"]]
        assert len(steady) == case.warm.call_s.n_samples


def test_the_strip_is_the_answer(charts: dict[str, Chart], workload: Workload) -> None:
    """GIVEN a candidate that starts soon and calls slowly THEN another one is cheapest later."""
    rows = charts["answer"].data["cheapest"]
    assert workload.answer
    by_calls = workload.answer.reading("process")
    assert by_calls
    own = [row for row in rows if row["caches"] == "cold"]
    assert [row["from_calls"] for row in own] == [one.from_calls for one in by_calls.ranges]
    assert own[0]["cheapest"] == "numpy"
    assert own[0]["colour"] == workload.looks["numpy"].colour
    for chart in (charts["answer"], charts["break_even"]):
        crossings = chart.data.get("crossings", ())
        assert all(row["candidate"] in workload.looks for row in crossings)


def test_of_two_that_may_be_the_cheapest_the_strip_has_both_colours(workload: Workload) -> None:
    assert workload.answer
    by_calls = workload.answer.reading("process")
    assert by_calls
    names = list(workload.looks)[:3]
    parts = [(1, 9, names[:1]), (10, 99, names[:2]), (100, None, names)]
    told = [
        CallRange(
            from_calls=begin,
            to_calls=end,
            cheapest=among[0] if len(among) == 1 else None,
            among=among,
        )
        for begin, end, among in parts
    ]
    answer = msgspec.structs.replace(
        workload.answer, by_calls=[msgspec.structs.replace(by_calls, ranges=told)]
    )
    drawn = strips.answer(replace(workload, answer=answer))
    assert drawn
    colours = [(row["colour"], row["upper"], row["lower"]) for row in drawn.data["cheapest"]]
    first, second = (workload.looks[name].colour for name in names[:2])
    assert colours == [(first, "", ""), (UNKNOWN, first, second), (UNKNOWN, "", "")]


def test_nothing_measured_is_no_figure() -> None:
    """GIVEN a case of which nothing was measured THEN it has no row, and there is no workload."""
    empty = conftest.case("numpy", observations=[])
    assert workloads([empty]) == []


def test_a_candidate_looks_the_same_everywhere() -> None:
    """GIVEN other neighbours THEN a known backend has its colour, and no two are alike."""
    one = looks(["numpy", "jax_jit_cpu", "mine", "torch_compile_cpu"])
    two = looks(["numba", "jax_jit_cpu", "numpy"])
    assert one["jax_jit_cpu"] == two["jax_jit_cpu"]
    assert one["numpy"] == two["numpy"]
    many = looks([f"candidate_{n}" for n in range(40)])
    assert len({(look.colour, look.dash, look.shape) for look in many.values()}) == len(many)


@pytest.mark.parametrize(
    "kind",
    [
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        (
            (0.152286, 1.052583, -0.204868),
            (0.114503, 0.786281, 0.099216),
            (-0.003882, -0.048116, 1.051998),
        ),
        (
            (0.367322, 0.860646, -0.227968),
            (0.280085, 0.672501, 0.047413),
            (-0.011820, 0.042940, 0.968881),
        ),
        (
            (1.255528, -0.076749, -0.178779),
            (-0.078411, 0.930809, 0.147602),
            (0.004733, 0.691367, 0.303900),
        ),
    ],
    ids=["all colours", "protanopia", "deuteranopia", "tritanopia"],
)
def test_colours_are_told_apart(kind: tuple[tuple[float, ...], ...]) -> None:
    """GIVEN how the colour-blind see (Machado et al. 2009) THEN no two colours are near."""
    seen = []
    for colour in COLOURS:
        linear = [_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5)]
        seen.append(_lab([sum(a * b for a, b in zip(row, linear, strict=True)) for row in kind]))
    nearest = min(
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
        for place, one in enumerate(seen)
        for other in seen[place + 1 :]
    )
    assert nearest > 0.065


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _lab(rgb: list[float]) -> tuple[float, ...]:
    """Return a colour in OKLab (Ottosson 2020), where distances are as they are seen."""
    red, green, blue = (max(0.0, min(1.0, one)) for one in rgb)
    cones = (
        0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue,
        0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue,
        0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue,
    )
    a, b, c = (one ** (1 / 3) for one in cones)
    return (
        0.2104542553 * a + 0.7936177850 * b - 0.0040720468 * c,
        1.9779984951 * a - 2.4285922050 * b + 0.4505937099 * c,
        0.0259040371 * a + 0.7827717662 * b - 0.8086757660 * c,
    )


@pytest.mark.parametrize("colour", COLOURS)
def test_text_on_a_colour_can_be_read(colour: str) -> None:
    """THEN it has the contrast that large text needs (WCAG), and so has the colour on white."""
    pair = sorted((_luminance(colour), _luminance(ink_on(colour))))
    assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 3


def test_long_names_stay_apart() -> None:
    one, two = ("x" * 60 + middle + "y" * 60 for middle in "ab")
    assert shown(one) != shown(two)
    assert len(shown(one)) <= 48
    assert shown("a\u202eb\x1b[31m") == "a\\u202eb\\x1b[31m"


@pytest.mark.parametrize("span", [(1e-3, 1.2e-3), (0.5, 9.0), (1e-6, 1e3), (3.0, 3.0)])
def test_ticks_are_few_and_inside(span: tuple[float, float]) -> None:
    found = ticks(span, 8)
    assert 1 <= len(found) <= 8
    if span[0] < span[1]:
        assert span[0] <= found[0]
        assert found[-1] <= span[1]


def test_what_is_made_ahead_is_told(measured: Measured) -> None:
    """GIVEN a candidate that was compiled ahead of time THEN captions say that no bar has that."""
    first, *others = measured.cases.values()
    made = msgspec.structs.replace(first, made=[samples.making(0.5)])
    (one,) = workloads([made, *others])
    told = "numpy compiled ahead of time is in no bar"
    captions = {chart.id: told in chart.caption for chart in every.charts(one)}
    assert captions["cold"]
    assert captions["first_call"]
    assert not captions["warm_points"]


def test_titles_alike_have_files_of_their_own(measured: Measured) -> None:
    """GIVEN workloads whose names differ in a sign that no file's name has THEN none is lost."""
    cases = {}
    for workload in ("a/b", "a_b"):
        for case in measured.cases.values():
            name = f"{case.case} of {workload}"
            cases[name] = msgspec.structs.replace(case, case=name, workload=workload)
    found = [name for name, _ in every.named([replace(measured, cases=cases)])]
    assert len(set(found)) == len(found) == 2 * len(every._KINDS)


def test_figures_say_where_they_are_from(measured: Measured) -> None:
    for _, chart in every.named([measured]):
        assert "measured here, run run, 2026-01-02, A CPU" in chart.spec["title"]["subtitle"]
        assert chart.spec["title"]["text"] == chart.title


def test_a_control_is_no_candidate(measured: Measured) -> None:
    """GIVEN a control, which is another candidate once more THEN it is in no figure."""
    own = OwnCandidate(
        target="f.py:f",
        kind="function",
        python="python",
        placement=None,
        arguments=[],
        outputs=[],
        renewed=False,
        checked="",
        last_checked=True,
        control_of="numpy",
    )
    first, *others = measured.cases.values()
    protocol = msgspec.structs.replace(first.protocol, own=own)
    control = msgspec.structs.replace(first, candidate="control", protocol=protocol)
    (made,) = workloads([first, *others])
    assert "control" not in {
        name for one in workloads([control, first, *others]) for name in one.looks
    }
    assert list(made.looks) == list(conftest.NAMES)
