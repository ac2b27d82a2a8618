"""The page of a large result: its size, how long it takes to make, and to answer in a browser.

    python -m benchmarks.report_page

100 cases in four cache modes with ten processes each, and 1,000 samples for each case and mode:
400,000 in all. The result is made up, with clock readings in whole nanoseconds as real ones are.
Beside each figure stands its bound; the exit code is 1 where one is missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import made_up
from benchmarks.rows import Row

from coldwarm.contracts.base import CACHE_MODES

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUP = "page"
WORKLOADS = 20
SAMPLES = 1000 * len(CACHE_MODES)
"""Of each case."""
MOST_MB = 5.0
MOST_MAKING_S = 5.0
MOST_UNTIL_USED_S = 2.0
_FILTERED = "document.querySelector('.filters output').textContent.startsWith('80 of')"
_DRAWN = "document.querySelector('.drawing.drawn svg, .drawing.drawn canvas')"
_PATIENCE_MS = 300_000
CHROMIUM = "/usr/bin/chromium"


def measure(folder: Path) -> list[Row]:
    """Make a result, its page, and open that in a browser."""
    run = made_up.write(folder / "run", WORKLOADS, SAMPLES)
    page = folder / "page.html"
    command = [sys.executable, "-m", "coldwarm", "report", str(run), "--out", str(page)]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    whole_s = time.perf_counter() - start
    made = [_making(run) for _ in range(2)]
    making_s, making_own_s = min(made)
    used_s, used_own_s = min(_until_used(page) for _ in range(3))
    size = page.stat().st_size / 1e6
    what = f"{WORKLOADS * len(made_up.CANDIDATES)} cases × {len(CACHE_MODES)} modes × 1,000 samples"
    return [
        Row(GROUP, f"size, {what}", f"{size:.2f} MB", "5 MB", size, MOST_MB, "MB"),
        Row(
            GROUP,
            "making the page of a result that was read",
            f"{making_s:.2f} s ({making_own_s:.2f} s of processors; the whole command, which "
            f"computes every figure again, {whole_s:.1f} s)",
            f"{MOST_MAKING_S} s",
            making_s,
            MOST_MAKING_S,
            "s",
        ),
        Row(
            GROUP,
            "from opening the file to a filtered table and a figure drawn",
            f"{used_s:.2f} s ({used_own_s:.2f} s of processors)",
            f"{MOST_UNTIL_USED_S} s",
            used_s,
            MOST_UNTIL_USED_S,
            "s",
        ),
    ]


def _making(run: Path) -> tuple[float, float]:
    """Return the seconds of making a page, of the clock and of processors."""
    code = (
        "import gc, sys, time; from pathlib import Path; from coldwarm.report.formats import load;"
        "from coldwarm.runner import recompute; gc.disable(); page = load('html'); page.begin();"
        "read = [recompute.read(Path(sys.argv[1]))];"
        "start, own = time.perf_counter(), time.process_time(); page.files(read, 'page.html');"
        "print(time.perf_counter() - start, time.process_time() - own)"
    )
    command = [sys.executable, "-c", code, str(run)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    taken, own = map(float, told.stdout.split())
    return taken, own


def _until_used(page: Path) -> tuple[float, float]:
    """Return the seconds from opening a page to the end of what a reader does first.

    First of the clock, then of processors, as the browser counts them for the page's process.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.set_default_timeout(_PATIENCE_MS)
        told = tab.context.new_cdp_session(tab)
        told.send("Performance.enable")
        start = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.locator(".filters input").fill("numba")
        tab.wait_for_function(_FILTERED)
        tab.wait_for_function(_DRAWN)
        taken = time.perf_counter() - start
        figures = told.send("Performance.getMetrics")["metrics"]
        own = next(one["value"] for one in figures if one["name"] == "ProcessTime")
        browser.close()
    return taken, own


def main(arguments: Sequence[str]) -> int:
    """Print a line for each figure; ``1``: one is beyond its bound."""
    if arguments:
        print(made_up.write(Path(arguments[0]), WORKLOADS, SAMPLES))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder))
    for row in rows:
        print(f"{row.verdict:9} {row.what}: {row.measured}, at most {row.against}")
    return int(any(row.verdict == "missed" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
