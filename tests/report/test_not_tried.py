"""What was not tried with other data is said wherever a figure is shown, to whoever reads it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html import unescape
from typing import TYPE_CHECKING

import pytest
from tests.started import coldwarm

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
import json
import numpy as np
import coldwarm

A = np.random.default_rng(0).normal(size=(60, 60))

def over_a_global():
    return float(np.abs(A @ A).sum())

def slowly():
    return float(sum(np.abs(A @ A).sum() for _ in range(30)) / 30)

def by_name(x, how="max"):
    return float(getattr(np.abs(x), how)())

if __name__ == "__main__":
    one = coldwarm.Benchmark(cold=False)(over_a_global)
    two = coldwarm.Benchmark(cold=False, processes=5)({"a": slowly, "b": over_a_global})
    some = coldwarm.Benchmark(cold=False)(by_name, np.ones(2000), how="max")
    for found in (one, two, some):
        print(json.dumps([repr(found), found._repr_html_(), found._repr_markdown_()]))
"""
WHOLE = "not tried with other data: it has no arguments"
SOME = "tried with other data in x, not in how (how: coldwarm can make no other data of it)"
BESIDE = re.compile(r"× faster \(not tried\)")
UNTOLD = re.compile(
    r"not decided\W+over_a_global \S+× faster; slowly, over_a_global not tried with other data"
)
FEW = ("--warm-only", "--rounds", "5", "--max-rounds", "5", "--verbose")
FORMS = ("terminal", "stored", "page.html", "page.md", "page.pdf")
FACES = ("text", "html", "markdown")


def _flat(text: str) -> str:
    """Return a text as it is read: in one line, without what draws it."""
    return " ".join(unescape(re.sub(r"<[^>]+>|\\n", " ", text)).replace("\\", "").split())


def _run(folder: Path, *arguments: str) -> str:
    done = coldwarm(*arguments, cwd=folder, timeout_s=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two results: of functions without arguments, and of one with a name."""
    made = tmp_path_factory.mktemp("not-tried")
    (made / "fit.py").write_text(SOURCE, encoding="utf-8")
    whole = ("fit.py:slowly", "fit.py:over_a_global", "--out", "whole")
    some = ("fit.py:by_name", "--input", "x=f64[2000]", "--input", "how='max'", "--out", "some")
    for name, asked in {"whole": whole, "some": some}.items():
        (made / f"{name}.txt").write_text(_run(made, "bench", *asked, *FEW), encoding="utf-8")
    return made


def _shown(folder: Path, name: str, form: str) -> str:
    if form == "terminal":
        return (folder / f"{name}.txt").read_text("utf-8")
    if form == "stored":
        return _run(folder, "show", name, "--verbose")
    file = folder / f"{name}-{form}"
    if form == "page.pdf":
        pytest.importorskip("typst")
        if shutil.which("pdftotext") is None:
            pytest.skip("nothing here reads a PDF")
    _run(folder, "report", name, "--out", file.name)
    if form != "page.pdf":
        return file.read_text("utf-8")
    read = ["pdftotext", "-layout", str(file), "-"]
    return subprocess.run(read, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_result_says_what_was_not_tried(folder: Path, form: str) -> None:
    whole = _flat(_shown(folder, "whole", form))
    assert WHOLE in whole
    assert BESIDE.search(whole)
    assert UNTOLD.search(whole)
    assert SOME in _flat(_shown(folder, "some", form))


@pytest.fixture(scope="module")
def faces(folder: Path) -> list[list[str]]:
    """What Python and a notebook show of one function, of two, and of one with a name."""
    done = subprocess.run(
        [sys.executable, "fit.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("face", range(len(FACES)), ids=FACES)
def test_python_and_notebooks_say_what_was_not_tried(faces: list[list[str]], face: int) -> None:
    one, two, some = (_flat(found[face]) for found in faces)
    assert WHOLE in one
    assert WHOLE in two
    assert BESIDE.search(two)
    assert SOME in some
