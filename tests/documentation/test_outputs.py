"""What a page shows of the committed results is what the command prints of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tests.documentation.pages import ROOT

PAGES = ("bench", "plan")
CELLS = 6
"""First result, total and share compiling, with empty and with filled caches."""
SHOWN = re.compile(
    r"^```text\n(?:\$ tar [^\n]*\n)?\$ (?P<command>coldwarm (?:[^\n]*\\\n)*[^\n]*)\n"
    r"(?P<output>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def shown() -> list[tuple[str, str]]:
    """Return the commands of the pages that read the committed results, each with its output."""
    texts = [(ROOT / "docs" / "how-to" / f"{page}.md").read_text("utf-8") for page in PAGES]
    found = [one for text in texts for one in SHOWN.finditer(text)]
    return [
        (re.sub(r"\s*\\\n\s*", " ", one["command"]), one["output"])
        for one in found
        if "/results/ml" in one["command"]
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the archive is unpacked in, as the page says."""
    folder = tmp_path_factory.mktemp("unpacked")
    (archive,) = (ROOT / "docs" / "results").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder


def test_each_page_shows_some() -> None:
    assert len(shown()) == 3


@pytest.mark.parametrize(("command", "output"), shown(), ids=range(len(shown())))
def test_what_is_shown_is_what_is_printed(command: str, output: str, results: Path) -> None:
    if "jq" in command and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=results,
        env={**os.environ, "PATH": programs, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    at = 0
    for part in re.split(r"^…\n", output, flags=re.MULTILINE):
        lines = part.rstrip("\n").split("\n") if part.strip() else []
        places = range(at, len(printed) - len(lines) + 1)
        found = next((i for i in places if printed[i : i + len(lines)] == lines), None)
        assert found is not None, f"not printed:\n{part}"
        at = found + len(lines)


def test_the_page_of_scenarios_has_the_committed_totals(results: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "coldwarm", "show", *results.glob("*/results/scenarios")],
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    rows: dict[str, list[str]] = {}
    printed: dict[str, dict[str, list[str]]] = {}
    for line in done.stdout.partition("spent compiling, in whole loops")[2].splitlines()[4:]:
        name, *cells = re.split(r"\s{2,}", line.strip())
        if line[:1] != " " and name:
            rows = printed.setdefault(name.split()[0], {})
        elif len(cells) == CELLS:
            rows[name.removesuffix("_cpu")] = cells
    page = (ROOT / "docs" / "explanation" / "scenarios.md").read_text("utf-8")
    tables = re.findall(r"^\| scenario \| (`.*`) \|\n.*\n((?:\|.*\n)+)", page, re.MULTILINE)
    for at, (names, body) in zip((1, 4), tables, strict=True):
        for line in body.splitlines():
            scenario, *told = line.strip("| ").split(" | ")
            rows = printed[scenario]
            found = [rows[name.strip("`")][at : at + 2] for name in names.split(" | ")]
            assert told == [", ".join(one).replace("%", " %").removesuffix(", –") for one in found]
