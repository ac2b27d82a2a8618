"""What programs keep by themselves: nothing is ever cleared, no full cache is called empty."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.started import coldwarm

from coldwarm.frameworks import opened
from coldwarm.runner import isolation

if TYPE_CHECKING:
    from pathlib import Path

EMPTY = "cold_process_cold_cache"
WORK_S = 0.4
HEAD = f"""
import os, sys, time
HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "kept-by-" + os.path.basename(os.path.dirname(HERE)) + "-" + __name__
def work():
    time.sleep({WORK_S})
    return 1.5
"""
BY_PATH = """
import pickle
PLACE = {place}
def f():
    if os.path.exists(PLACE):
        with open(PLACE, "rb") as file:
            return pickle.load(file)
    answer = work()
    os.makedirs(os.path.dirname(PLACE), exist_ok=True)
    with open(PLACE + ".part", "wb") as file:
        pickle.dump(answer, file)
    os.replace(PLACE + ".part", PLACE)
    return answer
"""
PLACES = {
    "beside_the_file": 'os.path.join(HERE, NAME + ".pkl")',
    "in_a_folder_of_its_own": 'os.path.join(HERE, "__kept__", NAME, "a.pkl")',
    "in_the_working_directory": 'os.path.join(os.getcwd(), NAME, "x.bin")',
    "in_the_home": 'os.path.expanduser("~/.my-app/" + NAME)',
    "in_the_cache_folder": 'os.path.join(os.environ.get("XDG_CACHE_HOME")'
    ' or os.path.expanduser("~/.cache"), NAME, "x")',
    "in_the_config_folder": 'os.path.expanduser("~/.config/app/" + NAME)',
    "in_the_real_home": 'os.path.join(HERE, "home", NAME)',
    "in_the_system_s_temporary_folder": 'os.path.join("/var/tmp", NAME)',
    "in_shared_memory": 'os.path.join("/dev/shm", NAME)',
}
OTHERS = {
    "in_a_database": """
import sqlite3
def f():
    with sqlite3.connect(os.path.join(HERE, NAME + ".db")) as base:
        base.execute("create table if not exists kept (x real)")
        row = base.execute("select x from kept").fetchone()
        if row is None:
            row = (work(),)
            base.execute("insert into kept values (?)", row)
    return row[0]
""",
    "in_a_shelf": """
import dbm.dumb, shelve
def f():
    with shelve.Shelf(dbm.dumb.open(os.path.join(HERE, NAME), "c")) as shelf:
        if "x" not in shelf:
            shelf["x"] = work()
        return shelf["x"]
""",
    "as_a_tuned_setting": """
import json
PLACE = os.path.expanduser("~/.config/" + NAME + ".json")
def f():
    if not os.path.exists(PLACE):
        work()
        os.makedirs(os.path.dirname(PLACE), exist_ok=True)
        with open(PLACE, "w") as file:
            json.dump({"block": 128, "tuned": time.time()}, file)
    with open(PLACE) as file:
        return json.load(file)["block"] / 128 * 1.5
""",
    "as_a_module_that_it_writes": """
