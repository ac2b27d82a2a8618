"""The commands of README and guide: each is one, and runs where the README's own line installed it.

The slow tests make a fresh environment by that line, and in a copy of the repository run what a
page says, in its order. Budgets are shorter; what a page takes for granted, such as a program of
the reader's or the results of an earlier run, is put there.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from tests.documentation import pages
from tests.documentation.pages import ROOT, Line

from coldwarm.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CANNOT: dict[str, str] = {
    r"^make |^make$": "makes the environment that tests run in, and runs them",
    r"jax-cuda": "needs a GPU",
    r"^(uv|uvx|pipx) ": "needs a tool that the README's line does not bring",
    r"--keyless|--issuer": "needs a person who signs in, and a network",
    r"pylock\.toml|^python -m venv again": "needs pip 26.1, which venv does not bring",
    r"snapshot replicate": "installs all anew and measures for minutes: tests/publish does it",
    r"^python -m benchmarks\.": "takes an hour and more",
    r"^python -m tests\.": "is the test of the tests; the README's line brings no pytest",
    r"^(asv|hyperfine|jq|grep) |\| jq|^for |^python -m pyperf": "is another tool",
    r"^pytest ": "needs pytest; tests/integrations runs these options",
    r"before\.json|before-1\.json|test\.json": "reads what another tool has written",
    r"bottleneck|step_of_adam": "measures a package that the README's line does not bring",
    r"numpy-1\.26": "needs two more environments",
    r"_COMPLETE=": "is for the start-up file of a shell",
    r"\./start-the-server|--read out\.json": "is a program of the reader's",
    r"^pip install -c|\.coldwarm|examples/known-costs": "installs once more what is installed",
    r"known_costs": "needs the plug-in that is installed before it",
    r"claims compare|docs/results/ml-": "reads a large archive, or results of another release",
    r"--suite scenarios|--suite full|^coldwarm run$": "takes half an hour, whatever it is asked",
    r"mlp_train_step": "makes programs ahead of time for minutes",
    r"patterns run$|claims run$": "takes a quarter of an hour: others of the page are run",
    r"benchmarks/guard\.py|out/guard": "tests/cli/test_workflow.py runs it",
    r"package\.module": "is a package of the reader's",
}
"""Which commands are not run, and why."""
_SHORTER = (
    (r"--time-budget \S+(?=.*)(?<!then)", "--min-runs 1 --max-runs 1"),
    (r"(coldwarm (?:bench|run) (?!.*--max-runs).*)", r"\1 --min-runs 1 --max-runs 1"),
    (r"(coldwarm run --suite quick)", r"\1 --backend numpy"),
    (r"(coldwarm noise)", r"\1 numpy:sum --input a=f64[1000]"),
    (r"numpy:sum --input a=f64\[1000\] fit", "fit"),
    (r"--time \S+", "--time 9s"),
    (r"(--then bench)", r"\1 --rounds 2"),
    (r"--input …", "--input x=f32[64,64]"),
    (r"out/DIRECTORY", "out/mine"),
)
_BENCH = "bench a.py:f b.py:f --input x=f32[64,64] --min-runs 2 --max-runs 2"
_PROGRAM = "def f(x):\n    return (x * 2.0).sum()\n"
_STEP = """
import jax

@jax.jit
def step(w, x, y):
    return w - 0.1 * jax.grad(lambda w: ((x @ w - y) ** 2).mean())(w)

def fit(x):
    return x.sum()
"""
THERE = {
    "a.py": _PROGRAM,
    "b.py": _PROGRAM.replace("2.0", "1.0 * 2"),
    "fit.py": _STEP,
    "smooth.py": "def smooth(x):\n    return (x[1:] + x[:-1]) / 2\n",
    "lazily.py": "def total(x):\n    return x.sum()\n",
    "policy.toml": "fail_on = {}\n",
}
"""Programs and files of the reader's."""


def commands(line: Line) -> Iterator[list[str]]:
    """Yield the words behind each ``coldwarm`` of a line."""
    cut = shlex.shlex(line.text, posix=True, punctuation_chars=";&|()")
    cut.whitespace_split, cut.commenters = True, ""
    for ends, words in groupby(cut, lambda word: set(word) <= set(";&|()")):
        first, *others = words
        if not ends and first == "coldwarm":
            yield others


OURS = [line for line in pages.every() if any(commands(line))]


def check(line: Line) -> None:
    """Find every command of a line, its options and their choices.

    Raises:
        UsageError: one is none.
    """
    for given in commands(line):
        command: click.Command = cli
        words = given
        while isinstance(command, click.Group):
            found = command.get_command(click.Context(command), words[0])
            if found is None:
                raise click.UsageError(f"there is no {words[0]}")
            command, words = found, words[1:]
        context = click.Context(command, ignore_unknown_options=False)
        named = _doctors_own(words) if command.name == "doctor" else words
        values, _, _ = command.make_parser(context).parse_args(named)
        for one in command.params:
            if one.name in values and isinstance(one.type, click.Choice):
                one.type_cast_value(context, values[one.name])


@pytest.mark.parametrize("line", OURS, ids=lambda line: line.place)
def test_a_command_that_a_page_names_is_one(line: Line) -> None:
    check(line)


