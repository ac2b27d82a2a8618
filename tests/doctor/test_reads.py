"""Reads by the host: counted by the moment, and let alone where the program needs each value."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from tests.doctor.reports import report

from coldwarm.contracts.reasons import because
from coldwarm.doctor.findings_document import first_change
from coldwarm.doctor.judge import findings, is_small
from coldwarm.doctor.rules.reads import _decides
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "/a.py"
LOOP = (
    "for batch in batches:\n    state, loss = step(state, batch)\n    losses.append(float(loss))\n"
)


def seen(
    *places: tuple[str, int, tuple[int, ...]],
    text: str = LOOP,
    name: str = "step",
    stacks: Mapping[int, list[list[Any]]] = MappingProxyType({}),
) -> list[Any]:
    """Return what is found where these places of a file were counted: kind, line and numbers."""
    rows: list[dict[str, Any]] = [
        {"kind": "process", "at_s": 0.0, "sees_calls": True},
        *(
            {
                "kind": "place",
                "at_s": 1.0,
                "what": what,
                "name": name,
                "slot": at * 4,
                "stack": stacks.get(line, [[FILE, line, "<module>"]]),
            }
            for at, (what, line, _) in enumerate(places)
        ),
        {"kind": "end", "at_s": 10.0, "doctor_s": 0.0},
    ]
    counts = [number for *_, numbers in places for number in (*numbers, 0, 0, 0, 0)[:4]]
    found = findings(ProcessTrace.of(rows, counts, SourceFiles({FILE: text})))
    return [one for one in found if one.pattern == "host-sync-in-loop"]


def test_a_loop_that_reads_in_each_turn_says_how_often_it_waited() -> None:
    (found,) = seen(("jitted", 2, (100,)), ("read", 3, (100, 40, 2_000_000_000, 100)))
    assert (found.line, found.n, found.cost_s) == (3, 100, 2.0)
    assert found.says == because(
        "doctor_reads", n_reads=100, n_waited=40, blocked_s=2.0, each_s=0.02
    )


def test_leaves_that_are_read_together_count_once() -> None:
    assert seen(("jitted", 2, (120,)), ("read", 3, (144, 3, 5_000_000, 3))) == []
    (found,) = seen(("jitted", 2, (120,)), ("read", 3, (480, 480, 5_000_000, 120)))
    assert (found.n, found.says.values["n_waited"]) == (120, 120)


def test_where_only_the_first_reads_waited_the_loop_does_not_wait() -> None:
    (found,) = seen(("jitted", 2, (200,)), ("read", 3, (200, 2, 900_000_000, 200)))
    assert found.cost_s is None
    assert found.null_reasons["cost_s"] == because("doctor_few_waits")
    assert found.says == because("doctor_reads_ready", n_reads=200, n_ready=198)
    assert is_small(found, 1.0)
    (ready,) = seen(("jitted", 2, (200,)), ("read", 3, (200, 0, 0, 200)))
    assert ready.cost_s == 0.0


GIVEN = """
def smoothed(image):
    smooth = step(image)
    {read}
    return {given}

for image in images:
    kept.append(smoothed(image))
"""


@pytest.mark.parametrize(
    ("read", "given", "n"),
    [
        ("return np.asarray(smooth)[:4, :4]", "None", 0),
        ("found = np.asarray(smooth) > 2.0", "{'share': found.mean()}", 0),
        ("found = np.asarray(smooth) > 2.0", "smooth", 1),
        ("return float(smooth)", "None", 1),
        ("return smooth.item()", "None", 1),
    ],
)
def test_a_function_that_gives_numpy_arrays_has_to_read(read: str, given: str, n: int) -> None:
    outer = [FILE, 8, "<module>"]
    stacks: dict[int, list[list[Any]]] = {
        line: [[FILE, line, "smoothed"], outer] for line in (3, 4)
    }
    calls = ("jitted", 3, (100,)), ("read", 4, (100, 90, 10**9, 100))
    assert len(seen(*calls, text=GIVEN.format(read=read, given=given), stacks=stacks)) == n


CLOCKED = """
while requests:
    begin = time.perf_counter()
    answers.append(float(step(requests.pop())))
    took.append(time.perf_counter() - begin)
"""
BUDGET = """
while time.perf_counter() < limit:
    state, loss = step(state)
    losses.append(float(loss))
