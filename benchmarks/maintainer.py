"""A maintainer's pull requests on packages of somebody else's: which does the guard see?

``python -m benchmarks.maintainer --out FILE --count 10`` fetches a package's source from PyPI, puts
it in a small repository, and makes three pull requests of it. On each of them it runs the guards of
``examples/github/coldwarm.yml``, as they stand there; ``--table`` prints what FILE holds. One
package is written in Python alone (NetworkX), and one computes with JAX (JAXopt).

**Pull requests.** *slower*: more work in the function that the benchmark calls:
``betweenness_centrality`` looks once more at every tenth source, ``GradientDescent`` takes the
gradient of every tenth step twice. *import*: an import takes 75 or 250 ms of processor time more.
*comment*: nothing that is run is another.

**Guards.** *warm*: warm calls against the base, at most 5 % slower. *cold*: first results of fresh
processes, at most 3 % slower. The benchmark, of ``maintainer_guards``, is the same in all commits.

**Order.** In rounds, one of every pull request and guard, in an order drawn anew. Each run is
written down as it ends, and what is there counts: the same command goes on after an interruption.
``--for 40m`` starts nothing after so long.

**Errors.** ``slower`` has to fail the warm guard, ``import`` the cold one, ``comment`` neither, and
none another; but with JAX ``slower`` has to fail the cold one, too, as a second gradient is
compiled. ``--check`` measures by how much each first result is really slower, without coldwarm. A
run that comes to no answer counts as missed where there was something to see.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import yaml
from rich import box
from rich.console import Console
from rich.table import Table
from scipy import stats

from coldwarm.cli._options import _seconds
from coldwarm.runner.harness import harness_sha256

HERE = Path(__file__).resolve().parent
WORKFLOW = HERE.parent / "examples" / "github" / "coldwarm.yml"
GUARDS = ("warm", "cold")
SPENT = """
import time as _time

_begun_s = _time.thread_time()
while _time.thread_time() - _begun_s < {seconds}:
    pass
"""


@dataclass(frozen=True)
class Request:
    """A pull request: what it changes, and which guard has to see it."""

    name: str
    file: str
    old: str
    new: str
    seen_by: tuple[str, ...]

    def apply(self, root: Path) -> None:
        """Make the change.

        Raises:
            SystemExit: the file is not as it was when this was written.
        """
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if self.old not in text:
            sys.exit(f"{self.file} is not what it was")
        path.write_text(text.replace(self.old, self.new, 1), encoding="utf-8")


@dataclass(frozen=True)
class Package:
    """A package of somebody else's, and the pull requests."""

    name: str
    version: str
    requests: tuple[Request, ...]

    @classmethod
    def of(cls, name: str, version: str, work: Request, imports: Request, remark: str) -> Package:
        """Return a package with a request that changes only a comment, beside two others."""
        comment = Request("comment", work.file, work.old, remark + work.old, ())
        return cls(name, version, (work, imports, comment))


PACKAGES = {
    one.name: one
    for one in (
        Package.of(
            "networkx",
            "3.6.1",
            Request(
                "slower",
                "networkx/algorithms/centrality/betweenness.py",
                "    for s in nodes:\n",
                """\
    for place, s in enumerate(nodes):
        if place % 10 == 0:
            S, P, sigma, _ = _single_source_shortest_path_basic(G, s)
            _accumulate_basic(dict.fromkeys(G, 0.0), S, P, sigma, s)
""",
                ("warm",),
            ),
            Request(
                "import",
                "networkx/__init__.py",
                "from networkx import algorithms\n",
                SPENT.format(seconds=0.075) + "from networkx import algorithms\n",
                ("cold",),
            ),
            "    # Each node is a source once.\n",
        ),
        Package.of(
            "jaxopt",
            "0.8.5",
            Request(
                "slower",
                "jaxopt/_src/gradient_descent.py",
                "    return super().update(params, state, None, *args, **kwargs)\n",
                """\
    import jax
    again = jax.lax.cond(
        state.iter_num % 10 == 0,
        lambda point: self._grad_fun(point, *args, **kwargs),
        lambda point: jax.tree.map(jax.numpy.zeros_like, point),
        params,
    )
    params = jax.tree.map(lambda point, slope: point + 0 * slope, params, again)
    return super().update(params, state, None, *args, **kwargs)
""",
                ("warm", "cold"),
            ),
            Request(
                "import",
                "jaxopt/__init__.py",
                "import warnings\n",
                SPENT.format(seconds=0.25) + "import warnings\n",
                ("cold",),
            ),
            "    # The third argument is that of a proximal operator.\n",
        ),
    )
}


