"""Texts that mean harm, in every field of a result, are shown in each format and obeyed in none."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from tests.publish import spoiled
from tests.stats.repeating import run

from coldwarm.cli import _options
from coldwarm.contracts.policy import Policy
from coldwarm.errors import is_plain
from coldwarm.report import bench, comparison_text, formats, github, markdown, terminal, view
from coldwarm.report.shown import PlainConsole
from coldwarm.runner import recompute
from coldwarm.stats.bench_report import bench_report
from coldwarm.stats.comparable import FIELDS
from coldwarm.stats.compared_results import compare_results

if TYPE_CHECKING:
    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import Measured

CHROMIUM = Path("/usr/bin/chromium")
HANDLERS = re.compile(r"on[a-z]+")
COMMAND = re.compile(r"::(?:notice|warning|error) (?:file=[^,]*,)?title=[^:]*::")


@pytest.fixture(scope="module")
def hostile() -> Measured:
    """A result with such texts in every field."""
    return spoiled.measured(run(1, n=6))


@pytest.fixture(scope="module")
def real(measured: Path) -> Measured:
    """One that was measured, with such texts in every field."""
    return spoiled.measured(recompute.read(measured))


@pytest.fixture(scope="module")
def comparison(hostile: Measured) -> RunComparison:
    """A comparison of two of them."""
    other = spoiled.measured(run(2, n=6, speed=1.3))
    assert other.suite is not None
    return spoiled.record(compare_results([hostile], [other], Policy(), FIELDS))


def plain(text: str) -> None:
    """Look that a text controls nothing, character by character."""
    assert [c for c in text if c != "\n" and not is_plain(c)] == []


class Page(HTMLParser):
    """What a browser would make of a page: elements, and what they would do."""

    def __init__(self, text: str) -> None:
        """Read it."""
        super().__init__()
        self.tags: list[str] = []
        self.does: list[tuple[str, str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element, and attributes that are executed or loaded."""
        self.tags.append(tag)
        for name, value in attrs:
            text = (value or "").strip().lower()
            if HANDLERS.fullmatch(name) or text.startswith(
                ("javascript:", "data:text", "vbscript")
            ):
                self.does.append((tag, name, text[:80]))


def of(form: str, found: Measured) -> dict[str, bytes]:
    return formats.load(form).files([found], "report")


def test_every_field_has_such_a_text(hostile: Measured) -> None:
    """GIVEN the spoiled result THEN what is free text is such a text, and names are such names."""
    [case, _] = hostile.cases.values()
    for text in (case.dataset_id, case.protocol.data_layout, case.observations[0].started_at):
        assert text.startswith(spoiled.BAD)
    for name in (case.case, case.workload, case.candidate, case.backend):
        assert name.startswith(spoiled.NAME)
    assert hostile.environment is not None
    assert (hostile.environment.cpu.model or "").startswith(spoiled.BAD)
    assert all(name.startswith(spoiled.BAD) for name in hostile.environment.distributions)


def test_markdown(hostile: Measured, comparison: RunComparison) -> None:
    [data] = of("markdown", hostile).values()
    assert hostile.suite is not None
    texts = [
        data.decode(),
        markdown.text(view.document(hostile.suite, list(hostile.cases.values()), verbose=True)),
        markdown.text(comparison_text.document(comparison, everything=True)),
    ]
    markdown_it = pytest.importorskip("markdown_it")
    for text in texts:
        plain(text)
        page = Page(markdown_it.MarkdownIt("gfm-like", {"linkify": False}).render(text))
        assert not {"script", "img", "iframe", "svg", "object"} & set(page.tags)
        assert page.does == []


def test_a_terminal(hostile: Measured, comparison: RunComparison) -> None:
    out = io.StringIO()
    console = PlainConsole(file=out, width=100, force_terminal=False)
    assert hostile.suite is not None
    terminal.show(view.document(hostile.suite, list(hostile.cases.values()), verbose=True), console)
    terminal.show(comparison_text.document(comparison, everything=True), console)
    plain(out.getvalue())
    assert not [line for line in out.getvalue().splitlines() if line.strip().startswith("::")]


