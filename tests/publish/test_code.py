"""Functions of a user's own in a snapshot: measured again elsewhere."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.faults import lab

from coldwarm.contracts.reasons import RefusedError
from coldwarm.publish import code, layout, replicate
from coldwarm.runner import recompute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.publish.conftest import Call

FIT = """\
import json
from pathlib import Path

from maths import powers


def fit(n: int) -> float:
    known = json.loads((Path(__file__).parent / "data" / "known.json").read_text())
    return powers.square(n) + known["offset"]


def slow_fit(n: int) -> float:
    return sum(fit(n) for _ in range(50)) / 50
"""
PLAN = ("--input", "n=3", "--warm-only", "--rounds", "2", "--max-rounds", "2")
TARGETS = ("fit.py:fit", "other=fit.py:slow_fit")


def project(folder: Path) -> Path:
    """Write functions with what they import and read, and things that are none of it."""
    (folder / "maths").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "fit.py").write_text(FIT)
    (folder / "maths" / "__init__.py").write_text("")
    (folder / "maths" / "powers.py").write_text(
        "from .deeper import TWO\n\n\ndef square(n):\n    return float(n**TWO)\n"
    )
    (folder / "maths" / "deeper.py").write_text("TWO = 2\n")
    (folder / "maths" / "never.py").write_text("raise SystemExit\n")
    (folder / "data" / "known.json").write_text('{"offset": 0.5}')
    (folder / "notes.txt").write_text("not for others")
    return folder


@pytest.fixture(scope="session")
def benched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which a bench ran, with the result in ``out``."""
    folder = project(tmp_path_factory.mktemp("benched") / "project")
    bench = lab.Lab(folder)
    done = bench.command("bench", *TARGETS, *PLAN, "--out", "out")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def here(benched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is the working directory."""
    folder = tmp_path / "project"
    shutil.copytree(benched, folder)
    monkeypatch.chdir(folder)
    return folder


WITH = ("--with-code", "--with-data", "data")


@pytest.mark.slow
def test_a_bench_is_measured_again_from_the_archive_elsewhere(
    call: Call, here: Path, tmp_path: Path
) -> None:
    """GIVEN bench, create, package WHEN replicated in another folder THEN each case is repeated."""
    snapshot = call.create(here / "out", tmp_path / "s1", *WITH)
    held = {
        file.relative_to(snapshot / "code").as_posix() for file in snapshot.rglob("code/**/*.*")
    }
    assert held == {
        "data/known.json",
        "fit.py",
        "maths/__init__.py",
        "maths/deeper.py",
        "maths/powers.py",
    }
    assert call("verify", snapshot)[0] == 0
    assert call("package", snapshot, "--out", tmp_path / "s1.tar.gz")[0] == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(here)
    bench = lab.Lab(elsewhere)
    line = ("snapshot", "replicate", tmp_path / "s1.tar.gz", "--as-it-is", "--out", "again")
    done = bench.command(*line)
    assert done.code == 2
    assert "code of its maker: code/data/known.json, code/fit.py" in done.err
    assert "nothing was installed or run" in done.err
    assert not (elsewhere / "again").exists()
    done = bench.command(*line, "--trust", "--json")
    assert done.code in {0, 1, 4}, done.err
    [run] = json.loads(done.out)["runs"]
    assert {case["case"] for case in run["cases"]} == {"fit_bench_1_own", "other_bench_1_own"} or (
        len(run["cases"]) == 2
    )
    assert run["left_out"] == []
    assert run["differing"] == []


def test_what_others_cannot_measure_again_is_said(call: Call, here: Path, tmp_path: Path) -> None:
    code_, out, _ = call("create", here / "out", "--id", "s1", "--out", tmp_path / "s1",
                         "--offline", "--no-report")  # fmt: skip
    assert code_ == 0
    [line] = [one for one in out.splitlines() if one.startswith("Others cannot measure again")]
    assert "fit" in line
    assert "other" in line
    assert "snapshot create --with-code puts it in" in line
    again = ("replicate", tmp_path / "s1", "--out", tmp_path / "r", "--as-it-is", "--trust")
    assert "--with-code puts it in" in call.refused(*again)


def test_functions_are_run_with_trust_alone(call: Call, here: Path, tmp_path: Path) -> None:
    snapshot = call.create(here / "out", tmp_path / "s1", *WITH)
    for more in ((), ("--as-it-is",)):
        code_, _, err = call("replicate", snapshot, "--out", tmp_path / "r", *more)
        assert code_ == 2
        assert "nothing was installed or run" in err.splitlines()[-1]
        assert not (tmp_path / "r").exists()


def test_another_function_under_that_name_is_not_run(
    call: Call, here: Path, tmp_path: Path
) -> None:
    """GIVEN a function in the snapshot that is not the one that was measured THEN refused."""
    snapshot = call.create(here / "out", tmp_path / "s1", *WITH)
    runs = {"bench": recompute.read(snapshot / "results" / "bench")}
    assert "code/fit.py" in replicate._lay_code(snapshot, runs, tmp_path / "r")
    (snapshot / "code" / "fit.py").write_text(FIT.replace("50", "1"))
    with pytest.raises(RefusedError) as refused:
        replicate._lay_code(snapshot, runs, tmp_path / "again")
    assert refused.value.reason.code == "code_differs"


def _changed(here: Path) -> None:
    (here / "fit.py").write_text(FIT + "\n")


def _missing(here: Path) -> None:
    (here / "fit.py").unlink()


def _linked(here: Path) -> None:
    (here / "fit.py").rename(here.parent / "fit.py")
    (here / "fit.py").symlink_to(here.parent / "fit.py")


def _import_linked(here: Path) -> None:
    (here / "maths" / "deeper.py").unlink()
    (here / "maths" / "deeper.py").symlink_to("/etc/hostname")


def _folder_linked(here: Path) -> None:
    (here / "maths").rename(here.parent / "maths")
    (here / "maths").symlink_to(here.parent / "maths")


def _data_linked(here: Path) -> None:
    (here / "data" / "passwd").symlink_to("/etc/passwd")


def _pipe(here: Path) -> None:
    (here / "data" / "known.json").unlink()
    os.mkfifo(here / "data" / "known.json")


def _no_python(here: Path) -> None:
    (here / "maths" / "powers.py").write_text("def (")


def _hidden(here: Path) -> None:
    (here / "data" / "unseen\u202e.txt").write_text("x")


def _token(here: Path) -> None:
    (here / "data" / "known.json").write_text('{"token": "ghp_' + "a1B2" * 9 + '"}')


UNFIT: dict[str, Callable[[Path], None]] = {
    "is not the file that": _changed,
    "is not there": _missing,
    "fit.py is a link": _linked,
    "deeper.py is a link": _import_linked,
    "maths is a link": _folder_linked,
    "passwd is a link": _data_linked,
    "no Python that can be read": _no_python,
    "has a name that no file": _hidden,
    "holds something private": _token,
}


@pytest.mark.parametrize(("why", "spoil"), UNFIT.items(), ids=UNFIT)
def test_what_does_not_belong_into_a_snapshot(
    call: Call, here: Path, tmp_path: Path, why: str, spoil: Callable[[Path], None]
) -> None:
    spoil(here)
    line = ("create", here / "out", "--id", "s1", "--out", tmp_path / "s1", "--offline")
    assert why in call.refused(*line, *WITH)
    assert not (tmp_path / "s1").exists()


@pytest.mark.parametrize("path", ["/etc/passwd", "../elsewhere", "data/../../x", "nowhere", ".git"])
def test_data_lies_in_the_folder(call: Call, here: Path, tmp_path: Path, path: str) -> None:
    (here.parent / "elsewhere").write_text("x")
    (here.parent / "x").write_text("x")
    (here / ".git").write_text("x")
    line = ("create", here / "out", "--id", "s1", "--out", tmp_path / "s1", "--offline")
    err = call.refused(*line, "--with-code", "--with-data", path)
    assert "lies outside" in err or "is not there" in err or "has a name that" in err


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"pythons": ["x"]}, "--python"),
        ({"before": "HEAD"}, "--before"),
        ({"after": "HEAD"}, "--after"),
        ({"n_withheld": 1}, "--env"),
    ],
)
def test_what_is_of_the_makers_machine_alone(given: dict[str, object], option: str) -> None:
    why = code.recorded_request({"own": {"targets": ["a.py:f"], **given}}).why_not
    assert why is not None
    assert why.values["option"] == option


@pytest.mark.parametrize("own", [None, {}, {"targets": 3}, {"targets": []}, [], "x"])
def test_what_is_not_recorded_is_not_repeated(own: object) -> None:
    why = code.recorded_request({"own": own}).why_not
    assert why is not None
    assert why.code == "code_not_recorded"


def test_options_of_a_stranger_stand_for_themselves() -> None:
    """GIVEN values that look like options THEN none of them becomes one."""
    own = {"targets": ["--python=/evil", "a.py:f"], "inputs": ["--out=/etc"]}
    made = code.recorded_request({"own": {**own, "reference": "--help"}})
    line = list(made.arguments())
    end = line.index("--")
    assert line[end + 1 :] == ["--python=/evil", "a.py:f"]
    assert line[:end] == ["--input=--out=/etc", "--reference=--help"]


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("fit.py:fit", "fit.py"),
        ("a=fit.py:fit", "fit.py"),
        ("fit.py", "fit.py"),
        ("a=b/c.py", "b/c.py"),
        ("package.module:f.g", "package.module"),
        ("x=package.module:f", "package.module"),
    ],
)
def test_the_file_of_a_target(target: str, place: str) -> None:
    assert code._file_or_module(target) == place


def test_what_functions_import_is_in_the_lock(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import numba, os\nfrom sklearn.svm import SVC\nfrom . import b\nimport c.d\n"
    )
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "d.py").write_text("import PIL.Image\n")
    files = code._with_imports(tmp_path, "a.py")
    assert set(files) == {"a.py", "c/d.py"}
    modules = {one for path in files for one in code._imported_tops(files[path], path)}
    assert {"numba", "sklearn", "PIL", "os", "c"} == modules
    found = code._distributions(modules, files)
    assert {"numba", "scipy", "llvmlite", "scikit-learn", "pillow"} <= set(found)
    assert not {"os", "c", "a", "d"} & set(found)


def test_each_file_is_in_the_index(call: Call, here: Path, tmp_path: Path) -> None:
    snapshot = call.create(here / "out", tmp_path / "s1", *WITH)
    index = json.loads((snapshot / layout.INDEX).read_text())
    rows = {row["path"]: row["sha256"] for row in index["artifacts"]}
    assert rows["code/fit.py"] == hashlib.sha256(FIT.encode()).hexdigest()
    (snapshot / "code" / "fit.py").write_text("def fit(n): ...\n")
    assert call("verify", snapshot)[0] == 3
    (snapshot / "code" / "more.py").write_text("")
    (snapshot / "code" / "fit.py").write_text(FIT)
    assert call("verify", snapshot)[0] == 3
