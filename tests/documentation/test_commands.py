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
    r": make test": "runs the tests, of which this is one",
    r"install\.md: make run": "takes minutes, and the README's, which is the same, is run",
    r"jax-cuda": "needs a GPU",
    r"--keyless|--issuer": "needs a person who signs in, and a network",
    r"snapshot replicate docs/results": "installs PyTorch with the CUDA libraries of its maker",
}
"""Which commands are not run, by page and text, and why."""
_SHORTER = (
    (r"(coldwarm run)$", r"\1 --suite quick --backend numpy"),
    (r"(coldwarm run --suite quick)$", r"\1 --backend numpy"),
    (r"(--suite scenarios)$", r"\1 --backend numpy"),
    (r"--backend numpy,jax_eager_cpu,\S+ --backend \S+", "--backend numpy"),
    (r"(--suite full) --time-budget \S+", r"\1 --time-limit 20s"),
    (r"noise (.*)--time-budget \S+", r"noise \1--time-limit 40s"),
    (r"--time-budget \S+", "--rounds 1 --max-rounds 1"),
    (r"(snapshot replicate)", r"\1 --time-limit 20s"),
    (r"--time-limit", "--time-budget"),
    (r"--(max-)?rounds \d+", r"--\1rounds 1"),
    (
        r"(coldwarm (?:bench|run) (?!.*(--max-rounds|--time-budget|--resume)).*)",
        r"\1 --rounds 1 --max-rounds 1",
    ),
    (r"(coldwarm noise)", r"\1 numpy:sum --input a=f64[1000]"),
    (r"numpy:sum --input a=f64\[1000\] fit", "fit"),
    (r"(--then bench)", r"\1 --rounds 2"),
    (r"patterns run$", "patterns run key-reuse"),
    (r"claims run$", "claims run pmap-recipe-works"),
    (r"^(python -m benchmarks.maintainer)", r"cd .coldwarm; \1"),
    (r"--count 10 --for 40m", "--count 1 --for 9s"),
    (r"--for 60m", "--for 9s"),
    (r"(benchmarks.trials --check)", r"\1 --kinds numpy start"),
    (r"python -m tests.deceit$", "python -m tests.deceit temporary_arrays"),
    (r"jax,torch,numba\]", "jax,numba]"),
    (r"^make run$", "make run TORCH=0 ARGS='--backend numpy --rounds 1 --max-rounds 1'"),
    (r"bill optax/.*", "bill test_train.py"),
    (r"uv tool install", "uv tool install --force"),
    (r'eval "\$\((.*=zsh_source .*)\)"|^(.*=fish_source coldwarm) \| source', r"\1\2"),
    (r"--input …", "--input x=f32[64,64]"),
    (r"out/DIRECTORY", "out/mine"),
)
"""The same with less to measure, and without PyTorch, which brings gigabytes."""
ENDS: tuple[tuple[str, set[int]], ...] = (
    (r"--fail-on|maintainer|compare", {1}),
    (r"replicate", {1, 4}),
    (r"noise", {4}),
)
"""What a line may end with besides 0: a limit that does not hold, and too little time to tell."""
_BENCH = "bench a.py:f b.py:f --input x=f32[64,64] --rounds 2 --max-rounds 2"
_FITS = (
    "bench fit_numpy.py:fit fit_jax.py:fit --input x=f64[200,20] --input y=f64[200]:uniform"
    " --rounds 2 --max-rounds 2 --env JAX_ENABLE_X64=1"
)
BRINGS = {
    "docs/explanation/deceit.md": "pytest",
    "docs/how-to/ci.md": "pyyaml networkx",
    "docs/how-to/install.md": "uv pipx",
    "docs/how-to/report.md": "asv pyperf pytest pytest-benchmark typst",
    "docs/how-to/snapshot.md": "uv",
    "docs/how-to/tests.md": "pytest pytest-benchmark",
}
"""What a page is about besides coldwarm: a reader of it has that."""
ELSEWHERE = {
    "docs/how-to/ci.md": "project",
    "docs/how-to/report.md": "project",
    "docs/how-to/tests.md": "project",
}
"""Pages whose readers are in a repository of their own; others are in one of coldwarm."""
_SIGNED = (
    "openssl genpkey -algorithm ed25519 -out key.pem",
    "openssl pkey -in key.pem -pubout -out pub.pem",
    "coldwarm snapshot create out/mine --id small-1 --out snapshots/small-1 --with-code",
    "coldwarm snapshot create out/mine --id small-2 --out snapshots/small-2 --with-code",
    "coldwarm snapshot sign snapshots/small-1 --key key.pem",
)
BEFORE: dict[str, tuple[str, ...]] = {
    "docs/how-to/patterns.md": ("coldwarm claims run pmap-recipe-works --out out/jax-0.6",),
    "docs/how-to/report.md": (
        f"coldwarm {_FITS} --out out/fits",
        f"coldwarm {_FITS} --out out/base",
        "pytest -q test_fit.py --benchmark-json=test.json",
        "for n in 1 2 3; do pytest -q test_fit.py --benchmark-json=after-$n.json; done",
    ),
    "docs/how-to/snapshot.md": _SIGNED,
}
"""What was typed before a page is read."""
_PROGRAM = "def f(x):\n    return (x * 2.0).sum()\n"
_STEP = """
import jax

@jax.jit
def step(w, x, y):
    return w - 0.1 * jax.grad(lambda w: ((x @ w - y) ** 2).mean())(w)

def first_step():
    return step(jax.numpy.ones(4), jax.numpy.ones((8, 4)), jax.numpy.ones(8))

def fit(x):
    return x.sum()
"""
_TEST_TRAIN = """
def test_a_step(coldwarm):
    coldwarm.assert_ttfr("fit:first_step", below=99.0, processes=5)
"""
_TIMES = '{"results": [{"command": "start", "times": [0.17, 0.18, 0.17, 0.19, 0.18, 0.17]}]}'
THERE = {
    "a.py": _PROGRAM,
    "b.py": _PROGRAM.replace("2.0", "1.0 * 2"),
    "fit.py": _STEP,
    "smooth.py": "def smooth(x):\n    return (x[1:] + x[:-1]) / 2\n",
    "lazily.py": "def total(x):\n    return x.sum()\n",
    "policy.toml": "fail_on = {}\n",
    "package/__init__.py": "",
    "package/module.py": "import sys\nassert sys.argv[1:] == ['--its-own-option']\n",
    "start-the-server": "#!/bin/sh\npython examples/doctor/train.py\n",
}
"""Programs and files of the reader's."""
OWN = {
    "fits/__init__.py": "from fits.all import fit, update\n",
    "fits/all.py": """
import numpy as np

def fit(x, y):
    return np.linalg.lstsq(x, y, rcond=None)[0]

def update(w):
    return w - 0.1 * w
""",
    "pyproject.toml": '[project]\nname = "fits"\nversion = "1"\n'
    '[tool.setuptools]\npackages = ["fits"]\n',
    "test_train.py": _TEST_TRAIN,
    "test_fit.py": "def test_fit(benchmark):\n    benchmark(sum, range(100))\n",
    "asv.conf.json": '{"version": 1, "project": "fits", "repo": ".", "branches": ["main"],'
    ' "results_dir": "results"}',
    "before.json": _TIMES,
    "after.json": _TIMES.replace("0.17", "0.19"),
}
"""What a repository of the reader's has besides."""


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
    return next(
        (why for what, why in CANNOT.items() if re.search(what, f"{line.page}: {line.text}")), None
    )


