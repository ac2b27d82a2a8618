"""The page in a real browser: no request, no complaint, its figures, and how it is used."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks import made_up
from click.testing import CliRunner
from msgspec import structs
from tests.cli.test_shown import HOSTILE
from tests.report.conftest import CHROMIUM
from tests.stats import results

from coldwarm.cli.main import cli
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Measured
from coldwarm.report.formats import html
from coldwarm.runner import recompute
from coldwarm.stats.costs import gather
from coldwarm.stats.planning import grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed here"),
]
DRAWN = "id => document.getElementById(id).querySelector('.drawing').classList.contains('drawn')"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up.write(tmp_path_factory.mktemp("page") / "run", 2, 400, 3)


@pytest.fixture(scope="module")
def measured(run: Path) -> Measured:
    return recompute.read(run)


@pytest.fixture(scope="module")
def file(run: Path) -> Path:
    found = CliRunner().invoke(cli, ["report", str(run)], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    assert found.output.strip() == str(run / "report.html")
    return run / "report.html"


@pytest.fixture
def opened(visit: Callable[..., Page], file: Path) -> Callable[..., Page]:
    def open_page(path: Path = file, width: int = 1280, **options: Any) -> Page:
        return visit(path, width, **options)

    return open_page


def show(page: Page, figure: str) -> None:
    page.evaluate(
        "id => document.getElementById(id).closest('.fold')?.setAttribute('open', '')", figure
    )
    page.locator(f"#{figure}").scroll_into_view_if_needed()
    page.wait_for_function(DRAWN, arg=figure)


def figures(page: Page) -> list[str]:
    found: list[str] = page.eval_on_selector_all("figure[data-kind]", "all => all.map(f => f.id)")
    return found


def rows(page: Page, figure: str, name: str) -> list[dict[str, Any]]:
    show(page, figure)
    code = "([id, name]) => document.getElementById(id).drawn.view.data(name)"
    found: list[dict[str, Any]] = page.evaluate(code, [figure, name])
    return found


def cells(page: Page, place: int) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "#verdict-table tbody tr:not([hidden])",
        f"rows => rows.map(r => r.cells[{place}].innerText.trim())",
    )
    return found


def test_every_figure_is_drawn_without_a_request_or_a_complaint(
    opened: Callable[..., Page],
) -> None:
    page = opened()
    found = figures(page)
    kinds = {name.partition("-")[2] for name in found}
    assert {"answer", "cold", "first_call", "warm_points", "break_even", "memory", "job"} <= kinds
    for figure in found:
        show(page, figure)


def test_the_first_line_is_the_answer(opened: Callable[..., Page]) -> None:
    page = opened()
    first = page.locator(".said p").first
    assert first.is_visible()
    assert "calls" in first.inner_text()
    assert (first.bounding_box() or {"y": 999})["y"] < 300  # seen without scrolling


def test_figures_hold_the_numbers_of_the_stored_result(
    opened: Callable[..., Page], measured: Measured
) -> None:
    page = opened()
    case = next(iter(measured.cases.values()))
    wholes = [
        row for row in rows(page, "r0w0-cold", "cold_wholes") if row["candidate"] == case.candidate
    ]
    stored = {one.cache_mode: one.seconds["ttfr_process"].median for one in case.cold}
    assert {row["cache_mode"]: row["median_s"] for row in wholes} == stored
    drawn = [
        row["seconds"]
        for row in rows(page, "r0w0-warm_points", "warm_samples")
        if row["candidate"] == case.candidate
    ]
    samples = [
        value
        for seen in case.observations
        if "warm_process" in seen.judgements
        for block in seen.blocks
        for value in block.samples_s
    ]
    assert drawn == samples


def test_sorting_puts_rows_in_order_and_says_so(opened: Callable[..., Page]) -> None:
    page = opened()
    heading = page.locator("#verdict-table th", has_text="Median")
    for order, reverse in (("ascending", False), ("descending", True)):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == order
        values = page.eval_on_selector_all(
            "#verdict-table tbody tr", "rows => rows.map(r => Number(r.cells[3].dataset.value))"
        )
        assert values == sorted(values, reverse=reverse)


def test_filters_leave_what_they_name(opened: Callable[..., Page]) -> None:
    page = opened()
    every = len(cells(page, 0))
    page.locator("input[name=text]").fill("work01 jax")
    assert set(cells(page, 1)) == {"jax_jit_cpu"}
    assert set(cells(page, 0)) == {"work01 · 512 · f32"}
    page.locator("input[name=text]").fill("")
    page.locator("select[name=what]").select_option("warm call")
    assert set(cells(page, 2)) == {"warm call"}
    assert page.locator(".filters output").inner_text() == f"{len(cells(page, 2))} of {every}"


def test_the_controls_choose_a_job_whose_costs_are_those_of_the_plan(
    opened: Callable[..., Page], measured: Measured
) -> None:
    page = opened()
    cases = [case for case in measured.cases.values() if case.workload == "work00"]
    modes = {mode for case in cases for mode in case.protocol.cache_modes}
    settings = grid(gather("work00", cases).known, modes)
    show(page, "r0w0-job")
    form = page.locator("#r0w0-job .controls")
    form.get_by_label("empty in the first, then kept").check()
    form.locator("select[name=processes]").select_option("100")
    form.locator("select[name=shapes]").select_option("10")
    wanted = next(
        one for one in settings if (one.caches, one.processes, one.shapes) == ("kept", 100, 10)
    )
    page.wait_for_function(
        "n => document.getElementById('r0w0-job').drawn.view.data('job_totals')[0].calls === n",
        arg=wanted.calls[0],
    )
    for name, curve in wanted.curves.items():
        drawn = [one for one in rows(page, "r0w0-job", "job_totals") if one["candidate"] == name]
        assert [one["total_s"] for one in drawn] == curve.total_s
        assert [one["low_s"] for one in drawn] == curve.low_s
        assert [one["high_s"] for one in drawn] == curve.high_s
    slider = form.get_by_role("slider")
    slider.focus()
    page.keyboard.press("End")
    assert form.locator("output").inner_text() == "1,000,000"
    said = page.locator("#r0w0-job .says").inner_text()
    assert said.startswith(f"1,000,000 calls: {wanted.cheapest[-1]} ")
    page.wait_for_function(
        "() => document.getElementById('r0w0-job').drawn.view.data('job_calls')[0].calls === 1e6"
    )
    page.keyboard.press("ArrowLeft")
    assert form.locator("output").inner_text() == "500,000"


def test_what_is_folded_opens_by_the_keyboard_and_has_the_data(opened: Callable[..., Page]) -> None:
    page = opened()
    show(page, "r0w0-cold")
    summary = page.locator("#r0w0-cold details.data > summary")
    summary.focus()
    page.keyboard.press("Enter")
    table = page.locator("#r0w0-cold .rows table").first
    table.wait_for()
    assert table.locator("tbody tr").count() > 0
    with page.expect_download() as begun:
        page.locator("#r0w0-cold .rows button").first.click()
    text = Path(begun.value.path()).read_text(encoding="utf-8")
    assert text.splitlines()[0].startswith("candidate,cache_mode,")


def test_raw_data_downloads_with_all_digits(
    opened: Callable[..., Page], measured: Measured
) -> None:
    page = opened()
    page.locator("#raw summary").click()
    with page.expect_download() as begun:
        page.locator('button.get[data-set="samples"]').first.click()
    lines = Path(begun.value.path()).read_text(encoding="utf-8").splitlines()
    place = lines[0].split(",").index("call_s")
    cases = [case for case in measured.cases.values() if case.workload == "work00"]
    stored = [
        value
        for case in cases
        for seen in case.observations
        for block in seen.blocks
        for value in block.samples_s
    ]
    assert [float(line.split(",")[place]) for line in lines[1:]] == stored


def test_a_link_opens_what_is_folded_and_paper_shows_all_of_it(
    opened: Callable[..., Page],
) -> None:
    page = opened()
    folded = page.locator("main .fold:not([open])")
    before = folded.count()
    page.evaluate("location.hash = '#how'")
    page.locator("#how > .fold[open]").wait_for()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert folded.count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert folded.count() == before - 1


def test_of_one_workload_the_starts_follow_the_answer(
    visit: Callable[..., Page], tmp_path: Path
) -> None:
    run = made_up.write(tmp_path / "run", 1, 40, 3)
    CliRunner().invoke(cli, ["report", str(run)], catch_exceptions=False)
    page = visit(run / "report.html", 1280)
    assert page.locator("#answers figure[data-kind=cold]").count() == 1
    assert page.locator("figure[data-kind=cold]").count() == 1


def test_the_first_tab_offers_the_answers(opened: Callable[..., Page]) -> None:
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answers"
    page.keyboard.press("Enter")
    assert page.url.endswith("#answers")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_the_button(opened: Callable[..., Page], scheme: str) -> None:
    page = opened(color_scheme=scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    grounds = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}
    assert page.evaluate(ground) == grounds[scheme]
    show(page, "r0w0-answer")
    page.locator("#theme").click()
    other = "dark" if scheme == "light" else "light"
    assert page.evaluate(ground) == grounds[other]
    page.wait_for_function(
        "other => document.getElementById('r0w0-answer').drawnAs.startsWith(other)", arg=other
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_serious(opened: Callable[..., Page], width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(width=width, color_scheme=scheme)
    for figure in figures(page)[:6]:
        show(page, figure)
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    page.locator("#r0w0-cold .rows table").first.wait_for()
    found = axe.Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in {"serious", "critical"}]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []


def test_a_narrow_window_is_never_scrolled_sideways(opened: Callable[..., Page]) -> None:
    page = opened(width=400)
    for figure in figures(page):
        show(page, figure)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_without_scripts_answers_and_tables_are_there(opened: Callable[..., Page]) -> None:
    page = opened(java_script_enabled=False)
    assert "calls" in page.locator(".said p").first.inner_text()
    assert page.locator("#verdict-table tbody tr").count() > 0
    assert page.get_by_text("drawn by this page’s own script").first.is_visible()


NAMES = (
    "f",
    "torch_compile_reduce_overhead_cpu",
    "a_name_without_any_place_to_break_it_in_sixty_characters_here",
    "fit@numpy-2.4",
    "names with places to break them, and many of these",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [320, 400])
def test_the_table_of_verdicts_is_whole_in_a_narrow_window(
    opened: Callable[..., Page], width: int, name: str
) -> None:
    page = opened(width=width)
    page.evaluate(
        "name => document.querySelectorAll('#verdict-table td.name').forEach("
        "cell => { cell.firstChild.after(name); })",
        name,
    )
    sizes = page.eval_on_selector_all(
        ".scroll:has(> #verdict-table)",
        "all => all.map(s => [s.scrollWidth - s.clientWidth, s.scrollHeight - s.clientHeight])",
    )
    assert sizes == [[0, 0]], "nothing of it has to be scrolled to"
    beyond = (
        "(cells, width) => cells.filter(c => c.offsetParent && "
        "c.getBoundingClientRect().right > width).length"
    )
    assert page.eval_on_selector_all("#verdict-table :is(td, th)", beyond, width) == 0
    last = "rows => rows.map(r => [...r.cells].filter(c => c.offsetParent).at(-1).innerText)"
    said = page.eval_on_selector_all("#verdict-table tbody tr", last)
    assert any("slower" in one for one in said)


def test_the_table_of_a_comparison_is_whole_in_a_narrow_window(
    visit: Callable[..., Page], run: Path, tmp_path: Path
) -> None:
    other = made_up.write(tmp_path / "other", 2, 400, 3, seed=1)
    out = tmp_path / "compared.html"
    asked = ["--compare", str(run), str(other), "--out", str(out)]
    CliRunner().invoke(cli, ["report", *asked], catch_exceptions=False)
    page = visit(out, 400)
    found = page.eval_on_selector_all(
        ".scroll:has(> #verdict-table)", "all => all.map(s => s.scrollWidth - s.clientWidth)"
    )
    assert found == [0]
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_every_figure_is_drawn_though_nobody_scrolls(
    opened: Callable[..., Page], width: int, scheme: str
) -> None:
    page = opened(width=width, color_scheme=scheme)
    page.wait_for_function("() => document.documentElement.dataset.drawn")
    assert page.evaluate("scrollY") == 0
    marks = "all => all.map(one => one.querySelectorAll('svg path, svg text, canvas').length)"
    assert min(page.eval_on_selector_all("figure .drawing", marks)) > 0
    assert page.locator("figure .drawing:not(.drawn)").count() == 0


@pytest.mark.parametrize("at_once", [False, True])
def test_what_is_printed_by_the_browser_has_its_figures_on_light_paper(
    opened: Callable[..., Page], tmp_path: Path, *, at_once: bool
) -> None:
    """ALSO where it is printed without the page's own button, from dark colours."""
    page = opened(color_scheme="dark")
    if at_once:
        page.wait_for_function("() => window.vegaEmbed")
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function("() => document.documentElement.dataset.drawn")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    light = (
        "() => [...document.querySelectorAll('figure')].every(f => f.drawnAs?.startsWith('light'))"
    )
    page.wait_for_function(light)
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("() => document.documentElement.dataset.theme ?? null") is None
    page.wait_for_function(light.replace("light", "dark"))
    out = tmp_path / "page.pdf"
    page.pdf(path=out)
    read = shutil.which("pdftotext")
    if read is not None:
        done = subprocess.run([read, str(out), "-"], capture_output=True, text=True, check=True)
        assert done.stdout.count("seconds to the first result") >= len(
            [one for one in figures(page) if one.endswith("-cold")]
        )


