"""Nothing that a user can name goes without a place in the reference."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import msgspec
import pytest

import _generate
import coldwarm
import coldwarm.contracts
from _generate import source
from coldwarm.catalogue.spec import SITE, specs

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(coldwarm.__file__).parent
GUIDE = Path(_generate.__file__).parents[1]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reference")
    _generate.generate(PACKAGE, out)
    return out


def has_section(folder: Path, label: str) -> bool:
    return any(f".. _{label}:\n" in page.read_text("utf-8") for page in folder.glob("*.rst"))


def commands(group: click.Group, path: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        yield f"{path} {name}".strip()
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}".strip())


MOST_WORDS = 25_000
"""Of all pages that are written by hand: a person reads what is short."""


def test_the_guide_stays_short() -> None:
    pages = [one for one in GUIDE.rglob("*.md") if not {"_build", "reference"} & {*one.parts}]
    assert sum(len(one.read_text("utf-8").split()) for one in pages) <= MOST_WORDS
    assert len([*(GUIDE / "how-to").glob("*.md")]) <= 13


def test_every_command_has_a_page(reference: Path) -> None:
    group = importlib.import_module("coldwarm.cli.main").cli
    context = click.Context(group)
    names = set(group.list_commands(context)) | set(commands(group))
    assert names
    missing = [n for n in names if not has_section(reference / "commands", f"command-{n}")]
    assert missing == []


@pytest.mark.parametrize("kind", ["patterns", "claims"])
def test_every_pattern_and_claim_has_its_page_where_its_address_says(
    reference: Path, kind: Literal["patterns", "claims"]
) -> None:
    for one in specs(kind).values():
        path = one.page.removeprefix(f"{SITE}/reference/").removesuffix(".html")
        assert (reference / f"{path}.rst").is_file(), one.page


def test_every_option_of_run_is_listed(reference: Path) -> None:
    group = importlib.import_module("coldwarm.cli.main").cli
    run = group.get_command(click.Context(group), "run")
    page = (reference / "commands" / "run.rst").read_text("utf-8")
    options = [p for p in run.params if isinstance(p, click.Option) and not p.hidden]
    assert options
    assert [option.name for option in options if f".. option:: {option.opts[0]}" not in page] == []


def test_every_workload_has_a_page(reference: Path) -> None:
    files = [p.stem for p in (PACKAGE / "workloads").rglob("*.py") if not p.stem.startswith("_")]
    assert files
    missing = [n for n in files if not has_section(reference / "workloads", f"workload-{n}")]
    assert missing == []


def test_every_built_in_backend_has_a_section(reference: Path) -> None:
    names = [
        entry.name
        for entry in entry_points(group="coldwarm.backends")
        if entry.module.startswith("coldwarm.")
    ]
    assert names
    missing = [n for n in names if not has_section(reference / "backends", f"backend-{n}")]
    assert missing == []


def test_every_public_record_has_a_section_with_every_field(reference: Path) -> None:
    records = {
        record
        for module in pkgutil.iter_modules(coldwarm.contracts.__path__, "coldwarm.contracts.")
        for record in vars(importlib.import_module(module.name)).values()
        if inspect.isclass(record) and issubclass(record, msgspec.Struct)
        if record.__module__ == module.name and not record.__name__.startswith("_")
    }
    assert records
    for record in records:
        stem = record.__module__.rpartition(".")[2]
        page = (reference / "records" / f"{stem}.rst").read_text("utf-8")
        section = page.partition(f".. _record-{record.__name__}:\n")[2].partition(".. _record-")[0]
        fields = record.__struct_encode_fields__
        assert [f for f in fields if f"\n``{f}`` : " not in section] == [], record


def test_every_public_name_has_a_section(reference: Path) -> None:
    names = set(coldwarm.__all__) - {"__version__"}
    assert [n for n in names if not has_section(reference / "api", f"api-{n}")] == []


def test_every_page_of_the_guide_is_of_one_kind_and_in_the_index() -> None:
    index = (GUIDE / "index.md").read_text("utf-8")
    kinds = ("tutorial", "how-to", "explanation", "results")
    files = [*GUIDE.rglob("*.md"), *GUIDE.rglob("*.ipynb")]
    pages = [page.relative_to(GUIDE).with_suffix("") for page in files]
    pages = [page for page in pages if page.parts[0] not in {"reference", "_build", "index"}]
    assert [str(page) for page in pages if page.parts[0] not in (*kinds, "output")] == []
    assert [str(page) for page in pages if f"\n{page.as_posix()}\n" not in index] == []


def test_the_versions_that_the_guide_names_are_those_that_are_pinned() -> None:
    page = (GUIDE / "how-to" / "install.md").read_text("utf-8")
    pins = (GUIDE.parent / "constraints" / "cpu.txt").read_text("utf-8")
    for name in ("NumPy", "JAX", "SciPy", "Numba"):
        versions = re.findall(rf"^{name.lower()}==(\S+)", pins, re.MULTILINE)
        assert f"| {name} | {versions[0]} | {versions[-1]} |" in page


README = GUIDE.parent / "README.md"
FIRST_SCREEN = 45
MOST_OUTPUT = 150_000
USERS = ("200 short fits", "pull request", "JAX script is slow", "JAX is 3× faster", "I publish")


def test_the_first_screen_of_the_readme_has_a_command_a_picture_an_answer_and_the_ways_on() -> None:
    text = "\n".join(README.read_text("utf-8").splitlines()[:FIRST_SCREEN])
    picture = re.search(r"!\[[^\]]+\]\((\S+\.svg)\)", text)
    assert picture
    assert (README.parent / picture[1]).is_file()
    assert "pip install '.[" in text
    assert "uvx --from '.[" in text
    assert "\ncoldwarm bench " in text
    assert [one for one in USERS if one not in text] == []
    home = (GUIDE / "index.md").read_text("utf-8")
    assert [one for one in USERS if one not in home] == []


def test_what_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", README.read_text("utf-8"))
    assert len(links) > len(USERS)
    assert [one for one in links if not (README.parent / one).exists()] == []


def test_the_picture_shows_what_the_readme_says() -> None:
    text = README.read_text("utf-8")
    picture = (GUIDE / "_static" / "bench.svg").read_text("utf-8")
    labels = set(re.findall(r"(fit_\w+)\.py:fit", text))
    assert labels
    assert [one for one in labels if one not in picture] == []
    drawn = re.sub(r"<[^>]+>|\s+|&#160;", "", picture)
    said = text.partition("bench.svg)")[2].partition("\n| ")[0]
    numbers = re.findall(r"\d+,\d+", said)
    ratios = [
        f"{low}–{high}×" for low, high in re.findall(r"([\d.]+)\s+to\s+([\d.]+)\s+times", said)
    ]
    assert numbers
    assert len(ratios) == 3
    assert [one for one in (*numbers, *ratios) if one not in drawn] == []


def notebooks() -> list[Path]:
    return sorted((GUIDE / "tutorial").glob("*.ipynb"))


@pytest.mark.parametrize("page", notebooks(), ids=lambda page: page.name)
def test_a_notebook_is_committed_as_it_was_executed(page: Path) -> None:
    cells = json.loads(page.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    outputs = [one for cell in code for one in cell["outputs"]]
    assert not [one for one in outputs if one["output_type"] == "error"]
    assert 0 < len(json.dumps(outputs)) < MOST_OUTPUT


@pytest.mark.slow
@pytest.mark.parametrize("page", notebooks(), ids=lambda page: page.name)
def test_a_notebook_runs_to_its_end(page: Path, tmp_path: Path) -> None:
    """With less time and fewer fits than the one that is shown."""
    for name in ("jax", "numba", "matplotlib", "nbclient"):
        pytest.importorskip(name)
    folder = tmp_path / "tutorial"
    shutil.copytree(page.parent, folder, ignore=shutil.ignore_patterns("out"))
    copy = folder / page.name
    text = copy.read_text("utf-8")
    shorter = text.replace("time_budget_s=90", "time_budget_s=75").replace("range(200)", "range(9)")
    assert shorter != text
    copy.write_text(shorter, encoding="utf-8")
    program = """
import sys, nbformat
from nbclient import NotebookClient
NotebookClient(nbformat.read(sys.argv[1], 4), timeout=200, kernel_name="python3").execute()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, copy.name],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_page_of_what_is_gone_is_removed(tmp_path: Path) -> None:
    left_over = tmp_path / "workloads" / "gone.rst"
    left_over.parent.mkdir()
    left_over.write_text("Gone\n====\n", encoding="utf-8")
    pages = _generate.generate(PACKAGE, tmp_path)
    assert not left_over.exists()
    assert sorted(pages) == sorted(one for one in tmp_path.rglob("*") if one.is_file())


def test_an_unchanged_page_is_not_written_again(tmp_path: Path) -> None:
    before = {page: page.stat().st_mtime_ns for page in _generate.generate(PACKAGE, tmp_path)}
    after = {page: page.stat().st_mtime_ns for page in _generate.generate(PACKAGE, tmp_path)}
    assert before == after


def test_a_missing_docstring_is_an_error_that_names_the_file() -> None:
    with pytest.raises(source.UndocumentedError, match=r"bare\.py has no docstring"):
        source.docstring(ast.parse("NAME = 'bare'"), "bare.py")