import importlib.util
PLACE = os.path.join(HERE, NAME.replace("-", "_") + "_generated.py")
def f():
    if not os.path.exists(PLACE):
        work()
        with open(PLACE, "w") as file:
            file.write("def g():\\n    return 1.5\\n")
    spec = importlib.util.spec_from_file_location("generated", PLACE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.g()
""",
    "mapped_into_memory": """
import numpy as np
PLACE = os.path.join(HERE, NAME + ".npy")
def f():
    if not os.path.exists(PLACE):
        np.save(PLACE, np.full(5000, work()))
    return float(np.load(PLACE, mmap_mode="r")[7])
""",
    "as_a_library": """
import ctypes, subprocess
PLACE = os.path.join(HERE, "built", NAME, "model.so")
def f():
    if not os.path.exists(PLACE):
        work()
        os.makedirs(os.path.dirname(PLACE), exist_ok=True)
        with open(PLACE + ".c", "w") as file:
            file.write("double g(void) { return 1.5; }")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", PLACE, PLACE + ".c"], check=True)
    g = ctypes.CDLL(PLACE).g
    g.restype = ctypes.c_double
    return g()
""",
    "as_an_extension_of_python": """
import importlib.machinery, importlib.util, subprocess, sysconfig
PLACE = os.path.join(os.path.expanduser("~/.inline"), NAME, "inlined.so")
TEXT = '''
#include <Python.h>
static PyObject *g(PyObject *s, PyObject *a) { return PyFloat_FromDouble(1.5); }
static PyMethodDef M[] = {{"g", g, METH_NOARGS, 0}, {0}};
static struct PyModuleDef D = {PyModuleDef_HEAD_INIT, "inlined", 0, -1, M};
PyMODINIT_FUNC PyInit_inlined(void) { return PyModule_Create(&D); }
'''
def f():
    if not os.path.exists(PLACE):
        work()
        os.makedirs(os.path.dirname(PLACE), exist_ok=True)
        with open(PLACE + ".c", "w") as file:
            file.write(TEXT)
        where = "-I" + sysconfig.get_paths()["include"]
        subprocess.run(["cc", "-shared", "-fPIC", where, "-o", PLACE, PLACE + ".c"], check=True)
    loader = importlib.machinery.ExtensionFileLoader("inlined", PLACE)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("inlined", loader))
    loader.exec_module(module)
    return module.g()
""",
    "by_content_in_many_files": """
import hashlib, marshal
def f():
    answers = []
    for k in range(3):
        key = hashlib.sha256(b"%d" % k).hexdigest()[:8]
        place = os.path.join(HERE, NAME, key[:2], key)
        try:
            with open(place, "rb") as file:
                answers.append(marshal.load(file))
        except FileNotFoundError:
            answers.append(work())
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                marshal.dump(answers[-1], file)
    return sum(answers) / 3
""",
    "beside_data_that_it_needs": """
import pickle
PLACE = os.path.join(HERE, NAME + ".fitted")
def f():
    with open(os.path.join(HERE, "measured.csv")) as file:
        rows = [float(row) for row in file]
    if not os.path.exists(PLACE):
        work()
        with open(PLACE, "wb") as file:
            pickle.dump(sum(rows), file)
    with open(PLACE, "rb") as file:
        return pickle.load(file)
""",
}
UNREAD = {
    "in_an_empty_file": """
def f():
    if not os.path.exists(os.path.join(HERE, NAME)):
        work()
        open(os.path.join(HERE, NAME), "w").close()
    return 1.5
""",
}
"""What is there or not, and is never opened: seen by that it is not written again."""
KEEPING = {**{n: BY_PATH.replace("{place}", p) for n, p in PLACES.items()}, **OTHERS}
QUICK = ("beside_the_file", "in_the_home", "beside_data_that_it_needs")
HONEST = {
    "reads_its_data": """
def f():
    with open(os.path.join(HERE, "measured.csv")) as file:
        return sum(float(row) for row in file)
""",
    "reads_settings_of_the_user": """
import json
PLACE = os.path.expanduser("~/.config/settings-of-the-user.json")
def f():
    if not os.path.exists(PLACE):
        os.makedirs(os.path.dirname(PLACE), exist_ok=True)
        with open(PLACE, "w") as file:
            json.dump({"value": 99.0}, file)
    with open(PLACE) as file:
        return json.load(file)["value"]
""",
    "writes_its_result": """
def f():
    with open(os.path.join(HERE, NAME + ".result"), "w") as file:
        file.write("1.5")
    with open(os.path.join(HERE, NAME + ".log"), "a") as file:
        file.write("called\\n")
    return 1.5
""",
    "reads_back_what_it_wrote": """
def f():
    place = os.path.join(HERE, NAME + ".txt")
    with open(place, "w") as file:
        file.write("1.5")
    with open(place) as file:
        return float(file.read())
""",
    "reads_a_database_of_the_user": """
import sqlite3
def f():
    with sqlite3.connect(os.path.join(HERE, "theirs.db")) as base:
        return base.execute("select sum(x) from rows").fetchone()[0]
""",
    "reads_a_download": """
