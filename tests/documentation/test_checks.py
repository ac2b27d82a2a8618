"""The counts that the pages name are those of the committed benchmarks."""

from __future__ import annotations

import json
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import maintainer, precision
from benchmarks.trials import journal, table
from tests.documentation.pages import ROOT

from _generate import checks

if TYPE_CHECKING:
    from collections.abc import Iterable

RESULTS = ROOT / "benchmarks" / "results"


def page(name: str) -> str:
    return " ".join((ROOT / "docs" / "explanation" / f"{name}.md").read_text("utf-8").split())


def read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def counts(rows: Iterable[dict[str, Any]], field: str) -> Counter[str]:
    return Counter(one[field] for one in rows)


def test_honest_functions() -> None:
    of = counts(read("honest")["cases"], "judged")
    assert of["accused"] == 0
    assert f"{of.total()} honest functions" in page("refuses")
    assert f"{of['refused']} were refused and none was accused" in page("refuses")


def test_scripts() -> None:
    of = counts(read("independent")["rows"], "verdict")
    said = f"{of['agrees']} of {of.total()} ratios agreed, {of['unclear']} were unclear and"
    assert f"{said} {of['apart']} apart" in page("deceit")


def test_programs() -> None:
    rows = read("doctor_real")
    of = counts((each for one in rows for each in one["findings"]), "label")
    silent = sum(not one["findings"] for one in rows)
    text = page("real-programs")
    assert f"| programs | {len(rows)} of " in text
    assert f"| without a finding | {silent} |" in text
    labels = f"{of['right']} right, {of['minor']} minor, {of['false']} false"
    assert f"| findings | {of.total()}: {labels} |" in text


def test_faults() -> None:
    *_, line = checks.faults(read("faults")["faults"]).splitlines()
    _, faults, commands, *zeros = line.strip("| ").split(" | ")
    assert {*zeros} == {"0"}
    assert f"{faults} faults and {commands} commands" in page("faults")


def test_starts() -> None:
    lines, text = journal.read(RESULTS / "starts.jsonl"), page("trials")
    more = [row for row in table.rows(lines) if row.effect]
    truth = {"start": "10 %, NumPy", "start_jax": "10 %, JAX"}
    truth |= {"start_torch": "14 %, PyTorch", "start_numba": "10 %, Numba"}
    assert [row.names[2] for row in more] == list(truth)
    for row in more:
        told = f"{row.calls.count('slower')} `slower` | {row.calls.count('undecided')} | 0"
        assert f"| {truth[row.names[2]]} | {row.n} | {told} |" in text
    equal, other = table.pooled(lines)
    told = f"{equal.calls.count('same')} `same` | {equal.calls.count('undecided')} | 0"
    assert f"| none | {equal.n} | {told}" in text
    held = [*equal.held, *other.held]
    assert f"in {sum(held)} of {len(held)} of starts" in text
    trials = [one for one in lines if one["record"] == "trial"]
    gone = sum(bool(one["thrown_away"]) for one in trials)
    assert f"{gone} of {len(trials)} of starts" in text


def test_seconds_until_a_ratio_is_known() -> None:
    found, text = read("precision"), page("trials")
    for kind, by_tool in found["kinds"].items():
        own = precision.seconds_until(by_tool["coldwarm"])
        assert own is not None
        whole = median(one[-1][0] for one in by_tool["pyperf"])
        assert f"| {kind} | {own:.0f} s | {whole:.0f} s |" in text
        assert precision.seconds_until(by_tool["pyperf"]) is None, "it ended without reaching that"


def test_other_tools() -> None:
    text = page("trials")
    lines = [one for one in journal.read(RESULTS / "peers.jsonl") if one["record"] == "trial"]
    trials = [one for one in lines if not one["failed"] and not one["thrown_away"]]
    for tool, rule, name in (
        ("pyperf", "compare_to", "`pyperf compare_to`"),
        ("pytest-benchmark", "mean:2%", "pytest-benchmark, means by 2 %"),
    ):
        cells = []
        for effect in (0.0, 0.03, 0.05):
            mine = [one for one in trials if (one["tool"], one["effect"]) == (tool, effect)]
            more = ["slower" if one["b"] > one["a"] else "faster" for one in mine]
            called = [one["calls"][rule] for one in mine]
            told = [one == side for one, side in zip(called, more, strict=True)]
            n = sum(told) if effect else sum(one != "same" for one in called)
            cells.append(f"{n} of {len(mine)}")
        assert f"| {name} | {' | '.join(cells)} |" in text


def test_pull_requests() -> None:
    text = " ".join((ROOT / "docs" / "how-to" / "ci.md").read_text("utf-8").split())
    lines = maintainer.read(RESULTS / "maintainer.jsonl")
    for package in maintainer.PACKAGES.values():
        for request in package.requests:
            cells = []
            for guard in maintainer.GUARDS:
                name = maintainer.Check(package.name, request, guard).name
                mine = [one for one in lines if name.items() <= one.items()]
                failed = sum(one["code"] == 1 for one in mine)
                should = "should" if guard in request.seen_by else "should not"
                cells.append(f"{failed} of {len(mine)} ({should})")
            assert f"| {package.name} | {request.name} | {' | '.join(cells)} |" in text


def test_trials() -> None:
    lines = journal.read(RESULTS / "trials.jsonl")
    text, held, n_held = page("trials"), 0, 0
    for row in table.pooled(lines):
        effect = f"{100 * row.effect:g} %" if row.effect else "none"
        right = "slower" if row.effect else "same"
        told = f"{row.calls.count(right)} `{right}` | {row.calls.count('undecided')}"
        assert f"| {effect} | {row.n} | {told} | 0 " in text
        held, n_held = held + sum(row.held), n_held + len(row.held)
    trials = [one for one in lines if one["record"] == "trial"]
    gone = sum(bool(one["thrown_away"]) for one in trials)
    assert f"In {len(trials) - gone} trials of known truth" in text
    assert f"held the truth in {held} of {n_held}" in text
    assert f"{gone} of {len(trials)}" in text
