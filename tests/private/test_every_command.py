"""Sixty secrets planted around a user: every command, in every format, with every file it writes.

The commands, their formats and the options that name files are read from the command line itself,
so that one which nobody has listed here fails.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

import pytest
from tests.faults.lab import Done, install
from tests.functions.conftest import Desk
from tests.private import walk
from tests.private.planted import Planted, body, shapes
from tests.publish import judged
from tests.started import coldwarm

from coldwarm import masking
from coldwarm.cli import _tree
from coldwarm.contracts.catalogue import Raised

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IN_VARIABLES = {
    **dict.fromkeys(
        (
            *("WANDB_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DB_PASSWORD"),
            *("OPENAI_API_KEY", "PGPASSWORD", "AZURE_CLIENT_SECRET", "DJANGO_SECRET_KEY"),
            *("SENTRY_DSN", "MLFLOW_TRACKING_PASSWORD", "NETRC_PASS"),
        ),
        "{}",
    ),
    "DATABASE_URL": "postgres://bob:{}@db.example.com:5432/x",
    "PIP_INDEX_URL": "https://bob:{}@127.0.0.1:9/simple",
    "PIP_EXTRA_INDEX_URL": "https://{}@127.0.0.1:9/simple",
    "HTTPS_PROXY": "http://bob:{}@127.0.0.1:9",
    "UPSTREAM": "amqp://bob:{}@queue.example.com/x",
    "JAX_ANYTHING": "password={}",
    "XLA_FLAGS": "--xla_cpu_x=1 --apikey={}",
    "GITHUB_REF": "refs/heads/ghp_{}",
    "GITHUB_REPOSITORY": "glpat-{}",
    "GITHUB_WORKFLOW": "token={}",
    "HOSTNAME": "{}",
    "LOGNAME": "{}",
}
ON_COMMAND_LINE = (
    *("--env A_TOKEN", "--env ACME_SETTING", "--input password", "--input secret_key"),
    *("--index", "--link", "link to a bucket"),
)
AROUND = (
    *("home", "folder", "interpreter", "distribution", "remote", "branch", "message", "mail"),
    *("netrc", "policy", "pyproject", "file", "module", "wheels", "comment", "results"),
)
IN_PROGRAM = (
    *("docstring", "global", "default", "closure", "partial", "attribute", "repr", "logging"),
    *("warning", "stdout", "stderr", "note", "cause", "argument", "exit", "class", "thread"),
    *("dictionary", "dataclass", "bytes", "variable", "header", "url", "of a variable"),
)
OF_OTHERS = {"__pycache__", ".rustup"}
"""Folders of what is not coldwarm's: Python's compiled sources, and what ``pip`` asks."""
TEXTS = shapes("texts of an error", 3000)


def _planted() -> dict[str, Planted]:
    named = {
        **{f"variable {name}": text for name, text in IN_VARIABLES.items()},
        **dict.fromkeys((*ON_COMMAND_LINE, *AROUND, *IN_PROGRAM), "{}"),
    }
    return {
        place: Planted(place, text.format(body(2000 + number)), body(2000 + number))
        for number, (place, text) in enumerate(named.items())
    }


PLANTED = _planted()
BODY = {place.replace(" ", "_").strip("-"): one.body for place, one in PLANTED.items()}
ALL = [*PLANTED.values(), *TEXTS]
MODULE = '''
"""Says token={docstring}."""
import dataclasses, functools, logging, os, subprocess, sys, threading, warnings
import numpy as np
import helper_{module}

API_KEY = "{global}"  # password: {comment}
TEXTS = {texts!r}
CALLS = 0

@dataclasses.dataclass
class Settings:
    password: str = "{dataclass}"
    level: int = 3

class Odd(Exception):
    """Says token={class}."""

class Client:
    def __init__(self, key):
        self.api_key = key
    def __repr__(self):
        return "Client(api_key='{repr}')"

def good(x, password="{default}"):
    """Works; token={docstring}."""
    print("token={stdout}")
    print("password: {stderr}", file=sys.stderr)
    warnings.warn("secret: {warning}")
    logging.warning("login with password={logging}")
    return x + 1

def other(x, password=None):
    return x + 2 - 1

def made(key):
    def inner(x):
        return x + 1 + 0 * len(key)
    return inner

closed = made("{closure}")
part = functools.partial(lambda key, x: x + 1 + 0 * len(key), "hf_{partial}")

def later(x):
    global CALLS
    CALLS += 1
    if CALLS > 20:
        print("\\n".join(TEXTS))
        print("\\n".join(TEXTS), file=sys.stderr)
        error = ValueError("\\n".join(TEXTS))
        error.add_note("token={note}")
        raise error from KeyError("password={cause}")
    return x + 1

def raises(x):
    client = Client("{attribute}")
    raise Odd(
        f"cannot log in: {{client!r}} {{Settings()}} token={argument} "
        f"{{dict(api_key='{dictionary}')}} {{dict(secret=b'{bytes}')}} "
        f"Authorization: Bearer {header} https://bob:{url}@host/x "
        + os.environ["WANDB_API_KEY"] + os.environ["UPSTREAM"] + " {of_a_variable}"[:0]
        + os.environ["SECRET_OF_A_VARIABLE"]
    )

def leaves(x):
    print("\\n".join(TEXTS))
    sys.exit("token={exit} password={variable}")

def in_thread(x):
    threading.Thread(target=lambda: 1, name="token={thread}").start()
    return object()
'''
PROGRAM = """
import sys, os
import odd
print("token={stdout}")
if sys.argv[1:]:
    odd.raises(1)