import urllib.request
PLACE = os.path.expanduser("~/.cache/models/weights.bin")
def f():
    if not os.path.exists(PLACE):
        urllib.request.urlretrieve("http://192.0.2.1/weights.bin", PLACE)
    with open(PLACE, "rb") as file:
        return len(file.read()) / 2
""",
    "reads_its_account": """
def f():
    with open(os.path.expanduser("~/.netrc")) as file:
        return float(file.read().split()[-1])
""",
    "uses_temporary_files": """
import tempfile
def f():
    with tempfile.NamedTemporaryFile("w+", suffix=".dat") as file:
        file.write("1.5")
        file.seek(0)
        return float(file.read())
""",
    "imports_a_module_beside_it": """
import beside
def f():
    return beside.VALUE
""",
    "reads_many_files": """
def f():
    folder = os.path.join(HERE, "images")
    total = 0
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            total += len(file.read())
    return total / 8
""",
}


@dataclass
class User:
    """Somebody with a home, a project and programs in it."""

    folder: Path

    def __post_init__(self) -> None:
        """Put down what this user has."""
        home, project = self.folder / "home", self.folder / "project"
        for place in (home / ".config", home / ".cache" / "models", project / "images"):
            place.mkdir(parents=True)
        (project / "home").symlink_to(home)
        (home / ".config" / "settings-of-the-user.json").write_text('{"value": 1.5}')
        (home / ".cache" / "models" / "weights.bin").write_bytes(b"\0\1\2")
        (home / ".netrc").write_text("machine example login me password 1.5")
        (project / "measured.csv").write_text("0.5\n1.0\n")
        (project / "beside.py").write_text("VALUE = 1.5\n")
        for number in range(6):
            (project / "images" / f"{number}.raw").write_bytes(bytes(2))
        made = (
            "import sqlite3; b = sqlite3.connect('theirs.db'); b.execute('create table rows (x)');"
        )
        made += "b.execute('insert into rows values (0.5), (1.0)'); b.commit()"
        subprocess.run([sys.executable, "-c", made], cwd=project, check=True)

    def environment(self) -> dict[str, str]:
        """Return the variables of this user's shell."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("COLDWARM", "XDG_"))}
        return {**kept, "HOME": str(self.folder / "home"), "PYTHONDONTWRITEBYTECODE": "1"}

    def runs(self, name: str, text: str) -> None:
        """Write a program and run it as any user does, which fills what it keeps."""
        file = self.folder / "project" / f"{name}.py"
        file.write_text(HEAD + textwrap.dedent(text))
        command = [sys.executable, "-c", f"import {name}; assert {name}.f() == 1.5"]
        subprocess.run(command, cwd=file.parent, env=self.environment(), check=True, timeout=60)

    def measures(self, *names: str) -> dict[str, dict[str, Any]]:
        """Measure programs as they are; return by name what was written of each."""
        project = self.folder / "project"
        out = self.folder / f"out-{len(list(self.folder.glob('out-*')))}"
        usual = ("--cold-only", "--rounds", "1", "--max-rounds", "1", "--out", str(out))
        command = ("bench", *(f"{n}={n}.py:f" for n in names), *usual)
        done = coldwarm(*command, cwd=project, env=self.environment(), timeout_s=500)
        assert done.returncode in {0, 3, 4}, done.stderr
        return {name: json.loads((out / "cases" / f"{name}.json").read_bytes()) for name in names}


def judged(case: dict[str, Any]) -> tuple[list[float], set[str]]:
    """Return the first results with empty caches, and the codes by which others were refused."""
    seen = [one for one in case["observations"] if one["cache_mode"] == EMPTY]
    valid = [one["ttfr_s"] for one in seen if one["status"] == "ok"]
    judgements = [one["judgements"][EMPTY] for one in seen if EMPTY in one["judgements"]]
    return valid, {one["reason"]["code"] for one in judgements if not one["proved"]}


def keeps(text: str) -> None:
    if '"cc"' in text and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    if "numpy" in text:
        pytest.importorskip("numpy")


def names(kinds: dict[str, str]) -> list[Any]:
    return [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in kinds]


