"""Programs that nobody here wrote: files, code of pages and notebooks, tests of a package."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("programs.toml")
_BLOCK = re.compile(
    r"^( *)```(?:\{code-cell\}[^\n]*|python|py)\n(.*?)^\1```", re.DOTALL | re.MULTILINE
)
_OPTIONS = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A program of a source distribution."""

    package: str
    """With its version, as the folder is called."""
    path: str
    run: str
    """``script``, ``blocks`` (the code of a page or notebook, put together) or ``pytest``."""
    arguments: tuple[str, ...] = ()
    passes: str = "timing"

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return " ".join([f"{self.package}/{self.path}", *self.arguments])

    def command(self, sources: Path, folder: Path) -> list[str]:
        """Return what stands behind ``python``; code blocks are written into ``folder``."""
        file = sources / self.package / self.path
        if self.run == "pytest":
            test = "::".join([str(file), *self.arguments[:1]])
            quiet = ["-q", "-p", "no:cacheprovider", "--no-header", "--tb=line"]
            return ["-m", "pytest", *quiet, test, *self.arguments[1:]]
        if self.run == "blocks":
            written = folder / (file.stem + ".py")
            page = file.read_text(encoding="utf-8")
            code = cells(page) if file.suffix == ".ipynb" else blocks(page)
            written.write_text(code, encoding="utf-8")
            file = written
        return [str(file), *self.arguments]


def programs() -> list[Program]:
    """Return the programs of the list."""
    written = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [
        Program(
            package=one["package"],
            path=one["path"],
            run=one.get("run", "script"),
            arguments=tuple(one.get("arguments", ())),
            passes=one.get("passes", "timing"),
        )
        for one in written["programs"]
    ]


def blocks(page: str) -> str:
    """Return the Python code of a page in Markdown, without prompts and lines for a notebook.

    Each line stays at the number that it has in the page.
    """
    kept = [""] * (page.count("\n") + 1)
    for found in _BLOCK.finditer(page):
        first = page.count("\n", 0, found.start(2))
        options = _OPTIONS.match(found[2])
        n_options = options[0].count("\n") if options else 0
        prompted = re.search(r"^>>> ", found[2], re.MULTILINE) is not None
        for at, line in enumerate(found[2].splitlines()):
            if at >= n_options and not line.startswith((":", "!", "%")):
                kept[first + at] = _unprompted(line) if prompted else line.removeprefix(found[1])
    return "\n".join(kept) + "\n"


def cells(notebook: str) -> str:
    """Return the code of a notebook, cell by cell, without lines for the notebook itself."""
    found = json.loads(notebook)["cells"]
    code = "\n".join("".join(one["source"]) for one in found if one["cell_type"] == "code")
    return re.sub(r"^[!%].*$", "", code, flags=re.MULTILINE) + "\n"


def _unprompted(line: str) -> str:
    """Return what is typed behind a prompt; of what is printed, nothing."""
    return line[4:] if line.startswith((">>> ", "... ")) else ""
