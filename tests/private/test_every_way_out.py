"""Sixty secrets planted around a user, and every command in every format: none is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.faults.lab import Done, Lab
from tests.private import walk
from tests.private.planted import Planted, body
from tests.started import coldwarm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

OF_VARIABLES = (
    *("WANDB_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN"),
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD"),
    *("AZURE_CLIENT_SECRET", "NPM_AUTH", "SLACK_WEBHOOK_SECRET", "DJANGO_SECRET_KEY", "JWT_SIG"),
    *("NETRC_PASS", "DOCKER_AUTH", "COMET_API_KEY", "MLFLOW_TRACKING_PASSWORD", "SENTRY_DSN"),
)
"""Variables whose value is the secret."""
IN_VARIABLES = {
    "DATABASE_URL": "postgres://bob:{}@db.example.com:5432/x",
    "REDIS_URL": "redis://:{}@host:6379/0",
    "PIP_INDEX_URL": "https://bob:{}@pypi.example.com/simple",
    "TF_CPP_NOTE": "--tf_x=1 --token={}",
    "JAX_ANYTHING": "password={}",
    "HTTPS_PROXY": "http://bob:{}@proxy:3128",
}
"""Variables in whose value it stands."""
ON_COMMAND_LINE = (
    ("--token", "{}"),
    ("--api-key={}",),
    ("-p", "{}"),
    ("-p{}",),
    ("--password={}",),
    ("--db-password", "{}"),
    ("--hf_token", "{}"),
    ("--secret", "{}"),
    ("--auth", "bob:{}"),
    ("--accessKey", "{}"),
    ("https://bob:{}@host/x.git",),
    ("hf_{}",),
    ("--header", "Authorization: Bearer {}"),
    ("password={}",),
    ("--env", "X_TOKEN={}"),
    ("--pw", "{}"),
)
"""How a secret is given to a program."""
IN_PROGRAM = (
    *("static", "static_text", "static_object", "static_dictionary", "static_secret_number"),
    *("global_text", "closure", "partial", "error", "warning", "stdout", "stderr", "docstring"),
    *("object", "source_line", "leaf", "function", "file", "import", "home", "remote", "child"),
)
"""Where a program itself has one."""


def _planted() -> dict[str, Planted]:
    named = {
        **{f"variable {name}": "{}" for name in OF_VARIABLES},
        **{f"variable {name}": text for name, text in IN_VARIABLES.items()},
        **{" ".join(parts): "\0".join(parts) for parts in ON_COMMAND_LINE},
        **dict.fromkeys(IN_PROGRAM, "{}"),
    }
    return {
        place: Planted(place, text.format(body(600 + number)), body(600 + number))
        for number, (place, text) in enumerate(named.items())
    }


PLANTED = _planted()
BODY = {place: one.body for place, one in PLANTED.items()}
ARGUMENTS = [
    part for parts in ON_COMMAND_LINE for part in PLANTED[" ".join(parts)].text.split("\0")
]
MODULE = '''
"""Says token={docstring}."""
import os, sys, warnings, functools
import numpy as np
import helper_{import}

API_KEY = "{global_text}"
print("token={stdout}")
print("password: {stderr}", file=sys.stderr)
warnings.warn("secret: {warning}")

class Client:
    def __init__(self, key):
        self.key = key
    def __repr__(self):
        return f"Client(key={{self.key!r}})"
    def __hash__(self):
        return hash(self.key)
    def __eq__(self, other):
        return self.key == other.key

def fit(x, password="none"):
    """Works; token={docstring}."""
    return x + 1

def raises(x):
    raise ValueError("cannot log in: password={error}")
'''
JITTED = """
import jax, jax.numpy as jnp

def made(key):
    def inner(x):
        return x * len(key)
    return jax.jit(inner)

@functools.partial(jax.jit, static_argnames=("n", "mode", "password", "client", "options", "pin"))
def step(x, n=1, mode="", password="", client=None, options=(), pin=0):
    return x * n * len(API_KEY)

x = jnp.ones(3)
for n in range(4):
    step(x, n=n, mode="{static_text}" + str(n), password="{static}" + str(n), pin=7000 + n)
    step(x, client=Client("{static_object}" + str(n)), options=(("{static_dictionary}", n),))
    step(x, pin=hash("{static_secret_number}") % 10**6 + n, mode="token={source_line}" + str(n))
    made("{closure}" + str(n))(x)
    jax.jit(functools.partial(lambda k, x: x * len(k), "{partial}" + str(n)))(x)
    jax.jit(lambda tree: tree["hf_{leaf}"] + n)({{"hf_{leaf}": x}})
def ghp_{function}(x):
    return x * 3
jax.jit(ghp_{function})(x)
"""
ENDS = """
import subprocess
subprocess.run([sys.executable, "-c", "import sys", "--token", "{child}"])
if len(sys.argv) > 1:
    raise ValueError("cannot log in: password={error}")
