"""Secrets planted wherever something is collected: none is in any file, nor printed."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import Done, collect, install, read_json, wait_for
from tests.functions.conftest import Desk
from tests.private.planted import Planted, body, shapes

from coldwarm.contracts import codec
from coldwarm.contracts.environment import PrivateReport
from coldwarm.integrations import formats

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ONCE = ("--rounds", "1", "--max-rounds", "1")
IN_TEXTS = shapes("texts of errors and output", 100)
IN_VARIABLES = shapes("variables that concern a measurement", 200)
NAMED = {
    name: Planted(f"variable {name}", "", body(300 + number))
    for number, name in enumerate(
        (
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "DB_PASS",
            "MY_PWD",
            "AZURE_PAT",
            "DATABASE_URL",
            "JAX_API_KEY",
            "TORCH_AUTH",
            "ANYTHING",
            "JAX_ANYTHING",
        )
    )
}
ON_COMMAND_LINE = {
    name: Planted(f"--env {name}", "", body(400 + number))
    for number, name in enumerate(("AWS_SESSION_TOKEN", "ACME_SETTING", "JAX_SETTING", "X_KEY"))
}
ALONE = {
    name: Planted(name, "", body(500 + number))
    for number, name in enumerate(
        (
            *("home", "folder", "interpreter", "distribution", "remote", "branch", "docstring"),
            *("input", "file", "policy", "pyproject", "label", "flags", "stdout", "function"),
        )
    )
}
BODIES = {name: one.body for name, one in ALONE.items()}
ALL = [
    *IN_TEXTS,
    *IN_VARIABLES,
    *NAMED.values(),
    *ON_COMMAND_LINE.values(),
    *ALONE.values(),
]


class Planting(Desk):
    """A folder of a user whose whole surroundings hold secrets."""

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return self.path / "somewhere" / ALONE["home"].body

    @property
    def user(self) -> Path:
        """The folder with what the user wrote; nothing is written here by what is tested."""
        return self.home / f"ghp_{ALONE['folder'].body}"

    def environment(self) -> dict[str, str]:
        """Return the variables of a command, secrets among them."""
        found = super().environment()
        found |= {name: one.body for name, one in NAMED.items()}
        found |= {f"JAX_X{n}": one.text for n, one in enumerate(IN_VARIABLES)}
        found["XLA_FLAGS"] = f"--xla_cpu_x=1 --apikey={ALONE['flags'].body}"
        found["HOME"] = str(self.home)
        found["PYTHONPATH"] += os.pathsep + str(self.path / "site")
        return found

    def assert_nothing_told(self, *ended: Done) -> None:
        """Search every byte of every file that was written and of what was printed."""
        texts = {f"printed {n}": (one.out + one.err).encode() for n, one in enumerate(ended)}
        texts |= {str(file): file.read_bytes() for file in self.out.rglob("*") if file.is_file()}
        names = {str(file): os.fsencode(file.relative_to(self.out)) for file in self.out.rglob("*")}
        assert len(ALL) >= 40
        told = [
            (one.place, one.body, where)
            for one in ALL
            for where, text in [*texts.items(), *names.items()]
            if any(form in text for form in one.forms)
        ]
        assert told == [], [
            texts[t[2]].decode(errors="replace").split(t[1])[0][-200:]
            for t in told
            if t[2] in texts
        ][:8]


MODULE = '''
    """Says {docstring} in its text, as password={docstring}."""
    import os, sys
    import numpy as np

    CALLS = 0
    TEXTS = {texts!r}

    def good(x, password="none"):
        """Works; token={docstring}."""
        print("token={stdout}", file=sys.stderr)
        return x + 1

    def later(x):
        global CALLS
        CALLS += 1
        if CALLS > 20:
            print("\\n".join(TEXTS))
            print("\\n".join(TEXTS), file=sys.stderr)
            raise ValueError(TEXTS[int(os.environ.get("WHICH", "0"))] + "\\n" + "\\n".join(TEXTS))
        return x + 1

    def raises(x):
        raise ValueError(TEXTS[int(os.environ.get("WHICH", "0"))])

    def leaves(x):
        print("\\n".join(TEXTS))
        sys.stdout.flush()
        os._exit(7)
'''


@pytest.fixture
def planting(tmp_path: Path) -> Iterator[Planting]:
    """Return a folder full of secrets."""
    made = Planting(tmp_path)
    made.home.mkdir(parents=True)
    texts = [one.text for one in IN_TEXTS]
    folder = made.user.relative_to(tmp_path)
    made.write(f"{folder}/odd.py", MODULE.format(texts=texts, **BODIES))
    name = f"glpat-{ALONE['distribution'].body}"
    install(tmp_path / "site", name, {})
    yield made
    made.assert_no_orphans()


def own(planting: Planting, name: str) -> str:
    return f"{planting.user / 'odd.py'}:{name}"


def given() -> list[str]:
    return [
        part for name, one in ON_COMMAND_LINE.items() for part in ("--env", f"{name}={one.body}")
    ]


def test_the_environment(planting: Planting) -> None:
    planting.out.mkdir()
    ended = [planting.command("env"), planting.command("env", "--json")]
    assert [one.code for one in ended] == [0, 0]
    assert '"JAX_API_KEY"' in ended[1].out  # by name
    planting.assert_nothing_told(*ended)


@pytest.mark.slow
def test_a_bench_that_succeeds_and_one_that_fails(planting: Planting) -> None:
    link = planting.path / f"hf_{ALONE['interpreter'].body}"
    link.symlink_to(sys.prefix)
    value = f"password='{ALONE['input'].body}'"
    inputs = ("--input", "x=f64[9]")
    more = ("--input", value, "--python", str(link))
    ended = [planting.bench(own(planting, "good"), *inputs, *more, *given(), "--warm-only")]
    assert ended[0].code == 0, ended[0].err
    planting.assert_nothing_told(*ended)
    said = planting.own("good")
    assert set(ON_COMMAND_LINE) == set(said["withheld_variables"])
    assert said["variables"] == {}
    for name in ("later", "leaves", "raises"):
        out = ("--out", planting.out / name)
        ended.append(planting.bench(own(planting, name), *inputs, *given(), *out, "--warm-only"))
        planting.assert_nothing_told(*ended)
    journal = (planting.out / "later" / "journal.jsonl").read_text()
    # Of a traceback with so many texts the last part is kept.
    assert re.search(r'"stderr_tail":"[^"]*Authorization: \*\*\*', journal)


@pytest.mark.slow
def test_a_run_its_readers_and_a_policy(planting: Planting) -> None:
    case = ("--case", "numpy_matmul_512_f32", "--cache-mode", "warm_process", *ONCE)
    ended = [planting.command("run", *case, "--suite", "full", "--out", planting.out)]
    assert ended[0].code == 0, ended[0].err
    policy = planting.write("policy.toml", f'password = "{ALONE["policy"].body}"\n')
    readers: tuple[tuple[str | Path, ...], ...] = (
        ("validate", planting.out),
        ("validate", planting.out, "--json"),
        ("show", planting.out, "--json"),
        ("show", planting.out),
        ("compare", planting.out, planting.out),
        ("compare", planting.out, planting.out, "--json"),
        ("compare", planting.out, planting.out, "--policy", policy),
        ("run", "--resume", "--out", planting.out),
        *(("export", planting.out, "--format", form) for form in formats.names() if form != "asv"),
    )
    ended += [planting.command(*arguments) for arguments in readers]
    planting.assert_nothing_told(*ended)


@pytest.mark.slow
def test_a_snapshot_its_archive_and_its_registry(planting: Planting) -> None:
    """Every place that is collected: variables, paths, tracebacks, stderr, remotes, addresses."""
    folder = planting.user
    remote = f"https://user:{ALONE['remote'].body}@host/x.git"
    for arguments in (("init", "-q"), ("remote", "add", "origin", remote)):
        git = ["git", "-C", str(folder), *arguments]
        subprocess.run(git, check=True)
    inputs = ("--input", "x=f64[9]", "--input", f"password='{ALONE['input'].body}'")
    for name in ("good", "later"):
        more = ("--out", planting.out / name, "--warm-only")
        planting.bench(own(planting, name), *inputs[: 2 if name == "later" else 4], *given(), *more)
    planting.assert_nothing_told()
    named = {
        "GITHUB_REF": f"refs/heads/ghp_{ALONE['branch'].body}",
        "GITHUB_REPOSITORY": f"glpat-{ALONE['label'].body}",
        "GITHUB_WORKFLOW": f"token={ALONE['flags'].body}",
    }
    made = planting.out / "made"
    index = f"http://user:{ALONE['remote'].body}@127.0.0.1:9/simple"
    results = (planting.out / "good", planting.out / "later")
    line = ("--id", "s1", "--out", made, "--index", index)
    prefix = ("env", *(f"{name}={value}" for name, value in named.items()))
    ended = [planting.command("snapshot", "create", *results, *line, prefix=prefix)]
    assert ended[0].code == 0, ended[0].err
    assert "results/bench-2/cases/*.json: observations.stderr_tail" in ended[0].out
    ended += [
        planting.command("snapshot", "registry", "add", made),
        planting.command("snapshot", "package", made),
    ]
    assert [one.code for one in ended] == [0, 0, 0], ended
    with tarfile.open(planting.out / "s1.tar.gz") as archive:
        archive.extractall(planting.out / "unpacked", filter="data")
    planting.assert_nothing_told(*ended)
    kept = (made / "snapshot_index.json").read_text()
    assert '"GITHUB_REF": "refs/heads/***"' in kept


@pytest.mark.slow
def test_noise(planting: Planting) -> None:
    planting.out.mkdir()
    inputs = ("--input", "x=f64[9]", "--time-budget", "4s", "--warm-only")
    ended = [
        planting.command("noise", own(planting, "good"), *inputs, "--json"),
        planting.command("noise", own(planting, "raises"), *inputs),
    ]
    planting.assert_nothing_told(*ended)


@pytest.mark.slow
def test_an_interrupted_run(planting: Planting) -> None:
    process = planting.open(
        "bench", own(planting, "good"), "--input", "x=f64[9]", *given(), "--out", planting.out,
        "--rounds", "50", "--max-rounds", "50",
    )  # fmt: skip
    wait_for(lambda: planting.observations() > 0, planting.alive, timeout_s=60)
    os.kill(process.pid, signal.SIGINT)
    ended = collect(process)
    assert ended.code == 130
    planting.assert_nothing_told(ended)
    assert not (planting.out / "work").exists()


@pytest.mark.slow
def test_commits_files_and_defaults(planting: Planting) -> None:
    folder = planting.user
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@e.ee"]
    remote = f"https://user:{ALONE['remote'].body}@host/x.git"
    for arguments in (
        ("init", "-q", "-b", f"ghp_{ALONE['branch'].body}"),
        ("remote", "add", "origin", remote),
        ("add", "."),
        ("commit", "-qm", f"token={ALONE['remote'].body}"),
    ):
        subprocess.run([*git, *arguments], check=True)
    planting.write(
        f"{folder.relative_to(planting.path)}/sk_live_{ALONE['file'].body}.py",
        "def fit(x):\n    return x + 1\n",
    )
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "second"], check=True)
    file = folder / f"sk_live_{ALONE['file'].body}.py"
    inputs = ("--input", "x=f64[9]", "--warm-only")
    planting.write(
        "pyproject.toml", f'[tool.coldwarm.bench]\nenv = ["Z_TOKEN={ALONE["pyproject"].body}"]\n'
    )
    ended = [
        planting.bench(f"{file}:fit", *inputs, "--before", "HEAD"),
        planting.bench(f"{file}:fit", f"{file}:fit2", *inputs, "--out", planting.out / "b"),
        planting.bench(f"ghp_{ALONE['label'].body}={file}:fit", *inputs),
        planting.bench(own(planting, f"npm_{ALONE['function'].body}"), *inputs),
        planting.bench(f"{file}:fit", *inputs, "--env", f"TOKEN {ALONE['label'].body}"),
    ]
    assert [one.code for one in ended][:1] == [0], ended[0].err
    planting.assert_nothing_told(*ended)


def test_what_is_left_is_listed_by_field(planting: Planting) -> None:
    listed = planting.command("env", "--private")
    assert listed.code == 0
    for field in ("distributions", "system.kernel", "own.target", "own.python", "stderr_tail"):
        assert field in " ".join(listed.out.split())
    record = codec.decode(planting.command("env", "--private", "--json").out.encode())
    assert isinstance(record, PrivateReport)
    assert {one.left_out for one in record.items} >= {"null", "counted", "kept"}


@pytest.mark.slow
def test_what_identifies_is_left_out_on_request(planting: Planting) -> None:
    install(planting.path / "site", "acme-internal-tool", {})
    planting.write("acme_project/fit.py", MODULE.format(texts=["a", "b"], **BODIES))
    target = planting.path / "acme_project" / "fit.py"
    inputs = (
        "--input",
        "x=f64[9]",
        "--warm-only",
        "--env",
        "ACME_MODE=fast",
        "--leave-out-private",
    )
    done = planting.bench(f"{target}:good", f"bad={target}:later", *inputs, "--json")
    assert done.code == 3, done.err
    written = b"".join(file.read_bytes() for file in planting.out.rglob("*") if file.is_file())
    for private in ("acme", "ACME", sys.prefix, platform.release(), str(target)):
        assert private.encode() not in written, private
        assert private not in done.out
    own = planting.own("good")
    assert own["target"] is None
    assert own["null_reasons"]["target"]["code"] == "left_out"
    environment = read_json(planting.out / "environment.json")
    assert environment["n_distributions_left_out"] > 0
    assert "numpy" in environment["distributions"]
    [failed] = [one for one in planting.case("bad")["observations"] if one["status"] == "failed"]
    assert failed["stderr_tail"] is None
    assert failed["null_reasons"]["stderr_tail"]["code"] == "left_out"
    # Whatever reads results reads these too.
    planting.assert_whole()
    for arguments in (("show",), ("validate",), ("show", "--json")):
        assert planting.command(*arguments, planting.out).code == 0
    assert planting.command("compare", planting.out, planting.out).code in {0, 2, 4}


@pytest.mark.slow
def test_a_variable_is_kept_private_from_the_first_process_on(planting: Planting) -> None:
    planting.write(
        "marks.py", "import os, coldwarm\nraise ValueError('got ' + os.environ['ACME_SETTING'])\n"
    )
    ended = planting.bench("marks.py", *given())
    assert "ValueError: got ***" in ended.err
    planting.out.mkdir(exist_ok=True)
    planting.assert_nothing_told(ended)


def test_what_is_no_variable_is_not_repeated(planting: Planting) -> None:
    target = own(planting, "good")
    for text in ("AWS_SECRET wJalrXUtnFEMI", "wJalrXUtnFEMI", "=wJalrXUtnFEMI"):
        refused = planting.refused(target, "--input", "x=f64[9]", "--env", text)
        assert "wJalr" not in refused
        assert "--env names no variable with a value; write NAME=VALUE" in refused


def test_a_label_that_looks_like_a_secret_is_refused(planting: Planting) -> None:
    refused = planting.refused(f"ghp_{body(999)}={own(planting, 'good')}", "--input", "x=f64[9]")
    assert "the candidate *** has a label that looks like something private" in refused