def test_what_is_not_run_is_a_command_of_a_page() -> None:
    texts = [f"{line.page}: {line.text}" for line in pages.every()]
    unused = [what for what in CANNOT if not any(re.search(what, text) for text in texts)]
    assert unused == []


def test_most_commands_of_the_pages_are_run() -> None:
    run = [line for line in OURS if cannot(line) is None]
    assert len(run) > 19 * len(OURS) / 20


@dataclass
class Reader:
    """Somebody who types what a page says."""

    folder: Path
    home: Path
    environment: Path
    variables: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Set what is set where an environment is activated, and a home of the reader's."""
        downloads = [sys.executable, "-m", "pip", "cache", "dir"]
        kept = subprocess.run(downloads, capture_output=True, text=True, check=True).stdout
        programs = f"{self.environment / 'bin'}:{self.home / '.local/bin'}:{os.environ['PATH']}"
        own = {"PATH": programs, "HOME": str(self.home), "VIRTUAL_ENV": str(self.environment)}
        # A reader's pytest is no worker of this one's.
        known = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        self.variables = {**known, **own, "PIP_CACHE_DIR": kept.strip()}

    def type(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a shell would; the folder and the variables that it set stay."""
        told = f"{text}\nstatus=$?\n{{ pwd; env -0; }} >&3\nexit $status"
        read, write = os.pipe()
        try:
            done = subprocess.run(
                ["/bin/bash", "-c", told.replace(">&3", f">&{write}")],
                cwd=self.folder,
                env=self.variables,
                capture_output=True,
                text=True,
                check=False,
                pass_fds=[write],
            )
        finally:
            os.close(write)
        with os.fdopen(read) as said:
            folder, _, variables = said.read().partition("\n")
        if folder:
            self.folder = Path(folder)
            self.variables = dict(one.split("=", 1) for one in variables.split("\0") if one)
        return done

    def types(self, text: str) -> None:
        """Run a command that has to end well."""
        done = self.type(text)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = [str(shutil.which("git")), "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)


def _repository(folder: Path, examples: Path) -> None:
    """Put the reader's programs into a folder: two commits, and a change after them."""
    for name in ("doctor/train.py", "logistic/fit_numpy.py", "logistic/fit_jax.py"):
        shutil.copy2(examples / name, folder)
    shutil.copy2(examples / "logistic" / "fit_numba.py", folder)
    shutil.copy2(examples / "logistic" / "marked.py", folder)
    (folder / "benchmarks").mkdir(exist_ok=True)
    shutil.copy2(examples / "github" / "benchmarks" / "guard.py", folder / "benchmarks")
    _write(folder, THERE)
    for place in filter(Path.exists, (folder, folder / "examples" / "doctor")):
        shutil.copy2(folder / "train.py", place / "train_before.py")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "before")
    programs = [folder / "train.py", folder / "examples" / "doctor" / "train.py"]
    for program in filter(Path.exists, programs):
        text = program.read_text("utf-8")
        program.write_text(f"{text}# a change that is committed\n", encoding="utf-8")
    git(folder, "commit", "--quiet", "--all", "--message", "after")
    for program in filter(Path.exists, programs):
        with program.open("a", encoding="utf-8") as file:
            file.write("# a change that is not\n")