def test_a_whole_run_is_drawn_before_it_is_printed(opened: Callable[..., Page]) -> None:
    page = opened(color_scheme="dark")
    page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    page.locator("#print").click()
    page.wait_for_function("() => window.printed")
    assert page.locator("figure .drawing:not(.drawn)").count() == 0


def test_what_changed_has_a_page_of_its_own(
    opened: Callable[..., Page], run: Path, tmp_path: Path
) -> None:
    other = made_up.write(tmp_path / "other", 2, 400, 3, seed=1)
    out = tmp_path / "changes.html"
    asked = ["--compare", str(run), str(other), "--out", str(out)]
    CliRunner().invoke(cli, ["report", *asked], catch_exceptions=False)
    page = opened(out)
    for figure in figures(page):
        show(page, figure)
    assert {"ratios-ratios", "w0-cold", "w1-warm_ecdf"} <= set(figures(page))
    assert " figures of 6 cases: " in page.locator(".said .first").inner_text()
    page.locator("select[name=what]").select_option("warm call")
    assert len(cells(page, 0)) == 6


def test_text_of_others_is_shown_and_obeyed_by_nothing(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    text = "".join(HOSTILE) + '"><script>alert(1)</script><img src=x onerror="alert(2)">'
    case = results.case(0)
    seen = [structs.replace(one, stderr_tail=text, status="failed") for one in case.observations]
    case = structs.replace(
        case,
        protocol=structs.replace(case.protocol, data_layout=text, sync_policy=text),
        limitations=[because("stated", text=text)],
        observations=[*case.observations[1:], *seen[:1]],
    )
    one = Measured(
        path=text,
        suite=None,
        cases={case.case: case},
        files={},
        environment_sha256="",
        environment=None,
    )
    page_file = tmp_path / "page.html"
    page_file.write_bytes(html.FORMAT.files([one, one], "page.html")["page.html"])
    page = opened(page_file)
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    assert page.locator("img, main script").count() == 0
    told = page.locator("body").inner_text()
    assert "<script>alert(1)</script>" in told
    assert "\u202e" not in told
    assert "\x1b" not in told
