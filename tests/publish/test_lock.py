"""The measured environment as a lock: what it holds, what it lacks, what it must not tell."""

from __future__ import annotations

import hashlib
import json
import tomllib
import zipfile
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest
from packaging.pylock import Pylock
from packaging.utils import canonicalize_name
from tests.publish import offered
from tests.publish.conftest import QUICK, Call, write_run
from tests.publish.conftest import environment as surroundings
from tests.publish.offered import sha256_of

from coldwarm.contracts.codec import load_as
from coldwarm.contracts.snapshot import BaselineManifest
from coldwarm.publish import layout, lock
from coldwarm.runner import harness

if TYPE_CHECKING:
    from pathlib import Path


def made(call: Call, run: Path, out: Path, *more: str | Path) -> tuple[dict[str, Any], str]:
    code, said, err = call("create", run, "--id", "s1", "--out", out, "--no-report", *more)
    assert code == 0, err
    document = tomllib.loads((out / layout.LOCK).read_text())
    Pylock.from_dict(document).validate()
    return {one["name"]: one for one in document["packages"]}, said


def test_the_lock_has_the_wheels_of_the_index(
    run: Path, call: Call, index: str, tmp_path: Path
) -> None:
    found, said = made(call, run, tmp_path / "s", "--index", index)
    assert found.keys() == {"idna", "numpy"}
    fitting = "numpy-2.4.6-py3-none-any.whl"
    [one] = found["numpy"]["wheels"]
    assert one["name"] == fitting
    assert one["hashes"] == {"sha256": sha256_of(fitting)}
    assert one["url"] == index.replace("simple", f"files/{fitting}")
    assert (
        "Without a wheel in pylock.toml, as no index has one: acme-internal, coldwarm, jax" in said
    )
    manifest = load_as(BaselineManifest, tmp_path / "s" / layout.MANIFEST)
    assert manifest.environment["lock"] == {
        "hashed": True,
        "without_wheel": ["acme-internal", "coldwarm", "jax"],
    }
    pins = (tmp_path / "s" / layout.PINS).read_text().splitlines()
    assert {"acme-internal==1.0", "idna==3.20", "numpy==2.4.6"} <= set(pins)