def test_a_picture_of_a_terminal(hostile: Measured) -> None:
    console = PlainConsole(record=True, width=80, file=io.StringIO(), force_terminal=True)
    assert hostile.suite is not None
    terminal.show(view.document(hostile.suite, list(hostile.cases.values())), console)
    harmless_svg(console.export_svg(title="coldwarm").encode())


def test_json(hostile: Measured) -> None:
    for one in (*hostile.cases.values(), hostile.environment):
        text = _options.record_text(one)
        plain(text)
        json.loads(text)


def test_annotations_of_a_workflow(hostile: Measured, comparison: RunComparison) -> None:
    cases = list(hostile.cases.values())
    assert hostile.suite is not None
    report, _ = bench_report(hostile.suite, cases, "out", Policy())
    for text in (
        github.text(bench.document(report, hostile.suite, cases)),
        github.text(
            comparison_text.document(comparison, defaultdict(lambda: spoiled.BAD), everything=True)
        ),
    ):
        plain(text)
        assert [line for line in text.splitlines() if not COMMAND.match(line)] == []


def test_html(hostile: Measured) -> None:
    pytest.importorskip("jinja2")
    text, usual = (next(iter(of("html", one).values())).decode() for one in (hostile, run(1, n=6)))
    plain(text.replace("\t", ""))  # which the scripts of the page have
    page = Page(text)
    assert page.tags.count("script") == Page(usual).tags.count("script")
    assert set(page.tags) <= set(Page(usual).tags) | {"li", "p", "details", "summary", "ul"}
    assert page.does == []
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text


def test_html_in_a_browser(hostile: Measured, tmp_path: Path) -> None:
    if not CHROMIUM.exists():
        pytest.skip("there is no Chromium here")
    api = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("jinja2")
    file = tmp_path / "report.html"
    [data] = of("html", hostile).values()
    file.write_bytes(data)
    told: list[str] = []
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("dialog", lambda one: told.append(f"dialog {one.message}"))
        page.on("dialog", lambda one: one.dismiss())
        page.on("pageerror", lambda one: told.append(f"error {one}"))
        page.on("request", lambda one: told.append(one.url) if one.url[:5] != "file:" else None)
        page.on("console", lambda one: told.append(one.text) if one.type == "error" else None)
        page.goto(file.as_uri())
        page.wait_for_timeout(1500)
        assert page.locator("img[src='x']").count() == 0
        browser.close()
    assert [one for one in told if not one.startswith(("data:", "blob:"))] == []


def harmless_svg(data: bytes) -> None:
    """Look that a picture draws, and does nothing else."""
    plain(data.decode())
    for one in ET.fromstring(data).iter():  # noqa: S314 - made here, and that is what is tested
        tag = one.tag.rpartition("}")[2]
        assert tag not in {"script", "foreignObject", "iframe", "image", "animate", "set"}
        for name, value in one.attrib.items():
            assert not HANDLERS.fullmatch(name.rpartition("}")[2]), (tag, name)
            if name.endswith("href"):
                assert value.startswith("#"), value


@pytest.mark.slow
def test_svg(real: Measured) -> None:
    pytest.importorskip("vl_convert")
    made = of("svg", real)
    assert made
    for name, data in made.items():
        assert re.fullmatch(r"[\w.+-]+\.svg", name), name
        harmless_svg(data)


@pytest.mark.slow
def test_png(real: Measured) -> None:
    pytest.importorskip("vl_convert")
    for name, data in of("png", real).items():
        assert re.fullmatch(r"[\w.+-]+\.png", name), name
        assert data.startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.slow
def test_pdf(real: Measured) -> None:
    pytest.importorskip("typst")
    [data] = of("pdf", real).values()
    whole = data + b"".join(unpacked(data))
    assert not re.search(rb"/(JavaScript|JS|Launch|OpenAction|EmbeddedFile|SubmitForm)\b", whole)
    for address in re.findall(rb"/URI\s*\(([^)]*)\)", whole):
        assert address.startswith((b"https://", b"mailto:")), address


def unpacked(data: bytes) -> list[bytes]:
    """Return what the streams of a PDF hold."""
    found: list[Any] = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL):
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return found
