"""The progress display shows what happens, and costs next to nothing."""

from __future__ import annotations

import io
import sys
import threading
import time
import types
from typing import TYPE_CHECKING

import msgspec
import pytest
from rich.console import Console

from coldwarm.caches import modes
from coldwarm.contracts.observation import Block
from coldwarm.contracts.reasons import because
from coldwarm.report import progress as progress_lines
from coldwarm.report.progress import LiveProgress, PlainProgress, open_progress

if TYPE_CHECKING:
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

CASE = "torch_compile_cpu_matmul_512_f32"
EMPTY = "cold_process_cold_cache"
FILLED = "cold_process_warm_cache"
WARM = "warm_process"


def console(*, terminal: bool, height: int = 24) -> Console:
    """Make a console that writes into memory."""
    return Console(
        file=io.StringIO(),
        width=80,
        height=height,
        force_terminal=terminal,
        color_system=None,
        _environ={"TERM": "xterm"},
    )


def written(to: Console) -> str:
    assert isinstance(to.file, io.StringIO)
    return to.file.getvalue()


def test_the_display_fits_the_console() -> None:
    assert isinstance(open_progress(console(terminal=True)), LiveProgress)
    assert isinstance(open_progress(console(terminal=False)), PlainProgress)


def test_plain_lines_are_one_for_each_round(
    observation: Observation, cases: list[CaseResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 5.0, 39.6, 116.9, 134.2])
    monkeypatch.setattr(progress_lines, "TIME", types.SimpleNamespace(perf_counter=clock.__next__))
    to = console(terminal=False)
    block = Block(order=1, start_s=2.0, batch=1, samples_s=[9.0, 0.000583, 0.0005], compiles=0)
    second = msgspec.structs.replace(observation, round=1)
    with open_progress(to) as progress:
        progress.started(4, 240.0)
        progress.process(CASE, EMPTY, 1, 5)
        for _ in range(2):
            progress.observed(observation)
        progress.case_updated(cases[0])
        progress.estimate(0.12, 61.0)
        progress.observed(
            msgspec.structs.replace(
                second, status="failed", reason=because("timeout", limit_s=60.0), wall_s=60.0
            )
        )
        stays = msgspec.structs.replace(second, cache_mode=FILLED, also_modes=[WARM])
        progress.observed(with_blocks(stays, block))
        progress.estimate(0.5, None)
        progress.note(because("stated", text="[b]no GPU[/b]"))
        progress.observed(msgspec.structs.replace(observation, round=2))
    assert written(to).splitlines() == [
        "measuring with at least 4 processes, within 240 s",
        "[ 50 %] matmul · 512 · f32, round 1: 2 processes, 34.6 s; about 1:01 left",
        f"{CASE} · empty caches: failed: timeout: no answer within 60 s",
        (
            "extra rounds follow, until the figures are precise and the verdicts clear, or the"
            " time is over; Ctrl-C ends with what there is"
        ),
        "[extra] matmul · 512 · f32, round 2: 2 processes, 77.3 s",
        "note: [b]no GPU[/b]",
        "[extra] matmul · 512 · f32, round 3: 1 process, 17.3 s",
    ]