@pytest.mark.parametrize(
    "text",
    [
        "coldwarm measure a.py:f",
        "coldwarm snapshot make out/mine",
        "coldwarm run --sweet quick",
        "coldwarm bench a.py:f --before",
        "coldwarm report out/mine --format docx",
        "coldwarm doctor --then compare train.py",
        "coldwarm doctor --what train.py",
        "coldwarm doctor --warmup fill.py --round 3 train.py",
        "coldwarm cases; coldwarm backend",
        "coldwarm show out/mine --verbos --jso",
        "export A=$(coldwarm doctor --hooks)",
        "coldwarm export out/mine --format pyperfs",
        "pytest --coldwarm-save now.json && coldwarm compare a b --fail",
    ],
)
def test_a_command_that_is_none_is_found(text: str) -> None:
    with pytest.raises(click.UsageError):
        check(Line("page", 1, text))


def _doctors_own(words: Sequence[str]) -> list[str]:
    """Leave out a program and its options."""
    for at, word in enumerate(words):
        if word == "-m" or (word.endswith(".py") and words[at - 1] not in {"--warmup", "--before"}):
            return list(words[:at])
    return list(words)


def cannot(line: Line) -> str | None:
    """Return why a command is not run."""
    return next((why for what, why in CANNOT.items() if re.search(what, line.text)), None)


def test_what_is_not_run_is_a_command_of_a_page() -> None:
    texts = [line.text for line in pages.every()]
    unused = [what for what in CANNOT if not any(re.search(what, text) for text in texts)]
    assert unused == []


def test_most_commands_of_the_pages_are_run() -> None:
    run = [line for line in OURS if cannot(line) is None]
    assert len(run) > 2 * len(OURS) / 3


@dataclass
class Reader:
    """Somebody who types what a page says."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def type(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a shell would, and stay in the folder that it went to."""
        told = f"{text}\nstatus=$?\npwd >&3\nexit $status"
        read, write = os.pipe()
        try:
            done = subprocess.run(
                ["/bin/bash", "-c", told.replace(">&3", f">&{write}")],
                cwd=self.folder,
                env={**os.environ, **self.variables},
                capture_output=True,
                text=True,
                check=False,
                pass_fds=[write],
            )
        finally:
            os.close(write)
        with os.fdopen(read) as said:
            self.folder = Path(said.read().strip() or self.folder)
        return done


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = [str(shutil.which("git")), "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the repository, and the environment that the README's line makes."""
    place = tmp_path_factory.mktemp("reader")
    root = place / "coldwarm"
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
    subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
    reader = Reader(root, {"PATH": f"{place / 'env' / 'bin'}:{os.environ['PATH']}"})
    (line,) = [one for one in pages.lines(ROOT / "README.md") if one.text.startswith("pip install")]
    done = reader.type(line.text)
    assert done.returncode == 0, done.stderr
    for name in ("doctor/train.py", "logistic/fit_numpy.py", "logistic/fit_jax.py"):
        shutil.copy2(root / "examples" / name, root)
    shutil.copy2(root / "examples" / "logistic" / "fit_numba.py", root)
    shutil.copy2(root / "examples" / "logistic" / "marked.py", root)
    shutil.copy2(root / "examples" / "github" / "benchmarks" / "guard.py", root / "benchmarks")
    for name, text in THERE.items():
        (root / name).write_text(text, encoding="utf-8")
    shutil.copy2(root / "train.py", root / "train_before.py")
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "before")
    for name in ("train.py", "examples/doctor/train.py"):
        text = (root / name).read_text("utf-8")
        (root / name).write_text(f"{text}# a change that is committed\n", encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "--message", "after")
    for name in ("train.py", "examples/doctor/train.py"):
        with (root / name).open("a", encoding="utf-8") as file:
            file.write("# a change that is not\n")
    shutil.copytree(root, place / "project-of-last-week", symlinks=True)
    done = reader.type(f"coldwarm {_BENCH} --out-dir out/mine")
    assert done.returncode == 0, done.stderr
    return place


def _put(reader: Reader, text: str) -> None:
    """Put results where a command reads some."""
    made = re.findall(r"--out(?:-dir)? (\S+)", text)
    for name in re.findall(r"(?<![\w/-])out/[\w.-]+", text):
        if name not in made and not (reader.folder / name).exists():
            if "compare" in text:  # one run twice says nothing of a difference
                reader.type(f"coldwarm {_BENCH} --out-dir {name}")
            else:
                shutil.copytree(reader.folder / "out" / "mine", reader.folder / name)


RUN = sorted({line.page for line in OURS if cannot(line) is None})


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_every_command_of_a_page_runs(page: str, fresh: Path, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    pytest.importorskip("numba")
    root = tmp_path / "coldwarm"
    shutil.copytree(fresh / "coldwarm", root, symlinks=True)
    shutil.copytree(fresh / "project-of-last-week", tmp_path / "project-of-last-week")
    reader = Reader(root, {"PATH": f"{fresh / 'env' / 'bin'}:{os.environ['PATH']}"})
    wrong = []
    for line in pages.lines(ROOT / page):
        text = line.text
        if cannot(line) is not None or text.startswith("pip install"):
            continue
        for what, shorter in _SHORTER:
            text = re.sub(what, shorter, text)
        if text.startswith("cd "):
            reader.folder = root
        _put(reader, text)
        done = reader.type(text)
        if done.returncode not in {0, 1} or "Traceback" in done.stderr:
            wrong.append((line.place, text, done.returncode, done.stderr[-400:]))
    assert wrong == []
