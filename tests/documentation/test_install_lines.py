"""There is one way to install coldwarm, and nothing that a reader gets says another."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest
from tests.documentation.pages import ROOT

from coldwarm import installing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_INSTALLS = re.compile(
    r"\b(?:(?:pip|pip3|pipx|conda|mamba|pixi|poetry|pdm|rye|hatch)\s+(?:install|add|run|inject|wheel|download)"
    r"|uv\s+(?:pip\s+install|add|run\s+--with|tool\s+(?:install|run))|uvx)\s(?P<rest>[^\n`#;&|<)]*)"
)
_VALUED = {"-c", "-r", "--constraint", "--requirement", "--index-url", "-i", "--find-links", "-f"}
_INDEXED = re.compile(r"coldwarm(?:\[[^\]]*\])?(?:\s*(?:[=<>!~]=?|@).*)?")
"""A requirement that an index, or somebody's address, is asked for."""
_READ = {".md", ".py", ".typ", ".html", ".js", ".yml", ".yaml", ".ipynb", ".toml", ".txt", ".j2"}


def elsewhere(text: str) -> Iterator[str]:
    """Yield each command of a text that takes coldwarm from where it is not."""
    for found in _INSTALLS.finditer(text.replace('\\"', '"')):
        words = _words(found["rest"])
        if found[0].startswith(("uvx", "uv tool run", "pipx run")):
            at = next((i for i, word in enumerate(words) if word in {"--from", "--spec"}), None)
            words = words[:1] if at is None else words[at + 1 : at + 2]
        taken = [word for i, word in enumerate(words) if not i or words[i - 1] not in _VALUED]
        if any(_INDEXED.fullmatch(word) for word in taken):
            yield found[0]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a sentence goes on behind it
        return [word.strip("'\".,)") for word in text.split()]


def readable() -> Iterator[Path]:
    """Yield what users get to read, or to copy."""
    for folder in ("src", "docs", "examples", "tools", "benchmarks"):
        yield from (ROOT / folder).rglob("*")
    yield from ROOT.glob("*.*")


def test_nothing_is_installed_from_where_it_is_not() -> None:
    if installing.advice() == "pip install coldwarm":
        return
    made = {"reference", "_build", "__pycache__", "results", "out"}
    wrong = {
        f"{path.relative_to(ROOT)}: {one}"
        for path in readable()
        if path.suffix in _READ and path.is_file()
        if not made & set(path.relative_to(ROOT).parts)
        for one in elsewhere(path.read_text("utf-8"))
    }
    assert wrong == set()


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/how-to/install.md"])
def test_the_pages_say_the_one_command(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert installing.advice("jax", "numba").rpartition(", ")[2] in text
    assert "not on PyPI yet" in text
    assert "git+http" not in text


def test_advice_says_where() -> None:
    assert installing.advice("jax") == "in a clone of coldwarm, pip install '.[jax]'"
    assert installing.advice() == "in a clone of coldwarm, pip install ."


@pytest.mark.parametrize(
    "text",
    [
        "pip install coldwarm",
        "pip install coldwarm -e .",
        "- run: pip install 'coldwarm[jax]' -e .",
        "python -m pip install --upgrade coldwarm",
        "pip3 install -U 'coldwarm>=0.1'",
        "pip install coldwarm==0.1.0",
        "uv pip install 'coldwarm[jax,numba]'",
        "uvx coldwarm run",
        "uvx --from coldwarm coldwarm run",
        "uvx --from 'coldwarm[jax]' coldwarm run",
        "uv add coldwarm",
        "uv run --with coldwarm python train.py",
        "uv tool install coldwarm",
        "pipx install coldwarm",
        "pipx run coldwarm run",
        "pipx run --spec coldwarm coldwarm run",
        "conda install coldwarm",
        "poetry add coldwarm",
        "pip install 'coldwarm[jax,numba] @ git+https://github.com/someone/coldwarm'",
        "with DIR, and `pip install coldwarm`: do this",
        "install it (pip install coldwarm) first",
        '"pip install \\"coldwarm[report]\\""',
        "pip install jax coldwarm numba",
    ],
)
def test_a_line_that_is_not_true_is_found(text: str) -> None:
    assert list(elsewhere(text))


@pytest.mark.parametrize(
    "text",
    [
        "pip install '.[jax,numba]'",
        "pip install .",
        "pip install -e .",
        "pip install ./.coldwarm -e .",
        'pip install "$COLDWARM[jax]" -e .',
        "uvx --from '.[jax,numba]' coldwarm run --suite quick",
        "uv pip install -c constraints/cpu.txt '.[jax,torch,numba]'",
        "pipx install '.[jax,numba]'",
        "pipx run --spec . coldwarm run",
        "pip install bottleneck",
        "pip install coldwarm-known-costs",
        "pip install dist/coldwarm-0.1.0-py3-none-any.whl",
        "pip install examples/known-costs",
        "pip install --find-links wheels ./coldwarm",
        "again/bin/pip install --no-deps -r pylock.toml",
    ],
)
def test_a_line_that_is_true_is_not_taken_for_wrong(text: str) -> None:
    assert list(elsewhere(text)) == []
