"""The trace: its slices nest, add up to the account, and Perfetto's own processor reads them so."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.test_shown import HOSTILE
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S, MAIN, OTHER
from tests.doctor.processor import CHROMIUM, MISSING, Processor
from tests.doctor.test_watching import JAX, doctor

from coldwarm.doctor import watch
from coldwarm.doctor.perfetto import perfetto_json
from coldwarm.doctor.time_account import account

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

PARTS = {
    "import": "import_s",
    "devices": "devices_s",
    "trace": "trace_s",
    "lower": "lower_s",
    "compile": "compile_s",
    "cache": "cache_s",
}
END_S = 12.0
ONE_THREAD = (
    journals.process(),
    # Something is compiled while a module is imported, and a module is imported meanwhile.
    journals.imported("package", 0.5, 3.0),
    journals.call(1),
    journals.stage(1, 1.0, {"trace": 0.25}, stage="trace"),
    journals.stage(1, 1.25, {"lower": 0.5}, stage="lower"),
    journals.stage(1, 1.75, {"compile": 1.0}),
    journals.imported("lazily", 2.0, 0.25),
    # The devices start while something is traced: the trace began at 4.0.
    journals.devices(4.5, 1.0),
    journals.call(2),
    journals.stage(2, 5.0, {"trace": 0.75, "lower": 0.125, "compile": 0.125}, stage="trace"),
    # A program comes from the disk.
    journals.call(3),
    journals.stage(3, 7.0, {"cache_read": 0.3, "compile": 0.1}, hit=True),
    journals.end(END_S),
)
OTHER_THREAD = (
    journals.call(4, thread=OTHER),
    journals.stage(4, 8.0, {"compile": 2.0}),
    journals.call(5),
    journals.stage(5, 9.0, {"compile": 2.0}),
)


def events(folder: Path, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    watched = watch.read(journals.written(folder, *rows))
    found: list[dict[str, Any]] = json.loads(perfetto_json(watched.processes, BEGIN_S))[
        "traceEvents"
    ]
    return found


def sums(found: list[dict[str, Any]]) -> dict[str, float]:
    slices = [one for one in found if one["ph"] == "X"]
    return {kind: sum(one["dur"] for one in slices if one["cat"] == kind) / 1e6 for kind in PARTS}


def parts(folder: Path) -> dict[str, float]:
    """Return the account of the journals in a folder."""
    (seen,) = watch.read(folder).processes
    found = account(seen, BEGIN_S, BEGIN_S + END_S)
    return {kind: getattr(found, name) for kind, name in PARTS.items()}


def test_the_slices_of_a_part_add_up_to_the_account(tmp_path: Path) -> None:
    found = events(tmp_path, *ONE_THREAD)
    assert sums(found) == pytest.approx(parts(tmp_path))
    assert parts(tmp_path) == pytest.approx(
        {"import": 1.25, "devices": 1, "trace": 1, "lower": 0.625, "compile": 1.225, "cache": 0.3}
    )


def test_what_two_threads_compile_at_once_is_counted_once(tmp_path: Path) -> None:
    found = events(tmp_path, *ONE_THREAD, *OTHER_THREAD)
    assert parts(tmp_path)["compile"] == pytest.approx(1.225 + 3.0)
    assert sums(found)["compile"] == pytest.approx(1.225 + 4.0)
    names = {one["tid"]: one["args"]["name"] for one in found if one["name"] == "thread_name"}
    assert list(names.values()) == ["main", "thread 1"]


def test_slices_of_a_thread_are_in_order_and_nest(tmp_path: Path) -> None:
    found = [one for one in events(tmp_path, *ONE_THREAD, *OTHER_THREAD) if one["ph"] == "X"]
    for thread in {one["tid"] for one in found}:
        open_ns: list[int] = []
        ours = [one for one in found if one["tid"] == thread]
        assert all(a["ts"] <= b["ts"] for a, b in pairwise(ours))
        for one in ours:
            begin_ns = round(one["ts"] * 1000)
            end_ns = begin_ns + round(one["dur"] * 1000)
            while open_ns and open_ns[-1] <= begin_ns:
                open_ns.pop()
            assert not open_ns or end_ns <= open_ns[-1], one
            open_ns.append(end_ns)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if MISSING:
        pytest.skip(f"Perfetto's trace processor needs what is not here: {', '.join(MISSING)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


def processed(browser: Browser, text: str) -> Processor:
    page = browser.new_page()
    page.set_default_timeout(180_000)
    return Processor(page, text.encode())


COMPLAINTS = "select name from stats where value > 0 and severity in ('error', 'data_loss')"
BY_CATEGORY = "select category, sum(dur) / 1e9 as seconds from slice group by category"


@pytest.mark.slow
def test_perfetto_reads_the_same_sums(browser: Browser, tmp_path: Path) -> None:
    rows = [*ONE_THREAD, *OTHER_THREAD]
    watched = watch.read(journals.written(tmp_path, *rows))
    text = perfetto_json(watched.processes, BEGIN_S)
    processor = processed(browser, text)
    assert processor.rows(COMPLAINTS) == []
    seconds = dict(processor.rows(BY_CATEGORY))
    seconds.pop("call")
    assert seconds == pytest.approx(sums(json.loads(text)["traceEvents"]))
    assert (4321, "train.py") in processor.rows("select pid, name from process")
    names = [name for (name,) in processor.rows("select name from thread where name is not null")]
    assert {"main", "thread 1"} <= set(names)
    (count,) = processor.rows("select count(*) as n from slice")[0]
    assert count == sum(one["ph"] == "X" for one in json.loads(text)["traceEvents"])


@pytest.mark.slow
def test_perfetto_reads_the_account_of_a_real_program(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    file = tmp_path / "trace.json"
    report, _ = doctor(JAX, tmp_path, "--perfetto", str(file))
    processor = processed(browser, file.read_text("utf-8"))
    assert processor.rows(COMPLAINTS) == []
    seconds = dict(processor.rows(BY_CATEGORY))
    for kind, name in PARTS.items():
        assert seconds.get(kind, 0.0) == pytest.approx(report["account"][name] or 0.0, abs=1e-6)


@pytest.mark.slow
def test_hostile_text_is_text_in_perfetto(browser: Browser, tmp_path: Path) -> None:
    rows = [journals.process(argv=["python", *HOSTILE])]
    for number, text in enumerate(HOSTILE, 1):
        function = {"name": text, "path": text, "line": 1}
        arguments = {"arguments": {text: text}, "static": {text: text}}
        rows.append(
            journals.call(number, path=text, function=function, signature=arguments, thread=MAIN)
        )
        rows.append(journals.stage(number, float(number), {"compile": 0.5}))
    watched = watch.read(journals.written(tmp_path, *rows))
    processor = processed(browser, perfetto_json(watched.processes, BEGIN_S))
    assert processor.rows(COMPLAINTS) == []
    found = processor.rows("select name from slice")
    assert len(found) == len(HOSTILE)
    for (name,) in [*found, *processor.rows("select name from process where name is not null")]:
        assert name.isprintable()