@pytest.mark.parametrize("named", ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "a file", "find links"])
def test_pip_is_asked_as_the_user_has_set_it_up(
    run: Path, call: Call, index: str, tmp_path: Path, named: str
) -> None:
    """GIVEN a mirror, an index of a firm, or a folder WHEN a lock is made THEN it is from there."""
    if named == "a file":
        (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {index}\n")
        call.monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    elif named == "find links":
        (tmp_path / "wheels").mkdir()
        for file, data in offered.WHEELS.items():
            (tmp_path / "wheels" / file).write_bytes(data)
        call.monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
        call.monkeypatch.setenv("PIP_NO_INDEX", "1")
    else:
        call.monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        call.monkeypatch.setenv(named, index)
        if named == "PIP_EXTRA_INDEX_URL":
            call.monkeypatch.setenv("PIP_INDEX_URL", index.replace("simple", "nothing"))
    found, said = made(call, run, tmp_path / "s")
    assert found.keys() == {"idna", "numpy"}
    [one] = found["idna"]["wheels"]
    assert one["hashes"] == {"sha256": sha256_of("idna-3.20-py3-none-any.whl")}
    if named == "find links":
        assert one["path"] == "idna-3.20-py3-none-any.whl"
        assert str(tmp_path) not in (tmp_path / "s" / layout.LOCK).read_text()
    else:
        # The name of a firm's index may identify it.
        assert "pylock.toml: packages.*.url: 127.0.0.1" in said


def test_no_address_of_an_index_stands_in_the_code() -> None:
    for file in harness.PACKAGE.rglob("*.py"):
        text = file.read_text("utf-8")
        assert "pypi.org/simple" not in text, file
        assert "download.pytorch.org" not in text, file


def test_without_pip_there_are_versions_alone(
    run: Path, call: Call, index: str, tmp_path: Path
) -> None:
    call.monkeypatch.setattr(lock, "_PIP", ("-m", "no_pip_here"))
    line = ("create", run, "--id", "s1", "--out", tmp_path / "s", "--no-report")
    code, said, _ = call(*line)
    assert code == 0
    assert "no package index gave an answer" in said
    assert "No module named no_pip_here" in said


def test_nothing_private_of_an_index_is_in_a_file(
    run: Path, call: Call, index: str, tmp_path: Path
) -> None:
    address = index.replace("http://", "http://bob:swordfish99@")
    code, _, err = call(
        "create", run, "--id", "s", "--out", tmp_path / "s", "--index", address, "--no-report"
    )
    assert code == 0, err
    for file in (tmp_path / "s").rglob("*.*"):
        for private in (b"swordfish", b"abcdefgh1234", b"bob"):
            assert file.is_dir() or private not in file.read_bytes(), file


def test_without_an_answer_there_are_versions_alone(run: Path, call: Call, tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9/simple"
    code, said, _ = call(
        "create", run, "--id", "s1", "--out", tmp_path / "s", "--index", nowhere, "--no-report"
    )
    assert code == 0
    assert "No pylock.toml, only requirements.txt without hashes: no package index" in said
    assert "make the snapshot where there is a network" in said
    assert not (tmp_path / "s" / layout.LOCK).exists()
    assert "numpy==2.4.6" in (tmp_path / "s" / layout.PINS).read_text()
    manifest = load_as(BaselineManifest, tmp_path / "s" / layout.MANIFEST)
    assert manifest.environment["lock"]["hashed"] is False


def test_an_index_is_an_address_of_the_web(run: Path, call: Call, tmp_path: Path) -> None:
    line = ("create", run, "--id", "s1", "--out", tmp_path / "s")
    for address in ("file:///etc", "ftp://host/x", "simple"):
        assert call(*line, "--index", address, "--no-report")[0] == 2
    assert call(*line, "--index", "https://host/simple", "--offline")[0] == 2


def test_runs_of_two_environments_are_two_snapshots(run: Path, call: Call, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", seed=5, distributions={"numpy": "2.4.5"})
    refused = call.refused("create", run, other, "--id", "s1", "--out", tmp_path / "s", *QUICK)
    assert "numpy 2.4" in refused
    assert "make a snapshot for each of them" in refused


@pytest.mark.parametrize(
    ("file", "fitting"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-py2.py3-none-any.whl", True),
        ("a-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
        ("a-1-cp39-abi3-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp311-none-manylinux_2_28_x86_64.whl", True),
        ("a-1-1-py3-none-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp312-abi3-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp312-cp312-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp311-cp311t-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp311-cp311-manylinux_2_28_aarch64.whl", False),
        ("a-1-cp311-cp311-musllinux_1_2_x86_64.whl", False),
        ("a-1-py2-none-any.whl", False),
        ("a-1-cp311-cp311-win_amd64.whl", False),
        ("a-1.whl", False),
    ],
)
def test_which_wheels_fit(file: str, fitting: bool) -> None:  # noqa: FBT001 - one expectation
    assert lock._fits(file, surroundings()) is fitting


def test_pip_is_asked_for_what_is_needed_alone() -> None:
    installed: dict[str, str] = {
        canonicalize_name(one.metadata["Name"]): one.version for one in metadata.distributions()
    }
    found = lock._needed_pins({"numpy"}, installed)
    assert found.keys() >= {"coldwarm", "numpy", "msgspec", "cryptography"}
    assert not found.keys() & {"pytest", "ruff", "mypy", "sphinx"}
    other = installed | {"numpy": "0.0.1"}
    assert lock._needed_pins({"numpy"}, other) == other, "nothing tells what that version requires"


def test_names_that_were_masked_are_not_asked_for(call: Call, tmp_path: Path, index: str) -> None:
    installed = {"idna": "3.20", "***": "1.0", "x": "***", "a b": "1"}
    run = write_run(tmp_path / "run", distributions=installed)
    found, said = made(call, run, tmp_path / "s", "--index", index)
    assert found.keys() == {"idna"}
    assert "as no index has one: jax\n" in said


def test_the_wheel_is_of_what_measured(
    run: Path, call: Call, tmp_path: Path, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("create", run, "--id", "s1", "--out", tmp_path / "s", "--with-wheel")
    assert "were measured by other sources" in call.refused(*line, *QUICK)
    for case in (run / "cases").iterdir():
        assert json.loads(case.read_text())["protocol"]["harness_sha256"] == "0" * 64
    monkeypatch.setattr("coldwarm.publish.create.harness_sha256", lambda: "0" * 64)
    found, _ = made(call, run, tmp_path / "s", "--with-wheel", "--index", index)
    [one] = found["coldwarm"]["wheels"]
    file = tmp_path / "s" / one["path"]
    assert one["hashes"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert lock.build_own_wheel() == file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        assert archive.testzip() is None
    package = [file for file in harness.PACKAGE.rglob("*") if file.is_file()]
    assert {
        file.relative_to(harness.PACKAGE.parent).as_posix()
        for file in package
        if "__pycache__" not in file.parts  # Numba keeps some there, too
    } <= names
    assert not [name for name in names if name.endswith((".pyc", "direct_url.json"))]
    manifest = load_as(BaselineManifest, tmp_path / "s" / layout.MANIFEST)
    assert manifest.nextstat.wheel_sha256 == one["hashes"]["sha256"]