def test_many_extra_rounds_have_a_line_together(
    observation: Observation, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = {"s": 0.0}
    clock = types.SimpleNamespace(perf_counter=lambda: now["s"])
    monkeypatch.setattr(progress_lines, "TIME", clock)
    to = console(terminal=False)
    with open_progress(to) as progress:
        progress.started(1, None)
        for number in range(100):
            progress.observed(msgspec.structs.replace(observation, round=number))
            now["s"] += 0.2
            progress.estimate(1.0, 60.0)
    told = written(to)
    assert told.count("extra rounds follow") == 1
    assert told.count("[100 %] round 1: 1 process, 200 ms; about 1:00 left for extra rounds") == 1
    assert 2 <= told.count("[extra]") <= 4
    assert "round 100: " in told


def with_blocks(start: Observation, *blocks: Block) -> Observation:
    """Return a process at its end, its blocks judged as in a run."""
    judgements = {**start.judgements, WARM: modes.judge_blocks(blocks)}
    return msgspec.structs.replace(start, blocks=list(blocks), judgements=judgements)


def test_rejected_blocks_have_no_figure_and_are_not_called_ok(observation: Observation) -> None:
    clean = Block(order=1, start_s=2.0, batch=1, samples_s=[0.5, 0.5], compiles=0)
    compiled = msgspec.structs.replace(clean, order=2, compiles=1)
    each = msgspec.structs.replace(clean, order=3, compiles=2)
    stays = msgspec.structs.replace(observation, cache_mode=FILLED, also_modes=[WARM])
    alone = msgspec.structs.replace(observation, cache_mode=WARM, status="rejected")
    alone = msgspec.structs.replace(alone, reason=because("no_warm_block"))
    to, live = console(terminal=False), console(terminal=True)
    for progress in (PlainProgress(to), LiveProgress(live)):
        with progress:
            progress.started(4, None)
            progress.observed(with_blocks(stays, clean, compiled))
            progress.observed(with_blocks(stays, each))
            progress.observed(with_blocks(alone, compiled))
    assert written(to).splitlines()[1:-1] == [
        f"{CASE} · warm: rejected: 1 program compiled in the warm window",
        (
            f"{CASE} · warm: rejected: every call compiled: 2 programs in 2 calls; build the jitted"
            " function once, outside of the function that is called"
        ),
        f"{CASE} · warm: rejected: no warm block was measured",
    ]
    after = written(live).rsplit("\x1b[?25h", 1)[-1]
    assert f"note: {CASE} · warm: rejected: 1 program compiled" in " ".join(after.split())


def test_live_display(observation: Observation, cases: list[CaseResult]) -> None:
    to = console(terminal=True)
    ticks = iter(range(0, 1000, 10))
    with LiveProgress(to, clock=lambda: next(ticks)) as progress:
        progress.started(40, 240.0)
        progress.estimate(0.41, 130.0)
        progress.process(CASE, EMPTY, 2, 5)
        assert f"now: {CASE} · empty caches · 2 of 5" in written(to)
        assert "41 %" in written(to)
        assert "of at most 4:00 · about 2:10 left" in written(to)
        progress.case_updated(cases[1])
        row = next(line for line in written(to).splitlines() if "jax_jit_cpu_matmul" in line)
        assert row.split()[1:] == ["811", "ms", "534", "ms", "583", "µs", "ok"]
        progress.observed(
            msgspec.structs.replace(
                observation, status="rejected", reason=because("stated", text="a cache hit")
            )
        )
        progress.note(because("stated", text="the machine is busy"))
    after = written(to).rsplit("\x1b[?25h", 1)[-1]
    assert f"note: {CASE} · empty caches: rejected: a cache hit" in " ".join(after.split())
    assert "note: the machine is busy" in after
    assert "now:" not in after


class Handle:
    """What ``IPython.display.display`` returns for an output with a name."""

    def __init__(self, shown: list[object]) -> None:
        """Add to these."""
        self.shown = shown

    def update(self, picture: object) -> None:
        """Put another picture in the place of the last."""
        self.shown.append(picture)


def test_in_a_notebook_one_output_changes_in_place(
    monkeypatch: pytest.MonkeyPatch, observation: Observation, cases: list[CaseResult]
) -> None:
    outputs: list[list[object]] = []

    def display(picture: object, *, display_id: bool) -> Handle:
        assert display_id
        outputs.append([picture])
        return Handle(outputs[-1])

    shell = types.SimpleNamespace(kernel=object())
    ipython = types.ModuleType("IPython")
    of_display = types.ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: shell
    vars(of_display)["display"] = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", of_display)
    to = console(terminal=False)
    with open_progress(to) as progress:
        progress.started(40, 240.0)
        progress.process("<b>x</b>", EMPTY, 2, 5)
        progress.observed(observation)
        progress.case_updated(cases[1])
        progress.note(because("stated", text="the machine is busy"))
    (pictures,) = outputs
    assert "now: preparing" in repr(pictures[0])
    assert "now: &lt;b&gt;x&lt;/b&gt; · empty caches" in pictures[2]._repr_html_()  # type: ignore[attr-defined]
    assert "811 ms" in repr(pictures[-2])
    assert repr(pictures[-1]).startswith("measured in 0:00\nnote: the machine is busy")
    assert written(to) == ""
    shell.kernel = None  # a prompt of IPython in a terminal
    assert isinstance(open_progress(console(terminal=True)), LiveProgress)


def test_no_thread_runs_beside_a_measurement() -> None:
    before = threading.active_count()
    with open_progress(console(terminal=True)) as progress:
        progress.started(3, None)
        assert threading.active_count() == before


@pytest.mark.measures
@pytest.mark.parametrize("height", [10, 50])
def test_a_refresh_is_quick_and_stays_on_the_screen(cases: list[CaseResult], height: int) -> None:
    to = console(terminal=True, height=height)
    costs = []
    with LiveProgress(to) as progress:
        for number in range(60):
            case = msgspec.structs.replace(cases[1], case=f"case_{number}")
            begin = time.perf_counter()
            progress.case_updated(case)
            costs.append(time.perf_counter() - begin)
        last = written(to).rsplit("now:", 1)[-1]
        assert "case_59" in last
        assert "…" not in last
        assert last.count("\n") < height
    # The quickest of the last ten: the cost itself, without what else the machine did.
    assert min(costs[-10:]) < 0.005
