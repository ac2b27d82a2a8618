"""A small run to publish, a package index beside it, and the command."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from tests.contracts import samples
from tests.faults import lab
from tests.publish.offered import Index
from tests.started import coldwarm
from tests.stats import results

from coldwarm.cli import main
from coldwarm.cli.snapshot import views as views_of
from coldwarm.publish import collect, create, signing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coldwarm.contracts.environment import Environment

INSTALLED = {"numpy": "2.4.6", "coldwarm": "0.1.0", "idna": "3.20", "acme-internal": "1.0"}
QUICK = ("--offline", "--no-report")
OTHER = "numpy_matmul_512_f32"


def environment(**changes: object) -> Environment:
    return samples.environment(**{"distributions": INSTALLED, **changes})


def write_run(folder: Path, seed: int = 1, **changes: object) -> Path:
    """Leave a run of two cases in a folder, whose name is its run's."""
    made = [results.case(seed), results.case(seed + 1, case=OTHER)]
    return results.write(folder, made, environment(**changes))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two cases."""
    return write_run(tmp_path / "run")


class Command:
    """``coldwarm`` with arguments: its exit code and what it printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """Keep what is needed to call it."""
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error."""
        self.monkeypatch.setattr(sys, "argv", ["coldwarm", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main.main()
        printed = self.capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err


class Call(Command):
    """``coldwarm snapshot`` with arguments."""

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error."""
        return super().__call__("snapshot", *arguments)

    def create(self, run: Path, out: Path, *more: str | Path, name: str = "s1") -> Path:
        """Make a snapshot without asking any index; return its folder."""
        code, _, err = self("create", run, "--id", name, "--out", out, *QUICK, *more)
        assert code == 0, err
        return out

    def refused(self, *arguments: str | Path, code: int = 2) -> str:
        """Return the one line with which arguments are refused."""
        ended, out, err = self(*arguments)
        assert ended == code, (out, err)
        assert err.count("\n") == 1, err
        return err


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command as the program does."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("GITHUB_WORKFLOW", "GITHUB_REPOSITORY", "GITHUB_REF", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)
    return Call(monkeypatch, capsys)


@pytest.fixture
def command(call: Call) -> Command:
    """Run any command as the program does."""
    return Command(call.monkeypatch, call.capsys)


@pytest.fixture
def snapshot(run: Path, call: Call, tmp_path: Path) -> Path:
    """A snapshot of the run."""
    return call.create(run, tmp_path / "snapshots" / "s1", "--reproducible")


def _serve(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a package index with two distributions, the only one that there is."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    yield from _serve(Index)


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its path."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def program(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``coldwarm snapshot`` in a process of its own."""
    return coldwarm("snapshot", *arguments)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a small workload is installed, and a backend that compiles for it."""
    sys.path.insert(0, str(lab.PLUGIN))
    try:
        classes: dict[str, str] = import_module("faulty_backend").CLASSES
    finally:
        sys.path.remove(str(lab.PLUGIN))
    return lab.install(
        tmp_path_factory.mktemp("site"),
        "coldwarm_faults",
        {
            "coldwarm.backends": {"honest": f"faulty_backend:{classes['honest']}"},
            "coldwarm.workloads": {"small": "faulty_workload"},
        },
    )


@pytest.fixture(scope="session")
def measured(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was really measured, by this version: everything in it can be computed again."""
    bench = lab.Lab(tmp_path_factory.mktemp("lab"), [site])
    plan = ("--backend", "numpy,honest", "--deterministic", "--rounds", "2", "--max-rounds", "2")
    done = bench.run(*plan)
    assert done.code == 0, done.err
    bench.assert_no_orphans()
    return bench.out


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A private key and the public one of it, as ``openssl`` makes them."""
    folder = tmp_path_factory.mktemp("keys")
    private, public = folder / "key.pem", folder / "pub.pem"
    openssl("genpkey", "-algorithm", "ed25519", "-out", private)
    openssl("pkey", "-in", private, "-pubout", "-out", public)
    return private, public


@pytest.fixture(scope="session")
def signed(
    measured: Path, keys: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A snapshot of that run, signed: it is copied, never changed."""
    folder = tmp_path_factory.mktemp("snapshots") / "s1"
    request = create.SnapshotRequest(
        "s1",
        collect.collect((measured,)),
        deterministic=True,
        sources=None,
        with_wheel=True,
        views=views_of(skip_missing=True),
    )
    create.create(request, folder)
    signing.sign(folder, keys[0])
    return folder


def openssl(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``openssl``, which knows nothing of coldwarm."""
    line = ["openssl", *map(str, arguments)]
    return subprocess.run(line, check=False, capture_output=True, text=True, timeout=60)