"""


class Planting(Desk):
    """A folder of a user whose whole surroundings hold secrets."""

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return self.path / "people" / BODY["home"]

    @property
    def user(self) -> Path:
        """The folder in which the user works."""
        return self.home / f"ghp_{BODY['folder']}"

    @property
    def results(self) -> Path:
        """The folder for what is measured."""
        return self.path / f"glpat-{BODY['results']}"

    def environment(self) -> dict[str, str]:
        """Return the variables of a command, secrets among them."""
        found = super().environment()
        found |= {name: PLANTED[f"variable {name}"].text for name in IN_VARIABLES}
        found["SECRET_OF_A_VARIABLE"] = BODY["of_a_variable"]
        found["HOME"] = str(self.home)
        found["TMPDIR"] = str(self.path / "tmp")
        found["JAX_PLATFORMS"] = "cpu"
        found["PYTHONPATH"] += os.pathsep + str(self.path / "site")
        return found

    def plant(self) -> None:
        """Write all that lies around a user."""
        for folder in (self.user, self.path / "tmp", self.results):
            folder.mkdir(parents=True)
        folder = self.user.relative_to(self.path)
        text = MODULE.format(texts=[one.text for one in TEXTS], **BODY)
        self.write(f"{folder}/odd.py", text)
        self.write(f"{folder}/program.py", PROGRAM.format(**BODY))
        self.write(f"{folder}/helper_{BODY['module']}.py", "X = 1\n")
        self.write(f"{folder}/sk_live_{BODY['file']}.py", "def fit(x):\n    return x + 1\n")
        (self.user / "cache" / "folder").mkdir(parents=True)
        index = pickle.dumps(("0.68.1", f"call(password={BODY['attribute']})", "m.f-3.py311.1.nbc"))
        (self.user / "cache" / "folder" / "m.f-3.py311.nbi").write_bytes(index)
        self.write(f"{folder}/policy.toml", f'password = "{BODY["policy"]}"\n')
        given = f"[tool.coldwarm.bench]\nenv = ['Z_TOKEN={BODY['pyproject']}']\n"
        self.write(f"{folder}/pyproject.toml", given)
        netrc = f"machine host login bob password {BODY['netrc']}\n"
        (self.home / ".netrc").write_text(netrc, "utf-8")
        install(self.path / "site", f"glpat-{BODY['distribution']}", {})
        (self.user / f"hf_{BODY['interpreter']}").symlink_to(sys.prefix)
        (self.user / f"npm_{BODY['wheels']}").mkdir()
        for line in (
            ("init", "-q", "-b", f"ghp_{BODY['branch']}"),
            ("config", "user.name", "n"),
            ("config", "user.email", f"{BODY['mail']}@corp.example.com"),
            ("remote", "add", "origin", f"https://bob:{BODY['remote']}@host/x.git"),
            ("add", "odd.py", "program.py"),
            ("commit", "-qm", f"token={BODY['message']}"),
        ):
            subprocess.run(["git", "-C", str(self.user), *line], check=True)  # noqa: S607 - git

    def here(self, *arguments: str | Path) -> Done:
        """Run a command in this process, as it only reads."""
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environment(), clear=True),
            mock.patch.object(sys, "argv", ["coldwarm", *map(str, arguments)]),
            mock.patch.object(masking, "_told", set()),
            chdir(self.user),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = _tree.run()
        return Done(code, out.getvalue(), err.getvalue())

    def there(self, *arguments: str | Path) -> Done:
        """Run a command in a process of its own, as it measures."""
        done = coldwarm(*arguments, cwd=self.user, env=self.environment(), timeout_s=400)
        return Done(done.returncode, done.stdout, done.stderr)

    def files(self) -> dict[Path, tuple[int, int]]:
        """Return every file there is, and when it was written."""
        found = {}
        for file in self.path.rglob("*"):
            if file.is_file() and not OF_OTHERS & {*file.parts}:
                state = file.stat()
                found[file] = (state.st_mtime_ns, state.st_size)
        return found

    def told(self, ended: Sequence[Done], before: dict[Path, tuple[int, int]]) -> list[str]:
        """Return which secret stands where: in what was printed, and in each file written since."""
        texts = {f"printed {n}": (one.out + "\n" + one.err).encode() for n, one in enumerate(ended)}
        for file, state in self.files().items():
            if before.get(file) != state:
                named = (self.results, self.user, self.path)  # by the user
                under = next(one for one in named if file.is_relative_to(one))
                texts[str(file)] = os.fsencode(file.relative_to(under)) + b"\n" + file.read_bytes()
        found = []
        for where, text in texts.items():
            for layer in walk.layers(text):
                found += [
                    f"{one.place} in {where}: …{layer[max(0, at - 60) : at + 30]!r}"
                    for one in ALL
                    if (at := min((layer.find(f) for f in one.forms if f in layer), default=-1))
                    >= 0
                ]
        return found


class Way(NamedTuple):
    """How one command is called."""

    lines: Sequence[str]
    measures: bool = False
    """Whether it starts what it measures: it gets a process of its own, and time."""
    codes: frozenset[int] = frozenset({0})
    reads: frozenset[str] = frozenset()
    """Of its options that name files those that are only read."""


def _way(*lines: str, codes: Sequence[int] = (0,), reads: Sequence[str] = ()) -> Way:
    return Way(lines, codes=frozenset(codes), reads=frozenset(reads))


def _measuring(*lines: str, codes: Sequence[int] = (0,), reads: Sequence[str] = ()) -> Way:
    return Way(lines, measures=True, codes=frozenset(codes), reads=frozenset(reads))


INPUTS = f"--input x=f64[9] --input password='{BODY['input_password']}'"
GIVEN = f"--env A_TOKEN={BODY['env_A_TOKEN']} --env ACME_SETTING={BODY['env_ACME_SETTING']}"
FAILED = "--warm-only --no-check --out {failed}"
ONCE, TWICE = "--rounds 1 --max-rounds 1", "--rounds 2 --max-rounds 2"
INDEX = f"--index https://bob:{BODY['index']}@127.0.0.1:9/simple"
LINK = f"--link page=https://bob:{BODY['link']}@host/x"
BUCKET = f"--link bucket=https://s3/x?X-Amz-Signature={BODY['link_to_a_bucket']}"
WAYS = {
    "advise": _measuring(f"advise --rounds 2 -- true --token {BODY['argument']}"),
    "backends": _way("backends"),
    "bench": _measuring(
        f"bench --command true {GIVEN} --rounds 1 --out {{new}}",
        f"bench odd.py:good odd.py:other {INPUTS} {GIVEN} {ONCE} --warm-only --out {{new}}"
        " --report json={new}.json --report markdown={new}.md --report github={new}.txt",
        f"bench odd.py:later odd.py:good --input x=f64[9] {GIVEN} {ONCE} --warm-only --no-check"
        " --out {new} --verbose",
        *(
            f"bench odd.py:{name} --input x=f64[9] {ONCE} --warm-only --out {{new}}"
            for name in ("raises", "leaves", "in_thread")
        ),
        f"bench odd.py:closed odd.py:part sk_live_{BODY['file']}.py:fit --input x=f64[9] {ONCE}"
        " --warm-only --out {new}"
        f" --python hf_{BODY['interpreter']}/bin/python",
        codes=(0, 2, 3, 4),
        reads=("--policy",),
    ),
    "cache check": _measuring(
        f"cache check {{cache}} -- program.py --token {BODY['argument']}", codes=(0, 1, 2, 3)
    ),
    "cache key": _measuring("cache key --framework numba --source odd.py --verbose"),
    "cache list": _way("cache list {cache}"),
    "cache pack": _way("cache pack {cache} --out {new}.tar.gz --key {key}"),
    "cache unpack": _way("cache unpack {pack} {new}", reads=("--key",)),
    "cache warm": _measuring("cache warm {new} -- program.py", codes=(0, 1, 2, 3)),
    "cache why": _way("cache why {cache} {cache}"),
    "cases": _way("cases --suite full"),
    "claims compare": _way("claims compare {claims} {claims}"),
    "claims judge": _way("claims judge {claims}"),
    "claims list": _way("claims list"),
    "claims pool": _way("claims pool {claims} {claims}"),
    "claims run": _measuring("claims run autocast-casts-by-itself --out {new}", codes=(0, 3)),
    "claims show": _way(f"claims show {judged.CLAIM} --results {{claims}}", reads=("--results",)),
    "compare": _way(
        "compare {run} {again} --verbose",
        "compare {bench} {failed} --verbose --allow failed",
        "compare {run} {again} --policy policy.toml",
        codes=(0, 2, 4),
        reads=("--policy", "--noise"),
    ),
    "completion": _way("completion bash"),
    "doctor": _measuring(
        "doctor --out {new}.{form} --perfetto {new}.perfetto --warmup {new}.py --verbose"
        f" program.py --token {BODY['argument']}",
        codes=(0, 1),
        reads=("--read", "--diff"),
    ),
    "env": _way("env", "env --private"),
    "export": _way(
        *("export {run}", "export {run} --out {new}", "export {bench} --out {new}"), codes=(0, 2, 3)
    ),
    "history add": _way(
        f"history add {{run}} {{bench}} --to {{new}} --commit sk_live_{BODY['argument']}"
    ),
    "history measure": _measuring(
        f"history measure --to {{new}} --runs 1 --any-noise -- bench odd.py:good {INPUTS}"
        f" {GIVEN} {ONCE} --warm-only",
        codes=(0, 3),
        reads=("--send",),
    ),
    "history backfill": _measuring(
        "history backfill odd.py:good HEAD..HEAD --to {new}.h --input x=f64[9] --out {new}",
        codes=(2,),
    ),
    "history bisect": _measuring(
        "history bisect odd.py:good --good HEAD --bad HEAD --input x=f64[9] --out {new}",
        codes=(2,),
    ),
    "history check": _way("history check {history}"),
    "history pool": _way("history pool {history}"),
    "history query": _way("history query {history}"),
    "history report": _way("history report {history} --out {new}.html"),
    "help": _way("help bench", "help snapshot verify"),
    "noise": _measuring(
        f"noise odd.py:good {INPUTS} --time-budget 3s --warm-only --out {{new}}",
        "noise odd.py:raises --input x=f64[9] --time-budget 3s --warm-only",
        codes=(0, 2, 3, 4),
    ),
    "patterns compare": _way("patterns compare {patterns} {patterns}"),
    "patterns judge": _way("patterns judge {patterns}"),
    "patterns list": _way("patterns list"),
    "patterns pool": _way("patterns pool {patterns} {patterns}"),
    "patterns run": _measuring("patterns run numba-signatures --out {new}", codes=(0, 3)),
    "patterns show": _way(
        f"patterns show {judged.PATTERN} --results {{patterns}}", reads=("--results",)
    ),
    "plan": _way("plan {bench} --calls 100", "plan {bench} --sweep calls", codes=(0, 2)),
    "report": _way(
        "report {bench} --out {new}.{form}",
        "report {failed} --out {new}.{form}",
        "report {run} {again} --compare --out {new}.{form}",
        codes=(0, 2, 4),
    ),
    "run": _measuring(
        f"run --suite full --case numpy_matmul_512_f32 --cache-mode warm_process {ONCE}"
        " --out {new} --page",
        f"run --suite full --case jax_jit_cpu_matmul_512_f32 {ONCE} --out {{new}} --verbose",
        codes=(0, 3),
    ),
    "schema": _way("schema", "schema coldwarm.answers.v1"),
    "show": _way(
        *("show {bench} --verbose", "show {failed} --verbose", "show {run}"), codes=(0, 3)
    ),
    "snapshot compare": _way("snapshot compare {snapshot} {snapshot}"),
    "snapshot create": _way(
        f"snapshot create {{bench}} {{failed}} {{run}} --id s3 --out {{new}} {INDEX}"
        f" --wheels npm_{BODY['wheels']} --registry {{new}}.registry",
        "snapshot create {bench} --id s4 --out {new} --offline --with-code --with-data policy.toml",
        codes=(0, 2, 3),
        reads=("--with-data", "--wheels", "--registry"),
    ),
    "snapshot package": _way("snapshot package {snapshot} --out {new}.tar.gz"),
    "snapshot registry add": _way(
        f"snapshot registry add {{snapshot}} --registry {{new}} {LINK} {BUCKET}", codes=(0, 2)
    ),
    "snapshot registry list": _way(
        "snapshot registry list --registry {registry}", reads=("--registry",)
    ),
    "snapshot replicate": _measuring(
        "snapshot replicate {unsigned} --out {new} --as-it-is --trust --time-budget 5s",
        codes=(0, 1, 2, 4),
        reads=("--public-key", "--noise"),
    ),
    "snapshot sign": _way("snapshot sign {unsigned} --key {key}", reads=("--key",), codes=(0, 2)),
    "snapshot verify": _way("snapshot verify {snapshot}", reads=("--public-key",)),
    "validate": _way("validate {bench} {failed} {run} {snapshot}", codes=(0, 3)),
}
"""Each command with everything that it writes, for each of its formats."""


def test_sixty_are_planted() -> None:
    assert len(PLANTED) >= 60
    guide = Path(__file__).parents[2] / "docs" / "how-to" / "snapshot.md"
    said = f"it plants {len(PLANTED)} secrets and {len(TEXTS)} shapes of them"
    assert said in " ".join(guide.read_text("utf-8").split())
    assert len({one.body for one in ALL}) == len(ALL)


@pytest.mark.parametrize("words", [" ".join(one) for one in walk.commands()])
def test_every_command_and_every_file_of_it_is_walked(words: str) -> None:
    """A command that nobody has listed fails, and so does an option that names a file."""
    command = walk.commands()[tuple(words.split())]
    way = WAYS[words]
    given = {part for line in way.lines for part in line.split() if part.startswith("--")}
    assert walk.files(command) <= given | way.reads


def test_no_command_is_walked_that_is_none() -> None:
    assert WAYS.keys() == {" ".join(one) for one in walk.commands()}


class Measured(NamedTuple):
    """What readers are given, and who measured it."""

    user: Planting
    places: dict[str, str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    """Return results that were measured among all the secrets."""
    user = Planting(tmp_path_factory.mktemp("walk"))
    user.plant()
    before = user.files()
    out = user.results
    names = ("bench", "failed", "run", "again", "snapshot", "unsigned")
    places = {name: str(out / name) for name in names}
    text = "\n".join(one.text for one in TEXTS)
    raised = Raised(error="ValueError", text=text)
    places |= {
        "patterns": str(judged.write_patterns(out / "patterns")),
        "claims": str(judged.write_claims(out / "claims", judged.claim(raised))),
        "key": str(out / "key.pem"),
        "registry": str(out / "registry.json"),
        "user": str(user.user),
        "cache": str(user.user / "cache"),
        "history": str(out / "history"),
        "clean": str(out / "clean"),  # what is unpacked is what was packed
        "pack": str(out / "cache.tar.gz"),
    }
    (out / "clean").mkdir()
    index = pickle.dumps(("0.68.1", "call()", "m.f-3.py311.1.nbc"))
    (out / "clean" / "m.f-3.py311.nbi").write_bytes(index)
    run = f"run --suite full --case numpy_matmul_512_f32 --cache-mode warm_process {TWICE}"
    ended = [
        user.there(*line.format(**places).split())
        for line in (
            f"bench odd.py:good odd.py:other {INPUTS} {GIVEN} {ONCE} --out {{bench}}",
            f"bench odd.py:later odd.py:other --input x=f64[9] {GIVEN} {ONCE} {FAILED}",
            f"{run} --out {{run}}",
            f"{run} --out {{again}}",
        )
    ]
    assert [one.code for one in ended] == [0, 3, 0, 0], ended
    ended += [
        user.here(*line.format(**places).split())
        for line in (
            "snapshot create {bench} {failed} {run} --id s1 --out {snapshot} --offline",
            "snapshot create {run} --id s2 --out {unsigned} --offline --no-report",
            "history add {run} {bench} --to {history}",
            "cache pack {clean} --out {pack}",
        )
    ]
    key = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", places["key"]]
    subprocess.run(key, check=True)
    add = "snapshot registry add {snapshot} --registry {registry}"
    ended.append(user.here(*add.format(**places).split()))
    assert [one.code for one in ended[4:]] == [0, 0, 0, 0, 0], ended
    assert user.told(ended, before) == []
    yield Measured(user, places)
    user.assert_no_orphans()


def _calls(words: str, places: dict[str, str], fresh: Path) -> Iterator[list[str]]:
    """Return each line of a command in each of its formats."""
    command = walk.commands()[tuple(words.split())]
    for number, line in enumerate(WAYS[words].lines):
        for form in walk.forms(command):
            new = f"{fresh}/{words.replace(' ', '-')}-{number}-{form}"
            first, *others = line.format(**places, new=new, form=form or "txt").split()
            at = len(words.split()) - 1
            asked = ["--format", form] if form else []
            yield [first, *others[:at], *asked, *others[at:]]


DEAR = {"compare", "report", "snapshot create", "validate"}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=[pytest.mark.slow] * (words in DEAR))
        for words, way in WAYS.items()
        if not way.measures
    ],
)
def test_what_reads_tells_no_secret(words: str, measured: Measured) -> None:
    user, places = measured
    before = user.files()
    ended = [user.here(*line) for line in _calls(words, places, user.results)]
    _assert_nothing_told(words, user, ended, before)


@pytest.mark.slow
@pytest.mark.parametrize("words", [words for words, way in WAYS.items() if way.measures])
def test_what_measures_tells_no_secret(words: str, measured: Measured) -> None:
    user, places = measured
    before = user.files()
    ended = [user.there(*line) for line in _calls(words, places, user.results)]
    if words in {"doctor", "cache check", "cache warm"}:  # what a program prints is its own
        ended = [_of_ours(one, "" if words == "doctor" else one.out) for one in ended]
    _assert_nothing_told(words, user, ended, before)


def _assert_nothing_told(
    words: str, user: Planting, ended: list[Done], before: dict[Path, tuple[int, int]]
) -> None:
    assert user.told(ended, before) == []
    told = [(one.code, one.err) for one in ended if one.code not in WAYS[words].codes]
    assert told == []
    answers = any(one.out or one.code in {0, 1} for one in ended)
    assert answers or not WAYS[words].codes & {0, 1}, ended


def _of_ours(one: Done, out: str) -> Done:
    """Return what a command said of a program: the traceback is the program's own."""
    said = [line for line in one.err.splitlines() if line.startswith("coldwarm:")]
    return Done(one.code, out, "\n".join(said))
