"""``torch.compile`` where every folder has a name that takes a command line apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.functions.conftest import Desk

if TYPE_CHECKING:
    from tests.faults.lab import Done

pytestmark = pytest.mark.slow
ONE = ("--rounds", "1", "--max-rounds", "1", "--out")
ODD = 'it\'s a "Müller" folder'


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    pytest.importorskip("torch")
    home = tmp_path / ODD
    (home / "tmp dir").mkdir(parents=True)
    environment = home / "my env"
    environment.symlink_to(sys.prefix)
    monkeypatch.setattr(sys, "executable", str(environment / "bin" / Path(sys.executable).name))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(home / "tmp dir"))
    return Desk(home)


def run(desk: Desk) -> tuple[Done, str]:
    name = "torch_compile_cpu_matmul_512_f32"
    return desk.command("run", "--case", name, *ONE, desk.out, timeout_s=400), name


def bench(desk: Desk) -> tuple[Done, str]:
    desk.write("double.py", "import torch\ndouble = torch.compile(lambda x: x * 2 + 1)\n")
    x = ("--input", "x=f32[50]")
    return desk.command(
        "bench", "double.py:double", *x, "--cold-only", *ONE, desk.out, timeout_s=400
    ), "double"


@pytest.mark.parametrize("command", [run, bench])
def test_a_blank_or_a_quote_in_a_path_breaks_nothing(desk: Desk, command: object) -> None:
    assert callable(command)
    done, name = command(desk)
    assert done.code == 0, done.err
    case = desk.case(name)
    assert case["status"] == "ok"
    cold = next(one for one in case["observations"] if one["cache_mode"].endswith("cold_cache"))
    (evidence,) = [one for one in cold["evidence"] if one["owner"] == "inductor"]
    assert evidence["files_before"] == 0
    assert evidence["files_after"] > 0
    places = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - where links are put
    links = [link for place in places for link in place.glob("coldwarm-*/*")]
    left = [link for link in links if link.is_symlink() and ODD in str(link.readlink())]
    assert left == []
    assert list((desk.path / "tmp dir").iterdir()) == []