@dataclass(frozen=True)
class Check:
    """A guard on a pull request of a package."""

    package: str
    request: Request
    guard: str
    NAMED: ClassVar = ("package", "request", "guard")

    @property
    def name(self) -> dict[str, str]:
        """The names of all three, as a line of the results has them."""
        names = self.package, self.request.name, self.guard
        return dict(zip(self.NAMED, names, strict=True))

    def __str__(self) -> str:
        """Return the three names."""
        return " ".join(self.name.values())


def main() -> int:
    """Run what is missing, or print the table."""
    given = _parser().parse_args()
    if given.table:
        console = Console() if sys.stdout.isatty() else Console(width=100)
        console.print(table(read(given.out)))
        return 0
    ends_s = time.monotonic() + given.at_most if given.at_most else None
    with tempfile.TemporaryDirectory() as folder:
        names = given.package or list(PACKAGES)
        roots = {name: repository(PACKAGES[name], Path(folder) / name) for name in names}
        if given.check:
            for name, root in roots.items():
                print_truth(PACKAGES[name], root, given.count)
            return 0
        chosen = [
            Check(name, request, guard)
            for name in names
            for request in PACKAGES[name].requests
            if request.name in (given.request or [request.name])
            for guard in given.guard or GUARDS
        ]
        for check, index in missing(read(given.out), chosen, given.count):
            if ends_s is not None and time.monotonic() > ends_s:
                break
            line = run(roots[check.package], check)
            line = {"index": index, "build": harness_sha256()[:12], **line}
            given.out.parent.mkdir(parents=True, exist_ok=True)
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{check} {index}: {said(line)} ({line['seconds']:.0f} s)")
            sys.stdout.flush()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.maintainer")
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FILE", help="one JSON line for each run")
    add("--table", action="store_true", help="print what FILE holds, and run nothing")
    add("--check", action="store_true", help="measure the changes by plain scripts instead")
    add("--package", nargs="+", choices=PACKAGES, help="default: all")
    add("--request", nargs="+", choices=("slower", "import", "comment"), help="default: all")
    add("--guard", nargs="+", choices=GUARDS, help="default: both")
    add("--count", type=int, default=10, help="of each, those in FILE included; default: 10")
    add("--for", dest="at_most", type=_seconds, metavar="DURATION", help="start nothing after it")
    return parser


def repository(package: Package, folder: Path) -> Path:
    """Make a repository of a package's source with a branch for each pull request."""
    folder.mkdir()
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    pip += ["--disable-pip-version-check", "--dest", str(folder)]
    subprocess.run([*pip, f"{package.name}=={package.version}"], check=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as packed:
        packed.extractall(folder, filter="data")
    root = folder / "repository"
    root.mkdir()
    source = folder / f"{package.name}-{package.version}" / package.name
    shutil.copytree(source, root / package.name, ignore=shutil.ignore_patterns("tests"))
    (root / "benchmarks").mkdir()
    guard = HERE / "maintainer_guards" / f"{package.name}_guard.py"
    shutil.copy(guard, root / "benchmarks" / "guard.py")
    (root / ".gitignore").write_text("__pycache__/\nout/\n*.json\n*.md\n", encoding="utf-8")
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, f"{package.name} {package.version}")
    for request in package.requests:
        git(root, "switch", "--quiet", "--create", request.name, "main")
        request.apply(root)
        commit(root, request.name)
    return root


def commit(root: Path, message: str) -> None:
    """Commit everything."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


def git(root: Path, *arguments: str) -> str:
    """Run git, as nobody in particular."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    command = [str(shutil.which("git")), "-C", str(root), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def guards(workflow: Path = WORKFLOW) -> dict[str, str]:
    """Return the scripts of a workflow's steps that have a name of their own, by it."""
    told = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    steps = [step for job in told["jobs"].values() for step in job["steps"]]
    return {step["id"]: step["run"] for step in steps if "id" in step}