@pytest.mark.parametrize("name", names(KEEPING))
def test_what_a_program_keeps_is_never_called_empty(name: str, tmp_path: Path) -> None:
    keeps(KEEPING[name])
    user = User(tmp_path)
    user.runs(name, KEEPING[name])
    for _ in range(1 if name in QUICK else 2):
        valid, refused = judged(user.measures(name)[name])
        assert all(seconds >= WORK_S for seconds in valid), "a full cache was called empty"
        assert valid or refused
        if isolation.can_hide([str(tmp_path / "project" / "any")]):
            assert valid, "where a process can be started without them, it is measured"


@pytest.mark.parametrize("name", names({**KEEPING, **UNREAD}))
def test_what_a_program_has_never_kept_before_is_empty_too(name: str, tmp_path: Path) -> None:
    text = {**KEEPING, **UNREAD}[name]
    keeps(text)
    user = User(tmp_path)
    (tmp_path / "project" / f"{name}.py").write_text(HEAD + textwrap.dedent(text))
    valid, refused = judged(user.measures(name)[name])
    assert all(seconds >= WORK_S for seconds in valid)
    assert valid or refused


@pytest.mark.slow
def test_what_a_user_has_is_there_for_honest_programs(tmp_path: Path) -> None:
    user = User(tmp_path)
    for name, text in HONEST.items():
        user.runs(name, text)
    for name, case in user.measures(*HONEST).items():
        assert case["status"] == "ok", (name, case["reason"])
        statuses = {one["status"] for one in case["observations"]}
        assert statuses == {"ok"}, (name, statuses)
        codes = {one["code"] for one in case["limitations"]}
        assert not codes & {"files_hidden", "files_untried"}, name


def test_the_user_s_home_stays_as_it_is(tmp_path: Path) -> None:
    user = User(tmp_path)
    user.runs("in_the_home", KEEPING["in_the_home"])
    home = tmp_path / "home"
    text = BY_PATH.replace("{place}", PLACES["in_the_cache_folder"])
    (tmp_path / "project" / "fills.py").write_text(HEAD + textwrap.dedent(text))
    before = {one: one.lstat().st_mtime_ns for one in home.rglob("*")}
    user.measures("in_the_home", "fills")
    assert {one: one.lstat().st_mtime_ns for one in home.rglob("*")} == before


@pytest.mark.slow
def test_where_nothing_can_be_hidden_it_is_refused_and_named(tmp_path: Path) -> None:
    user = User(tmp_path / "a,b")  # which no option of the kernel can say
    name = "beside_the_file"
    file = tmp_path / "a,b" / "project" / f"{name}.py"
    file.write_text(HEAD + textwrap.dedent(KEEPING[name]))
    case = user.measures(name)[name]
    assert judged(case) == ([], {"files_of_earlier"})
    assert f"kept-by-a,b-{name}.pkl" in json.dumps(case["reason"])
    # The next run knows by a mark on the file what this one has seen being written.
    again = user.measures(name)[name]
    assert judged(again) == ([], {"files_of_earlier"}) or not marks(file.parent)
    # Of what somebody else has put there, it says that it does not know.
    kept = next(file.parent.glob("*.pkl"))
    kept.write_bytes(kept.read_bytes())
    case = user.measures(name)[name]
    assert judged(case)[1] == set()
    assert "files_untried" in {one["code"] for one in case["limitations"]}


def marks(folder: Path) -> bool:
    """Say whether files have attributes there."""
    place = folder / "any"
    place.touch()
    try:
        os.setxattr(place, opened._MARK, b"1")
    except OSError:
        return False
    return True


_BESIDE_JAX = """
import sys

import jax

from coldwarm.runner import isolation

jax.devices()
print(isolation.can_hide(sys.argv[1:]))
"""


def test_a_view_is_tried_without_a_warning_of_jax(tmp_path: Path) -> None:
    """A program that has loaded JAX may measure too: JAX would warn when its process forks."""
    pytest.importorskip("jax")
    command = [sys.executable, "-W", "error", "-c", _BESIDE_JAX, str(tmp_path / "any")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() == str(isolation.can_hide([str(tmp_path / "any")]))
