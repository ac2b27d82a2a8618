"""Writes the reference pages from the sources they describe, before Sphinx reads them.

Workloads and backends are read as syntax trees and never imported: their modules belong to
measured processes. Records, commands, patterns and claims are imported, as no framework comes with
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from _generate import (
    api,
    backends,
    checks,
    claims,
    commands,
    coverage,
    essay,
    harness,
    messages,
    patterns,
    records,
    sources,
    workloads,
)
from _generate.rst import heading, toctree

if TYPE_CHECKING:
    from pathlib import Path

SECTIONS = {
    "commands": commands.pages,
    "patterns": patterns.pages,
    "claims": claims.pages,
    "sources": sources.pages,
    "workloads": workloads.pages,
    "backends": backends.pages,
    "records": records.pages,
    "api": api.pages,
    "messages": messages.pages,
    "harness": harness.pages,
    "coverage": coverage.pages,
    "checks": checks.pages,
}
"""Folder under ``reference/`` and the function that gives its pages by name, ``.rst`` if it says no
other ending."""
PARTS = "_parts"
"""The folder of what other pages include: no pages."""


def generate(package: Path, out: Path) -> list[Path]:
    """Write every reference page, and remove those that nothing stands behind any more.

    Args:
        package: The folder of the ``coldwarm`` package.
        out: The folder to write to. Unchanged pages are left alone, so that Sphinx need not
            read them again.

    Returns:
        The pages, in no order.
    """
    wanted = {out / "index.rst": _index()}
    for section, pages in SECTIONS.items():
        for name, text in pages(package).items():
            wanted[out / section / (name if name.endswith(".md") else f"{name}.rst")] = text
    for name, text in essay.parts(package).items():
        wanted[out / PARTS / f"{name}.rst"] = text
    for page, text in wanted.items():
        page.parent.mkdir(parents=True, exist_ok=True)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
    for page in {one for one in out.rglob("*") if one.is_file()} - set(wanted):
        page.unlink()
    return list(wanted)


def _index() -> str:
    """Return the page above all sections."""
    return (
        heading("Reference")
        + "Generated from the sources of this version at every build.\n\n"
        + toctree([f"{section}/index" for section in SECTIONS])
    )