def _clone(folder: Path) -> None:
    """Copy what is in this repository, or will be with the next commit."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the repository, and the environment that the README's line makes."""
    place = tmp_path_factory.mktemp("reader")
    _clone(place / "coldwarm")
    subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
    (place / "home").mkdir()
    reader = Reader(place / "coldwarm", place / "home", place / "env")
    installing, *_ = pages.lines(ROOT / "README.md")
    assert installing.text.startswith("pip install")
    reader.types(installing.text)
    _write(place / "project", OWN)
    (place / "project" / ".coldwarm").symlink_to(place / "coldwarm")
    for name in ("coldwarm", "project"):
        _repository(place / name, place / "coldwarm" / "examples")
    shutil.copytree(place / "coldwarm", place / "project-of-last-week", symlinks=True)
    reader.types(f"coldwarm {_BENCH} --out {place / 'mine'}")
    return place


def _put(reader: Reader, text: str, mine: Path) -> None:
    """Put results where a command reads some."""
    made = re.findall(r"--out(?:-dir)? (\S+)", text)
    for name in re.findall(r"(?<![\w/-])out/[\w.-]+", text):
        if name not in made and not (reader.folder / name).exists():
            if "compare" in text:  # one run twice says nothing of a difference
                reader.types(f"coldwarm {_BENCH} --out {name}")
            else:
                shutil.copytree(mine, reader.folder / name)


def _ends(text: str) -> set[int]:
    """Return the exit statuses that a line may have."""
    return {0}.union(*(codes for what, codes in ENDS if re.search(what, text)))


RUN = sorted(
    {line.page for line in pages.every() if cannot(line) is None},
    key=lambda page: (page in BRINGS, page),  # what one brings, no other is given
)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_every_command_of_a_page_runs(page: str, fresh: Path, tmp_path: Path) -> None:
    for name in ("coldwarm", "project", "project-of-last-week", "home"):
        shutil.copytree(fresh / name, tmp_path / name, symlinks=True)
    root = tmp_path / ELSEWHERE.get(page, "coldwarm")
    reader = Reader(root, tmp_path / "home", fresh / "env")
    if page in BRINGS:
        reader.types(f"pip install {BRINGS[page]}")
    for text in BEFORE.get(page, ()):
        _put(reader, text, fresh / "mine")
        reader.types(text)
    wrong, section = [], 0
    for line in pages.lines(ROOT / page):
        if line.section != section:
            section, reader.folder = line.section, root
        if cannot(line) is not None:
            continue
        text = line.text
        for what, shorter in _SHORTER:
            text = re.sub(what, shorter, text)
        _put(reader, text, fresh / "mine")
        done = reader.type(text)
        if done.returncode not in _ends(line.text) or "Traceback" in done.stderr:
            wrong.append(f"{line.place}: {text}\nends with {done.returncode}: {done.stderr[-800:]}")
    assert not wrong, "\n".join(wrong)
