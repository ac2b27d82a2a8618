"""A cache in an image, looked at where it is used: by a real engine, in an image made here."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cache.test_check import JITTED
from tests.started import coldwarm

if TYPE_CHECKING:
    from collections.abc import Iterator


def runs(name: str) -> bool:
    """Say whether an engine is there and answers."""
    found = shutil.which(name)
    if found is None:
        return False
    done = subprocess.run([found, "version"], capture_output=True, check=False)
    return not done.returncode


ENGINE = next(filter(runs, ("docker", "podman")), None)
NEEDED = ("jax", "jaxlib", "numpy", "scipy", "ml_dtypes", "opt_einsum")
CACHE, PROGRAM = "/opt/compiled", "/app/train.py"
NAME = "localhost/coldwarm-test"
SETTINGS = {
    "JAX_COMPILATION_CACHE_DIR": CACHE,
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "PATH": "/usr/bin",
}


def engine(*command: str) -> str:
    """Return what the engine prints."""
    assert ENGINE is not None
    done = subprocess.run([ENGINE, *command], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def libraries(files: set[Path]) -> set[Path]:
    """Return the libraries of the system that files are linked with."""
    found = set()
    for file in files:
        done = subprocess.run(["/usr/bin/ldd", file], capture_output=True, text=True, check=False)
        words = [one for line in done.stdout.splitlines() for one in line.split()]
        found |= {Path(one) for one in words if one.startswith("/") and Path(one).is_file()}
    return found


def packed(place: Path) -> Path:
    """Return an archive of this Python, of JAX, and of what both are linked with."""
    site = Path(sysconfig.get_path("purelib"))
    names = [
        str(one).partition("/")[0]
        for name in NEEDED
        for one in importlib.metadata.files(name.replace("_", "-")) or ()
        if not str(one).startswith("..")
    ]
    base = Path(sys.base_prefix)
    binary = Path(sys.executable).resolve()
    linked = {
        binary,
        *(site / "jaxlib").rglob("*.so"),
        *base.glob("lib/python3.*/lib-dynload/*.so"),
    }
    linked |= {*(site / "numpy").rglob("*.so")}
    archive = place / "image.tar"
    with tarfile.open(archive, "w", dereference=True) as file:
        for one in libraries(linked):
            if not {base, site} & {*one.resolve().parents}:
                file.add(one, str(one))
        file.add(base / "lib", str(base / "lib"), filter=left_out)
        file.add(binary, str(binary))
        for name in dict.fromkeys(names):
            file.add(site / name, f"/site/{name}", filter=left_out)
        made = place / "train.py"
        made.write_text(JITTED.read_text())
        file.add(made, PROGRAM)
        for folder in ("tmp", "opt", "usr/bin"):
            writable = tarfile.TarInfo(folder)
            writable.type, writable.mode = tarfile.DIRTYPE, 0o777
            file.addfile(writable)
    return archive


def left_out(one: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out what no program needs."""
    parts = Path(one.name).parts
    unused = {"__pycache__", "test", "tests", "site-packages", "idlelib", "config"} & {*parts}
    return None if unused or one.name.endswith(".a") else one


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image whose cache its program has filled."""
    if ENGINE is None:
        pytest.skip("neither docker nor podman runs here")
    place = tmp_path_factory.mktemp("image")
    archive = packed(place)
    python = str(Path(sys.executable).resolve())
    changes = [f"--change=ENV {name}={value}" for name, value in SETTINGS.items()]
    engine("import", *changes, "--change=ENV PYTHONPATH=/site", str(archive), f"{NAME}:raw")
    archive.unlink()
    try:
        engine("run", "--name", "coldwarm-fill", f"{NAME}:raw", python, PROGRAM)
        engine("commit", "coldwarm-fill", f"{NAME}:filled")
        engine("rm", "--force", "coldwarm-fill")
        yield f"{NAME}:filled"
    finally:
        subprocess.run([ENGINE, "rm", "--force", "coldwarm-fill"], capture_output=True, check=False)
        for tag in ("changed", "unset", "filled", "raw"):
            subprocess.run([ENGINE, "rmi", f"{NAME}:{tag}"], capture_output=True, check=False)


def checked(image: str) -> subprocess.CompletedProcess[str]:
    """Check the cache of an image."""
    python = str(Path(sys.executable).resolve())
    given = ("cache", "check", CACHE, "--image", image, "--python", python, "--format", "json")
    return coldwarm(*given, "--", PROGRAM)


def changed(image: str, tag: str, *variables: str) -> str:
    """Return an image with other variables."""
    name = engine("create", image, "none")
    changes = [f"--change=ENV {one}" for one in variables]
    engine("commit", *changes, name, f"{NAME}:{tag}")
    engine("rm", "--force", name)
    return f"{NAME}:{tag}"


@pytest.mark.slow
def test_a_program_finds_what_lies_in_its_image(image: str) -> None:
    before = engine("ps", "--all", "--quiet")
    done = checked(image)
    assert not done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert found["image"] == image
    assert {one["outcome"] for one in found["lines"]} == {"found"}
    assert engine("ps", "--all", "--quiet") == before


@pytest.mark.slow
def test_an_image_with_another_setting_misses_and_the_setting_is_named(image: str) -> None:
    done = checked(changed(image, "changed", "XLA_FLAGS=--xla_cpu_max_isa=AVX2"))
    assert done.returncode == 1, done.stderr
    codes = {why["code"] for one in json.loads(done.stdout)["lines"] for why in one["why"]}
    assert codes <= {"key_option", "key_features", "key_processor"}
    assert codes


@pytest.mark.slow
def test_an_image_that_does_not_name_its_cache_is_told_so(image: str) -> None:
    done = checked(changed(image, "unset", "JAX_COMPILATION_CACHE_DIR="))
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert {why["code"] for one in found["lines"] for why in one["why"]} == {"key_unset"}


@pytest.mark.slow
def test_a_cache_behind_a_link_in_the_image_is_that_of_the_image(image: str) -> None:
    python = str(Path(sys.executable).resolve())
    link = f"import os; os.symlink({CACHE!r}, '/opt/link')"
    engine("run", "--name", "coldwarm-link", f"--entrypoint={python}", image, "-c", link)
    change = "--change=ENV JAX_COMPILATION_CACHE_DIR=/opt/link"
    try:
        engine("commit", change, "--change=VOLUME /opt/data", "coldwarm-link", f"{NAME}:changed")
    finally:
        engine("rm", "--force", "coldwarm-link")
    before = engine("volume", "ls", "--quiet")
    given = ("cache", "check", "/opt/link", "--image", f"{NAME}:changed", "--python", python)
    done = coldwarm(*given, "--format", "json", "--", PROGRAM)
    found = json.loads(done.stdout)
    assert found["n_kept"] > 0
    assert found["lines"]
    assert {one["outcome"] for one in found["lines"]} <= {"found", "missed"}
    assert engine("volume", "ls", "--quiet") == before


@pytest.mark.slow
def test_a_program_in_an_image_is_ended_by_ctrl_c(image: str) -> None:
    python = str(Path(sys.executable).resolve())
    writes = f"open('/app/deaf.py', 'w').write({DEAF!r})"
    engine("run", "--name", "coldwarm-deaf", f"--entrypoint={python}", image, "-c", writes)
    try:
        engine("commit", "coldwarm-deaf", f"{NAME}:changed")
    finally:
        engine("rm", "--force", "coldwarm-deaf")
    line = (sys.executable, "-m", "coldwarm", "cache", "check", CACHE, "--image", f"{NAME}:changed")
    process = subprocess.Popen(
        # It is ignored where the tests run in the background of a shell, and by what they start.
        ["/usr/bin/env", "--default-signal=INT", *line, "--python", python, "--", "/app/deaf.py"],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"on\n"
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not engine("ps", "--all", "--quiet", "--filter", "name=coldwarm-")


DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("on", flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_what_is_not_in_an_image_is_one_clear_line(image: str) -> None:
    python = str(Path(sys.executable).resolve())
    for given, said in (
        (("/nowhere", "--image", image, "--", PROGRAM), "/nowhere"),
        (("compiled", "--image", image, "--", PROGRAM), "write it from /"),
        ((CACHE, "--image", "localhost/no-such-image", "--", PROGRAM), "no-such-image"),
        ((CACHE, "--image", image, "--python", "/no/python", "--", PROGRAM), "--python"),
        ((CACHE, "--image", image, "--python", python, "--", "/no.py"), "exit status"),
    ):
        done = coldwarm("cache", "check", *given)
        assert said in done.stderr + done.stdout
        assert done.returncode
        assert "Traceback" not in done.stderr
    assert not Path("/.coldwarm").exists()
