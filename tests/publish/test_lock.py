"""The measured environment as a lock: what it holds, what it lacks, what it must not tell."""

from __future__ import annotations

import hashlib
import json
import tomllib
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from packaging.pylock import Pylock
from tests.publish.conftest import QUICK, WHEELS, Call, environment, sha256_of, write_run

from coldwarm.contracts.files.codec import load_as
from coldwarm.contracts.snapshot import BaselineManifest
from coldwarm.publish import layout, lock, wheel
from coldwarm.publish.making import packages
from coldwarm.runner import harness

if TYPE_CHECKING:
    from pathlib import Path


def made(call: Call, run: Path, out: Path, *more: str | Path) -> tuple[dict[str, Any], str]:
    code, said, err = call("create", run, "--id", "s1", "--out-dir", out, "--no-report", *more)
    assert code == 0, err
    document = tomllib.loads((out / layout.LOCK).read_text())
    Pylock.from_dict(document).validate()
    return {one["name"]: one for one in document["packages"]}, said


def test_the_lock_has_the_wheels_that_fit_the_measured_interpreter(
    run: Path, call: Call, index: str, tmp_path: Path
) -> None:
    found, said = made(call, run, tmp_path / "s", "--index", index)
    assert found.keys() == {"idna", "numpy"}
    fitting = WHEELS["numpy"][0]
    [one] = found["numpy"]["wheels"]
    assert one["name"] == fitting
    assert one["hashes"] == {"sha256": sha256_of(fitting)}
    assert one["url"] == f"https://files.example.org/{fitting}"
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


def test_an_index_of_html_gives_the_same_lock(
    run: Path, call: Call, index: str, old_index: str, tmp_path: Path
) -> None:
    one, _ = made(call, run, tmp_path / "a" / "s", "--index", index)
    two, _ = made(call, run, tmp_path / "b" / "s", "--index", old_index)
    hashes = [
        {name: [w["hashes"] for w in package["wheels"]] for name, package in found.items()}
        for found in (one, two)
    ]
    assert hashes[0] == hashes[1]


def test_nothing_private_of_an_index_is_in_a_file(
    run: Path, call: Call, index: str, tmp_path: Path
) -> None:
    address = index.replace("http://", "http://bob:swordfish99@")
    code, _, err = call(
        "create", run, "--id", "s", "--out-dir", tmp_path / "s", "--index", address, "--no-report"
    )
    assert code == 0, err
    for file in (tmp_path / "s").rglob("*.*"):
        for private in (b"swordfish", b"hunter2", b"abcdefgh1234", b"127.0.0.1", b"bob"):
            assert file.is_dir() or private not in file.read_bytes(), file


def test_without_an_answer_there_are_versions_alone(run: Path, call: Call, tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9/simple"
    code, said, _ = call(
        "create", run, "--id", "s1", "--out-dir", tmp_path / "s", "--index", nowhere, "--no-report"
    )
    assert code == 0
    assert "No pylock.toml, only requirements.txt without hashes: the package index" in said
    assert "make the snapshot where there is a network" in said
    assert not (tmp_path / "s" / layout.LOCK).exists()
    assert "numpy==2.4.6" in (tmp_path / "s" / layout.PINS).read_text()
    manifest = load_as(BaselineManifest, tmp_path / "s" / layout.MANIFEST)
    assert manifest.environment["lock"]["hashed"] is False


def test_an_index_is_an_address_of_the_web(run: Path, call: Call, tmp_path: Path) -> None:
    line = ("create", run, "--id", "s1", "--out-dir", tmp_path / "s")
    for address in ("file:///etc", "ftp://host/x", "simple"):
        assert call(*line, "--index", address, "--no-report")[0] == 2
    assert call(*line, "--index", "https://host/simple", "--offline")[0] == 2


def test_runs_of_two_environments_are_two_snapshots(run: Path, call: Call, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", seed=5, distributions={"numpy": "2.4.5"})
    refused = call.refused("create", run, other, "--id", "s1", "--out-dir", tmp_path / "s", *QUICK)
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
    assert lock.fits(file, environment()) is fitting


def test_names_that_were_masked_are_not_asked_for(call: Call, tmp_path: Path, index: str) -> None:
    installed = {"idna": "3.20", "***": "1.0", "x": "***", "a b": "1"}
    run = write_run(tmp_path / "run", distributions=installed)
    found, said = made(call, run, tmp_path / "s", "--index", index)
    assert found.keys() == {"idna"}
    assert "as no index has one: jax\n" in said


def test_builds_of_pytorch_have_the_address_of_their_own_index(tmp_path: Path) -> None:
    name = "torch-2.9.1+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"
    (tmp_path / name).write_bytes(b"wheel")
    (tmp_path / "other-1.0-py3-none-any.whl").write_bytes(b"other")
    [found] = packages._lying("torch", "https://download.pytorch.org/whl/cpu", [tmp_path])
    assert found == packages.Wheel(
        name,
        "https://download.pytorch.org/whl/cpu/torch-2.9.1%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl",
        hashlib.sha256(b"wheel").hexdigest(),
        5,
    )


def test_the_wheel_is_of_what_measured(
    run: Path, call: Call, tmp_path: Path, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("create", run, "--id", "s1", "--out-dir", tmp_path / "s", "--with-wheel")
    assert "were measured by other sources" in call.refused(*line, *QUICK)
    for case in (run / "cases").iterdir():
        assert json.loads(case.read_text())["protocol"]["harness_sha256"] == "0" * 64
    monkeypatch.setattr("coldwarm.publish.making.create.harness_sha256", lambda: "0" * 64)
    found, _ = made(call, run, tmp_path / "s", "--with-wheel", "--index", index)
    [one] = found["coldwarm"]["wheels"]
    file = tmp_path / "s" / one["path"]
    assert one["hashes"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert wheel.build() == file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        assert archive.testzip() is None
    package = [file for file in harness.PACKAGE.rglob("*") if file.is_file()]
    assert {
        file.relative_to(harness.PACKAGE.parent).as_posix()
        for file in package
        if file.suffix != ".pyc"
    } <= names
    assert not [name for name in names if name.endswith((".pyc", "direct_url.json"))]
    manifest = load_as(BaselineManifest, tmp_path / "s" / layout.MANIFEST)
    assert manifest.nextstat.wheel_sha256 == one["hashes"]["sha256"]
