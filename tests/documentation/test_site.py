"""The site as it is published: every link within it leads somewhere, and verdicts are data too."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from coldwarm.catalogue.spec import SITE, specs

DOCS = Path(__file__).parents[2] / "docs"
WITHOUT_VERSIONS = {"numba-cache-closure", "sensitive-to-caching", "fresh-partial"}
"""Their processes have not told the versions of their frameworks, in one environment at least."""


class Page(HTMLParser):
    """What a page links to, and the anchors that it has."""

    links: list[str]
    anchors: set[str]

    @classmethod
    def of(cls, text: str) -> Page:
        """Read a page."""
        made = cls()
        made.links, made.anchors = [], set()
        made.feed(text)
        return made

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the link or the anchor of an element."""
        for name, value in attrs:
            if value and name in {"href", "src"}:
                self.links.append(value)
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-d", str(out / "read"), str(DOCS)]
    subprocess.run([*command, str(out / "html")], check=True)
    return out / "html"


@pytest.mark.slow
def test_every_link_within_the_site_leads_somewhere(site: Path) -> None:
    pages = {path: Page.of(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = place / "index.html" if place.is_dir() else place
            anchors = pages[place].anchors if place in pages else {parts.fragment}
            if not place.exists() or (parts.fragment and unquote(parts.fragment) not in anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken


@pytest.mark.slow
def test_verdicts_are_published_as_data(site: Path) -> None:
    rows = json.loads((site / "verdicts.json").read_text("utf-8"))["verdicts"]
    assert {one["kind"] for one in rows} == {"pattern", "claim"}
    for one in rows:
        assert one["verdict"]
        unknown = one["verdict"] == "not_tested" or one["id"] in WITHOUT_VERSIONS
        assert one["versions"] or unknown, one["id"]
        if one["id"] in {*specs("patterns"), *specs("claims")}:
            path = one["page"].removeprefix(f"{SITE}/")
            assert (site / path).is_file(), one["page"]