"""


def test_where_each_turn_is_timed_the_clock_needs_the_read() -> None:
    calls = ("jitted", 4, (50,)), ("read", 4, (50, 50, 10**9, 50))
    assert seen(*calls, ("clock", 3, (50,)), ("clock", 5, (50,)), text=CLOCKED) == []
    assert len(seen(*calls, ("clock", 3, (5,)), ("clock", 5, (5,)), text=CLOCKED)) == 1
    calls = ("jitted", 3, (50,)), ("read", 4, (50, 50, 10**9, 50))
    assert len(seen(*calls, ("clock", 2, (51,)), text=BUDGET)) == 1


@pytest.mark.parametrize(
    ("lines", "decided"),
    [
        ("action = int(policy(w, obs))@|obs, reward = env.step(action)", True),
        ("action = int(policy(w, env.obs))@|env.step(action)", True),
        ("obs, reward = env.step(int(policy(w, obs)@))", True),
        ("p = np.asarray(policy(w, obs))@|obs = draw(p)|seen.append(obs)", True),
        ("obs = rng.choice(4, p=np.asarray(policy(w, obs)))@", True),
        ("a = policy(w, obs)@|b = a.item()#|c = simulate(b); obs = c", True),
        ("w, loss = step(w, obs)@|total += float(loss)#", False),
        ("w, loss = step(w, obs)@|loss = float(loss)#|mean = averaged(mean, loss)", False),
        ("w, loss = step(w, obs)@|self.losses.append(loss.item())#|meter.update(1)", False),
        ("w = np.asarray(step(w, obs))@", False),
        ("w = step(w, np.asarray(obs))@", False),
        ("w, loss = step(w, obs)@|if float(loss) < best:#|    kept = w", False),
    ],
)
def test_what_the_host_makes_of_a_value_decides_the_next_call(lines: str, decided: bool) -> None:  # noqa: FBT001 - a parameter
    """``@`` is where a compiled function is called, ``#`` where its result is read if not there."""
    rows = ["while True:", *(f"    {row}" for row in lines.split("|"))]
    calls = {at for at, row in enumerate(rows, 1) if "@" in row}
    line = next((at for at, row in enumerate(rows, 1) if "#" in row), min(calls))
    text = "\n".join(row.replace("@", "").replace("#", "") for row in rows)
    assert _decides(SourceFiles({FILE: text}), FILE, line, calls) == decided


def test_what_a_function_reads_that_the_loop_calls() -> None:
    text = "while True:\n    obs = env.step(agent.act(obs))\n"
    assert _decides(SourceFiles({FILE: text}), FILE, 2, {2}, below=True)
    text = "while True:\n    w, loss = train(w, batch)\n    shown = text_of(loss)\n"
    assert not _decides(SourceFiles({FILE: text}), FILE, 2, {2}, below=True)
    assert not _decides(SourceFiles({FILE: text}), FILE, 1, {2})
    assert not _decides(SourceFiles({FILE: "a = 1\n"}), FILE, 1, {1})


def test_what_costs_next_to_nothing_is_not_to_be_changed_first() -> None:
    found = seen(("jitted", 2, (100,)), ("read", 3, (100, 90, 10_000_000, 100)))
    made = report(found)
    for total_s, said in (
        (2.0, "Nothing that matters was found: all of it is less than 1% of the time."),
        (0.5, "Change first:"),
    ):
        whole = replace(made, account=replace(made.account, total_s=total_s))
        assert first_change(whole).startswith(said)


ADAPTIVE = """
while t < end:
    y_new, error = step(y, h)
    error = float(error)
    if error <= 1.0:
        y, t = y_new, t + h
    h *= min(3.0, 0.9 * max(error, 1e-6))
"""
CONVERGED = """
for turn in range(n):
    x, cost = step(x)
    cost = float(cost)
    if before - cost < 1e-3:
        break
    before = cost
"""
KEPT = """
for turn in range(n):
    x, cost = step(x)
    costs.append(float(cost))
"""


@pytest.mark.parametrize(
    ("text", "line", "each_ms", "named"),
    [
        (ADAPTIVE, 4, 30, False),  # a step that computes for long, and has to be known
        (ADAPTIVE, 4, 0.05, True),  # so short a step belongs into a loop of JAX's
        (CONVERGED, 4, 30, False),
        (CONVERGED, 4, 0.05, True),
        (KEPT, 4, 30, True),
    ],
)
def test_a_long_step_by_which_the_loop_goes_on_has_to_be_waited_for(
    text: str, line: int, each_ms: float, *, named: bool
) -> None:
    blocked_ns = int(each_ms * 1e6 * 100)
    places = ("jitted", line - 1, (100,)), ("read", line, (100, 100, blocked_ns, 100))
    assert [one.line for one in seen(*places, text=text)] == [line] * named
