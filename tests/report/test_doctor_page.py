"""The doctor's page in a real browser: what to change first is seen at once, and text is text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.test_shown import HOSTILE
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S
from tests.report.conftest import CHROMIUM

from coldwarm.doctor import watch
from coldwarm.doctor.doctor_page import page_of_doctor
from coldwarm.doctor.watch import ProgramEnd

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed here"),
]
END_S = 20.0
PROGRAM = """import jax
for rate in range(9):
    step(x, rate)
"""


@pytest.fixture
def opened(visit: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """Open the page of some rows."""

    def open_page(rows: list[dict[str, Any]], width: int = 1280, **options: Any) -> Page:
        watched = watch.read(journals.written(tmp_path / "journal", *rows))
        ended = ProgramEnd(BEGIN_S, BEGIN_S + END_S, 0)
        report = watch.report(watched, ended, "2026-01-02T03:04:05+00:00")
        file = tmp_path / "page.html"
        text = page_of_doctor(report, watched.processes, BEGIN_S)
        file.write_text(text, encoding="utf-8")
        return visit(file, width, **options)

    return open_page


def again(number: int, path: str, name: str, before: str, now: str) -> list[dict[str, Any]]:
    """Return the rows of one call that was compiled for another static value."""
    difference = {"kind": "static", "argument": name, "before": before, "now": now}
    cause = {"kind": "again", "differences": [difference]} if number > 1 else {"kind": "first"}
    function = {"name": name, "path": path, "line": 1}
    signature = {"arguments": {name: now}, "static": {name: now}}
    return [
        journals.call(number, path=path, cause=cause, function=function, signature=signature),
        journals.stage(number, float(number), {"compile": 0.5}),
    ]


def faulty(path: str = "/train.py", name: str = "rate") -> list[dict[str, Any]]:
    rows = [journals.process(), journals.imported("jax", 0.1, 0.5), journals.devices(0.7, 0.1)]
    for number in range(1, 6):
        rows += again(number, path, name, f"{number}.0", f"{number + 1}.0")
    return [*rows, journals.end(END_S)]


def test_what_to_change_first_is_seen_without_scrolling(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    file = tmp_path / "train.py"
    file.write_text(PROGRAM, encoding="utf-8")
    page = opened(faulty(str(file)))
    first = page.locator(".first")
    assert "train.py:3" in first.inner_text()
    assert "saves about 2.00 s" in first.inner_text()
    assert (first.bounding_box() or {"y": 999})["y"] < 400
    finding = page.locator("#finding-1")
    assert (finding.bounding_box() or {"y": 999})["y"] < 700
    text = finding.inner_text()
    for part in ("step(x, rate)", "rate is static", "4 compilations", "plain argument"):
        assert part in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_bar_has_a_legend_in_its_colours(opened: Callable[..., Page], scheme: str) -> None:
    page = opened(faulty(), color_scheme=scheme)
    bar = page.eval_on_selector_all(
        ".account rect", "all => all.map(r => getComputedStyle(r).fill)"
    )
    swatches = page.locator(".key .swatch rect")
    legend = [swatches.nth(at).evaluate("r => getComputedStyle(r).fill") for at in range(len(bar))]
    assert legend == bar
    assert len(set(bar)) == len(bar) == swatches.count()
    for at in range(swatches.count()):
        box = swatches.nth(at).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 4
    whole = page.locator(".account").bounding_box()
    widths = [page.locator(".account rect").nth(at).bounding_box() for at in range(len(bar))]
    assert whole is not None
    drawn = sum(one["width"] for one in widths if one is not None)
    assert drawn == pytest.approx(whole["width"], rel=0.01)


def test_a_link_leads_to_the_pattern_with_its_code(opened: Callable[..., Page]) -> None:
    page = opened(faulty())
    page.locator("#finding-1").get_by_role("link", name="varying-static-arg").click()
    lesson = page.locator("#lesson-varying-static-arg")
    assert lesson.is_visible()
    assert "static_argnames" in lesson.inner_text()


def test_a_finding_without_a_pattern_links_to_none(opened: Callable[..., Page]) -> None:
    rows = [journals.process()]
    cause = {"kind": "again", "differences": []}
    for number in range(1, 6):
        rows += [
            journals.call(number, cause=cause if number > 1 else {"kind": "first"}),
            journals.stage(number, float(number), {"compile": 0.5}),
        ]
    page = opened(rows)
    assert "recompile" in page.locator("#finding-1").inner_text()
    assert page.locator("#finding-1 a").count() == 0
    broken = page.eval_on_selector_all(
        'a[href^="#"]', "all => all.filter(a => !document.querySelector(a.hash)).length"
    )
    assert broken == 0


def test_a_healthy_program_has_one_sentence(opened: Callable[..., Page]) -> None:
    page = opened([journals.process(), journals.end(END_S)])
    text = page.locator("main").inner_text()
    assert "Nothing to change was found." in text
    assert "neither JAX, torch.compile nor Numba was loaded" in text
    assert page.locator("#findings, #timeline, #sites").count() == 0


@pytest.mark.parametrize("width", [1280, 400])
def test_hostile_text_is_text(opened: Callable[..., Page], width: int) -> None:
    rows = [journals.process(argv=["python", *HOSTILE])]
    for place, text in enumerate(HOSTILE):
        for number in range(1, 6):
            made = again(number, f"/{text}.py", text, text, f"{text}{number}")
            for row in made:
                row["call"] += 10 * place
            rows += made
    page = opened(rows, width=width)
    assert page.locator("main script, main img, main iframe, main object, main form").count() == 0
    hrefs = page.eval_on_selector_all("main a", "all => all.map(a => a.href)")
    assert all(one.startswith(("file:", "https://")) and "evil" not in one for one in hrefs)
    shown = page.locator("main").inner_text()
    assert all(one.isprintable() or one in "\n\t" for one in shown)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("article.finding").count() >= len(HOSTILE)
    assert len({*HOSTILE}) == len(HOSTILE)


def test_nothing_keeps_people_from_reading_it(opened: Callable[..., Page]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for scheme in ("light", "dark"):
        found = axe.Axe().run(opened(faulty(), color_scheme=scheme))
        assert found.violations_count == 0, found.generate_report()