def as_a_runner(root: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the workflow with its variables, as a runner would."""
    told = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["env"]
    variables = {**os.environ, **told, "GITHUB_STEP_SUMMARY": "summary.md"}
    variables["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    return subprocess.run(
        ["/bin/bash", "-e", "-c", script],
        cwd=root,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def run(root: Path, check: Check) -> dict[str, Any]:
    """Run a guard on a pull request, and return what it said."""
    guard = check.guard
    git(root, "switch", "--quiet", "--detach", check.request.name)
    git(root, "clean", "--quiet", "--force", "-d", "-x", "--exclude", "__pycache__")
    line: dict[str, Any] = {
        **check.name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_1m": os.getloadavg()[0],
    }
    begin_s = time.perf_counter()
    done = as_a_runner(root, guards()[guard])
    line |= {"seconds": time.perf_counter() - begin_s, "code": done.returncode}
    line["annotations"] = done.stdout.splitlines()
    report = root / f"{guard}.json"
    if not report.exists():
        return {**line, "failed": done.stderr.strip().splitlines()[-1:], "verdicts": []}
    return {**line, **what_it_said(json.loads(report.read_text(encoding="utf-8")))}


FIRST = """
import time
begun_s = time.perf_counter()
from benchmarks.guard import work
getattr(work(), "block_until_ready", lambda: None)()
print(time.perf_counter() - begun_s)
"""


def print_truth(package: Package, root: Path, count: int) -> None:
    """Print how much slower each pull request's first result is, by processes in turns."""
    took: dict[str, list[float]] = {}
    names = ["main", *(one.name for one in package.requests)]
    for index in range(count):
        random.Random(index).shuffle(names)  # noqa: S311 - an order, not a secret
        for name in names:
            git(root, "switch", "--quiet", "--detach", name)
            command = [sys.executable, "-c", FIRST]
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
            took.setdefault(name, []).append(float(done.stdout))
    for name in names:
        ratios = sorted(a / b for a, b in zip(took[name], took["main"], strict=True))
        low, middle, high = (ratios[len(ratios) * part // 4] for part in (1, 2, 3))
        print(f"{package.name} {name}: {middle:.3f} (quartiles {low:.3f} to {high:.3f})")


def what_it_said(report: dict[str, Any]) -> dict[str, Any]:
    """Return the verdicts of a report, those of its control too, with all that explains them."""
    control = report.get("control") or {"comparisons": []}
    judged = [one["comparison"] for one in report["verdicts"]]
    failing = [one["comparison"]["metric"] for one in report["verdicts"] if one["fails_beyond"]]
    return {
        "failing": failing,
        "verdicts": [_shown(one) for one in judged],
        "control": [_shown(one) for one in control["comparisons"]],
        "unshown": report.get("unshown", []),
        "n_processes": {
            one["candidate"]: {mode: found["n_processes"] for mode, found in one["ttfr"].items()}
            | ({"warm": one["call"]["n_processes"]} if one["call"] else {})
            for one in report["candidates"]
        },
        "first_s": {
            mode: found["median"] for mode, found in report["candidates"][0]["ttfr_process"].items()
        },
    }


def _shown(comparison: dict[str, Any]) -> dict[str, Any]:
    kept = ("metric", "verdict", "ratio", "low", "high", "confidence", "p_value")
    return {**{name: comparison.get(name) for name in kept}, "why": comparison["reason"]["code"]}


def missing(
    lines: list[dict[str, Any]], chosen: list[Check], count: int
) -> list[tuple[Check, int]]:
    """Return the runs of this build that are not there yet, in rounds of random order."""
    build = harness_sha256()[:12]
    there = [
        ({name: one[name] for name in Check.NAMED}, one["index"])
        for one in lines
        if one["build"] == build
    ]
    found = []
    for index in range(count):
        left = [(one, index) for one in chosen if (one.name, index) not in there]
        random.Random(index).shuffle(left)  # noqa: S311 - an order, not a secret
        found += left
    return found


def read(file: Path) -> list[dict[str, Any]]:
    """Return the runs in a file; a last line that was cut off is left out, and mended."""
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def said(line: dict[str, Any]) -> str:
    """Say in a word what a guard did."""
    return {0: "passed", 1: "failed the build"}.get(line["code"], f"ended with {line['code']}")


def table(lines: list[dict[str, Any]]) -> Table:
    """Return what every guard said of every pull request."""
    made = Table(title="A maintainer's pull requests", title_justify="left", box=box.SIMPLE_HEAD)
    made.add_column("package")
    made.add_column("pull request")
    made.add_column("guard")
    for name in (
        "runs",
        "has to",
        "failed the build",
        "right",
        "right at 95 %",
        "ratio",
        "s a run",
    ):
        made.add_column(name, justify="right")
    for package in PACKAGES.values():
        for request in package.requests:
            for guard in GUARDS:
                check = Check(package.name, request, guard)
                mine = [one for one in lines if check.name.items() <= one.items()]
                if mine:
                    fails = guard in request.seen_by
                    made.add_row(*check.name.values(), *_cells(mine, fails=fails))
    return made


def _cells(lines: list[dict[str, Any]], *, fails: bool) -> list[str]:
    right = sum(one["code"] == int(fails) for one in lines)
    exact = stats.binomtest(right, len(lines)).proportion_ci(method="exact")
    low, high = exact.low, exact.high
    ratios = sorted(v["ratio"] for one in lines for v in one["verdicts"] if v["ratio"])
    taken = sorted(one["seconds"] for one in lines)
    return [
        str(len(lines)),
        "fail" if fails else "pass",
        str(sum(one["code"] == 1 for one in lines)),
        str(right),
        f"{100 * low:.0f} to {100 * high:.0f} %",
        f"{ratios[0]:.3f} … {ratios[-1]:.3f}" if ratios else "–",
        f"{taken[len(taken) // 2]:.0f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
