"""The page of a history: whole in one file, with each figure and each change."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from tests.history.test_history import made, series
from tests.started import coldwarm

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, *line: str) -> str:
    page = folder.parent / "history.html"
    done = coldwarm("history", "report", folder, "-o", page, *line)
    assert done.returncode == 0, done.stderr
    return page.read_text(encoding="utf-8")


def test_each_figure_and_each_change_is_on_the_page(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(40, 0.1, 30))
    made(folder, series(40), case="steady")
    text = written(folder)
    assert "1 change in 80 runs, 2 figures." in text
    titles = re.findall(r"<h2 [^>]*>(\w+) <small>", text)
    assert titles == ["jax_fit", "steady"], "the newest change stands first"
    first, second = text.split("<h2 ")[1:3]
    assert (first.count("<line "), second.count("<line ")) == (1, 0)
    assert re.search(r"\+\d+\.\d % \(\+\d+\.\d % to \+\d+\.\d %\) since 2026-02-0", first)
    assert len(re.findall(r"\d+\.\d,\d+\.\d", first)) == 3 * 40, "a line, and a band around it"
    assert "://" not in re.sub(r"<script>.*</script>", "", text, flags=re.DOTALL)


def test_the_changes_are_data_too(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(40, 0.1, 30))
    line = ("history", "report", folder, "-o", tmp_path / "a.html", "--format", "json")
    found = json.loads(coldwarm(*line).stdout)
    assert [one["case"] for one in found["changes"]] == ["jax_fit"]


def test_names_are_text(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    folder = tmp_path / "history"
    made(folder, series(3))
    for path in folder.glob("runs/*/figures.json"):
        path.write_text(path.read_text("utf-8").replace("jax_fit", name), encoding="utf-8")
    text = written(folder)
    assert name not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_figure_lists_the_changes_of_its_own_setup(tmp_path: Path) -> None:
    values = series(60, 0.1, 40)
    folder = made(tmp_path / "history", values, setup=lambda place: "b" if place >= 20 else "a")
    text = written(folder)
    assert "1 change in 60 runs, 2 figures." in text
    assert (text.count("<polyline"), text.count('class="v undecided"')) == (2, 1)


def test_a_figure_without_a_value_has_no_chart(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(3), baseline=None, kind="memory")
    for path in folder.glob("runs/*/figures.json"):
        text = re.sub(r'"value": ?[\d.e-]+', '"value": 0.0', path.read_text("utf-8"))
        path.write_text(text, encoding="utf-8")
    assert "<polyline" not in written(folder)


def test_many_runs_share_places(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(336))
    made(folder, series(336), machine="b" * 12)
    text = written(folder)
    assert text.count("<polyline") == 2
    assert len(text) < 1_000_000


@pytest.mark.slow
def test_a_browser_zooms_and_leaves_cases_out(tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    folder = made(tmp_path / "history", series(40, 0.1, 30))
    made(folder, series(40), case="steady")
    written(folder)
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch()
        except playwright.Error:
            pytest.skip("there is no browser")
        page = browser.new_page()
        page.goto((tmp_path / "history.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        page.fill(".filters.cases input", "stead")
        assert page.locator("section.case:not([hidden])").count() == 1
        chart = page.locator("section.case:not([hidden]) .runs svg")
        before = chart.get_attribute("viewBox")
        chart.hover()
        wheel = "new WheelEvent('wheel', {deltaY: 9, cancelable: true})"
        taken = chart.evaluate(f"(one) => !one.dispatchEvent({wheel})")
        assert not taken, "the page scrolls, where all is shown"
        page.mouse.wheel(0, -100)
        page.wait_for_function(
            "(before) => document.querySelector('section.case:not([hidden]) .runs svg')"
            ".getAttribute('viewBox') !== before",
            arg=before,
        )
        browser.close()