"""


class Walk(Lab):
    """A user's folder, and the commands in it."""

    def environment(self) -> dict[str, str]:
        """Return the variables of a command, secrets among them."""
        found = super().environment()
        found |= {name: BODY[f"variable {name}"] for name in OF_VARIABLES}
        found |= {name: PLANTED[f"variable {name}"].text for name in IN_VARIABLES}
        found |= {"HOME": str(self.path / "homes" / BODY["home"]), "JAX_PLATFORMS": "cpu"}
        return found

    def prepare(self, *parts: str) -> Path:
        """Write the program."""
        (self.path / "homes" / BODY["home"]).mkdir(parents=True)
        (self.path / f"helper_{BODY['import']}.py").write_text("X = 1\n", "utf-8")
        program = self.path / f"sk_live_{BODY['file']}.py"
        program.write_text("".join(parts).format(**BODY), "utf-8")
        for line in (
            ("init", "-q"),
            ("remote", "add", "origin", f"https://bob:{BODY['remote']}@host/x.git"),
        ):
            subprocess.run(["git", "-C", str(self.path), *line], check=True)  # noqa: S607 - git
        return program

    def watching(self, *arguments: str | Path) -> Done:
        """Run a command that runs a program, which may print whatever it likes."""
        done = coldwarm(*arguments, cwd=self.path, env=self.environment(), timeout_s=240)
        return Done(done.returncode, done.stdout, done.stderr)

    def told(self, ended: Sequence[Done], *, made_before: set[Path]) -> list[tuple[str, str]]:
        """Return which secret stands where: in what was printed, and in each file that is new."""
        texts = {f"printed {n}": (one.out + one.err).encode() for n, one in enumerate(ended)}
        for file in set(self.path.rglob("*")) - made_before:
            name = os.fsencode(file.relative_to(self.path))
            texts[str(file)] = name + (file.read_bytes() if file.is_file() else b"")
        unpacked = {where: list(walk.layers(text)) for where, text in texts.items()}
        return [
            (one.place, where)
            for one in PLANTED.values()
            for where, layers in unpacked.items()
            if any(form in text for text in layers for form in one.forms)
        ]


class Ways(NamedTuple):
    """How one command is called."""

    lines: Sequence[Sequence[str | Path]]
    writes: frozenset[str] = frozenset()
    """Options of it that name what it writes, each given in a line."""
    reads: frozenset[str] = frozenset()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Walk]:
    """Return a folder of this test's own."""
    made = Walk(tmp_path)
    yield made
    made.assert_no_orphans()


def test_sixty_are_planted() -> None:
    assert len(PLANTED) >= 60
    assert len(set(BODY.values())) == len(PLANTED)


DOCTOR = {"--out", "--perfetto", "--warmup"}


def _doctored(lab: Walk, program: Path, *more: str) -> list[Done]:
    """Run the doctor on a program in each of its formats, with each file that it writes."""
    command = walk.commands()["doctor",]
    assert walk.files(command) - {"--read", "--diff"} == DOCTOR
    ended = []
    for number, form in enumerate(walk.forms(command)):
        files = [f"--{name}={lab.path / f'{name}-{number}'}" for name in ("out", "perfetto")]
        line: list[str | Path] = ["doctor", "--format", form, *files, *more, program, *ARGUMENTS]
        ended.append(lab.watching(*line))
    ended.append(lab.watching("doctor", "--verbose", *more, program, *ARGUMENTS))
    return [_ours(one) for one in ended]


def _ours(one: Done) -> Done:
    """Return what the command said: what the program itself prints is its own."""
    theirs = (BODY["stdout"], BODY["stderr"], BODY["warning"], BODY["error"], BODY["file"])
    lines = one.err.splitlines()
    ours = (n for n, line in enumerate(lines) if line.startswith(("Of ", "coldwarm:")))
    first = next(ours, len(lines))
    before = [line for line in lines[:first] if not any(t in line for t in theirs)]
    kept = [*before, *lines[first:]]
    out = "\n".join(line for line in one.out.splitlines() if not any(t in line for t in theirs))
    return Done(one.code, out, "\n".join(kept))


def test_the_doctor_in_every_format(lab: Walk) -> None:
    program = lab.prepare(MODULE, ENDS)
    before = set(lab.path.rglob("*"))
    ended = _doctored(lab, program)
    assert {one.code for one in ended} == {1}
    assert (lab.path / "out-1").exists()
    assert lab.told(ended, made_before=before) == []


@pytest.mark.slow
def test_the_doctor_where_a_program_compiles(lab: Walk) -> None:
    program = lab.prepare(MODULE, JITTED, ENDS)
    before = set(lab.path.rglob("*"))
    script = lab.path / "warmup.py"
    ended = _doctored(lab, program, "--warmup", str(script), "--passes", "all")
    assert script.exists()
    assert lab.told(ended, made_before=before) == []


@pytest.mark.parametrize("parts", [(MODULE, ENDS)], ids=["plain"])
def test_what_a_watched_program_leaves(lab: Walk, parts: tuple[str, ...]) -> None:
    _left(lab, *parts)


@pytest.mark.slow
def test_what_a_watched_program_leaves_that_compiles(lab: Walk) -> None:
    _left(lab, MODULE, JITTED, ENDS)


def _left(lab: Walk, *parts: str) -> None:
    """Start a program by the hook, and read what it has left: the journals, the report."""
    program = lab.prepare(*parts)
    before = set(lab.path.rglob("*"))
    hook = lab.command("doctor", "--hook").out.strip()
    report = lab.path / "report.json"
    variables = {**lab.environment(), "PYTHONPATH": hook, "COLDWARM_DOCTOR": str(report)}
    subprocess.run(
        [sys.executable, str(program), *ARGUMENTS],
        cwd=lab.path,
        env=variables,
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert json.loads(report.read_text("utf-8"))["command"][2:5] == [
        "--token",
        "***",
        "--api-key=***",
    ]
    ended = []
    for number, form in enumerate(walk.forms(walk.commands()["doctor",])):
        files = [f"--{name}={lab.path / f'{name}-{number}'}" for name in ("out", "perfetto")]
        ended.append(lab.command("doctor", "--format", form, *files, "--read", report))
    forms = set(walk.forms(walk.commands()["doctor",])) - {"json", "html"}
    ended += [
        lab.command("doctor", "--diff", report, report, "--format", form) for form in sorted(forms)
    ]
    assert {one.code for one in ended} == {0}, ended
    assert any(file.suffix == ".jsonl" for file in lab.path.rglob("*"))
    assert lab.told(ended, made_before=before) == []
