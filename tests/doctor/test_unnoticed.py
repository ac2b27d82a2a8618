"""A program under the doctor finds everything as without it: modules, tracers, arguments, ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from tests.doctor.odd import PYTHONS, both
from tests.started import coldwarm

if TYPE_CHECKING:
    from pathlib import Path

NAMED = (
    *("token", "json", "signal", "inspect", "types", "enum", "dis", "weakref", "threading", "re"),
    *("socket", "random", "queue", "logging", "functools", "collections", "subprocess", "fcntl"),
    *("mmap", "hashlib", "pickle", "sysconfig", "tokenize", "ast", "struct", "selectors", "copy"),
    *("coldwarm", "wire", "doctor", "recorder", "journal", "sites", "calls", "imports", "withheld"),
    *("sitecustomize", "usercustomize", "_json", "linecache", "contextlib", "operator", "typing"),
)
"""What files beside a program are called, each also the name of a module of Python's or ours."""
OWN = """
import sys
print("own", __name__, __file__.rpartition("/")[2])
HERE = True
def main():
    print([one for one in sys.modules if one.partition(".")[0] == __name__])
"""
FROM_OWN = """
import {name}, sys
print({name}.HERE, {name}.__spec__.origin == {name}.__file__, sys.modules["{name}"] is {name})
{name}.main()
"""


@pytest.mark.parametrize("name", NAMED)
def test_a_file_named_like_a_module_is_imported_as_without(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "program.py").write_text(FROM_OWN.format(name=name), encoding="utf-8")
    found = _hooked(tmp_path, ["program.py"])
    assert found[0] == found[1]
    assert b"own" in found[0][1]
    assert _n_journals(tmp_path) == 1


@pytest.mark.parametrize(
    "name", ["json", "token", "coldwarm", "atexit", "email", "coldwarm.doctor"]
)
def test_a_package_named_like_one_is_imported_as_without(name: str, tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*name.split("."))
    folder.mkdir(parents=True)
    for one in (folder, *folder.parents):
        if one != tmp_path and one.is_relative_to(tmp_path):
            (one / "__init__.py").write_text(OWN, encoding="utf-8")
    (folder / "inner.py").write_text(OWN, encoding="utf-8")
    text = f"import {name}.inner\nprint({name}.inner.HERE, {name}.__path__)"
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    found = _hooked(tmp_path, ["program.py"])
    assert found[0] == found[1]


def test_all_of_them_at_once_and_the_command_itself(tmp_path: Path) -> None:
    """The console script does not import what lies in the folder that it is called from."""
    for name in NAMED:
        (tmp_path / f"{name}.py").write_text(OWN, encoding="utf-8")
    text = "\n".join(f"import {name}" for name in NAMED if name not in {"types", "_json"})
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    command = [os.path.join(os.path.dirname(sys.executable), "coldwarm"), "doctor"]  # noqa: PTH118, PTH120
    line = [*command, "--format", "json", "--out", "o.json", "program.py", "", "x"]
    watched = subprocess.run(line, cwd=tmp_path, capture_output=True, check=False)
    plain = subprocess.run(
        [sys.executable, "program.py", "", "x"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)
    assert (tmp_path / "o.json").exists()


PROGRAMS = {
    "modules that are loaded": "import sys; print(sorted(sys.modules))",
    "where modules are looked for": """
        import sys
        print(sys.path, [type(one).__name__ for one in sys.meta_path], len(sys.path_hooks))
        print(sorted(sys.path_importer_cache))
    """,
    "what a tracer sees of imports": """
        import sys
        seen = []
        def trace(frame, event, argument):
            seen.append((frame.f_code.co_filename, frame.f_code.co_name, event))
        sys.settrace(trace)
        import decimal, xml.dom.minidom, importlib
        importlib.import_module("fractions")
        try:
            import there_is_none
        except ImportError:
            pass
        sys.settrace(None)
        print(len(seen)); print(seen)
    """,
    "what a profiler sees of functions": """
        import sys
        def work(n):
            import colorsys
            return n and work(n - 1)
        seen = []
        def look(frame, event, argument):
            if event in ("call", "return"):
                seen.append((frame.f_code.co_filename, frame.f_code.co_name, event))
        sys.setprofile(look); work(3); sys.setprofile(None)
        print(seen)
    """,
    "what a tracer sees of the end": """
        import atexit, sys
        seen = []
        ours = lambda: [one for one in seen if "coldwarm" in one or "doctor" in one]
        atexit.register(lambda: print(ours()))
        sys.setprofile(lambda frame, event, argument: seen.append(frame.f_code.co_filename))
    """,
    "a tracer that prints to the end": """
        import os, sys
        def trace(frame, event, argument):
            name = frame.f_code.co_filename
            if "coldwarm" in name or "sitecustomize" in name:
                os.write(1, name.encode())
        sys.settrace(trace); sys.setprofile(trace)
    """,
    "a stack inside of an import": """
        text = "print([(f.name, f.filename) for f in traceback.extract_stack()])"
        open("deep.py", "w").write("import traceback\\n" + text)
        import sys; sys.path.insert(0, ".")
        import deep
    """,
    "numbers of descriptors": """
        import os, socket
        print(os.open("/dev/null", 0), open("/dev/null").fileno(), socket.socketpair()[0].fileno())
        print(sorted(n for n in map(int, os.listdir("/proc/self/fd")) if n < 100))
    """,
    "handlers of signals": """
        import signal
        known = sorted(signal.valid_signals() - {9, 19})
        print([(one, signal.getsignal(one)) for one in known])
        print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
    """,
    "settings of the interpreter": """
        import sys, warnings, gc, threading
        print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.warnoptions, warnings.filters)
        print(gc.callbacks, gc.get_threshold(), gc.isenabled(), threading.active_count())
        print(sys.excepthook, sys.displayhook, sys.unraisablehook, sys.gettrace(), sys.getprofile())
        print(sys.breakpointhook.__name__, threading.excepthook.__name__, sys.dont_write_bytecode)
    """,
    "the main module": """
        import sys, __main__
        print(sorted(vars(__main__)), __main__.__spec__, __main__.__builtins__.__name__)
        print(sys.argv, sys.orig_argv[1:], sys.flags, sys.executable)
    """,
    "the built-in names": """
        import builtins
        print(sorted(vars(builtins)), builtins.__import__, print, open)
        print(__import__ is builtins.__import__)
    """,
    "an order at the end": """
        import atexit, weakref
        class C: pass
        kept = C()
        weakref.finalize(kept, print, "finalize")
        for n in range(3):
            atexit.register(print, n)
        import threading
        threading._register_atexit(print, "threads")
    """,
    "faulthandler": """
        import faulthandler, sys
        print(faulthandler.is_enabled()); faulthandler.enable(sys.stdout)
        def work():
            faulthandler.dump_traceback(sys.stdout, all_threads=False)
        work()
    """,
    "a hook of imports of its own": """
        import sys, builtins
        seen = []
        class Finder:
            def find_spec(self, name, path=None, target=None):
                seen.append(name)
        sys.meta_path.insert(0, Finder())
        import colorsys, wave
        print(seen, sys.meta_path[0].__class__.__name__, len(sys.meta_path))
    """,
    "numbers of monitoring tools": """
        import sys
        m = getattr(sys, "monitoring", None)
        if m is not None:
            for one in ("DEBUGGER_ID", "COVERAGE_ID", "PROFILER_ID", "OPTIMIZER_ID"):
                print(one, m.get_tool(getattr(m, one))); m.use_tool_id(getattr(m, one), one)
    """,
    "an exit that is more than a byte": "import sys; sys.exit(256 + 7)",
    "an exit below zero": "import sys; sys.exit(-3)",
    "an exit with a text": "import sys; sys.exit('that was it')",
    "an exit with an object": "import sys; sys.exit([1, 2])",
    "an error without a handler": "def work():\n    return {}['x']\nwork()",
    "an error in a thread": """
        import threading
        t = threading.Thread(target=lambda: 1 / 0, name="one"); t.start(); t.join(); print("on")
    """,
    "an import that fails": """
        open("bad.py", "w").write("import json\\n1 / 0\\n")
        import sys; sys.path.insert(0, "."); import bad
    """,
    "a module that runs another": """
        import runpy
        open("o.py", "w").write("print(__name__)"); runpy.run_path("o.py", run_name="x")
    """,
    "a program by exec": """
        import os, sys
        if len(sys.argv) > 3:
            print(sys.argv); raise SystemExit(5)
        os.execv(sys.executable, [sys.executable, __file__, "", "a b", "c", ""])
    """,
    "processes that are spawned": """
        import multiprocessing as m, sys
        def work(n):
            return n, sys.argv[1:], "json" in sys.modules
        if __name__ == "__main__":
            with m.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, range(2)))
    """,
    "types by identity": """
        import functools, types, re, enum, collections, pickle, copyreg
        one = functools.partial(int, base=2)
        print(isinstance(one, functools.partial), pickle.loads(pickle.dumps(one))("11"))
        print(pickle.loads(pickle.dumps(re.compile("a"))).pattern)
        print(re.compile("a").__class__ is re.Pattern)
        print(isinstance(collections.OrderedDict(), collections.abc.Mapping), enum.Enum.__module__)
    """,
    "locals and threads": """
        import threading, concurrent.futures as c
        with c.ThreadPoolExecutor(2) as pool:
            print(sorted(pool.map(abs, [-1, 2])))
        print(threading.main_thread() is threading.current_thread())
    """,
    "forks without a warning": """
        import os, time
        for turn in range(4):
            time.sleep(0.03)
            if not (child := os.fork()):
                os._exit(turn)
            print(os.waitpid(child, 0)[1])
    """,
    "an event loop": "import asyncio; print(asyncio.run(asyncio.sleep(0, 'x')))",
    "input": "import sys; print([line for line in sys.stdin], sys.stdin.isatty())",
    "few descriptors": """
        import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
        print(open(__file__).readline())
    """,
}


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_changes_nothing(name: str, python: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAMS[name]), encoding="utf-8")
    plain, watched = _hooked(tmp_path, ["program.py", "", "b"], python)
    assert watched == plain
    assert _n_journals(tmp_path) >= 1


def test_a_dump_of_all_threads_has_one_thread_more(tmp_path: Path) -> None:
    text = "import faulthandler, sys, time\ntime.sleep(0.3)\n"
    text += "faulthandler.dump_traceback(sys.stdout)\n"
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    plain, watched = _hooked(tmp_path, ["program.py"])
    threads = [one[1].strip().split(b"\n\n") for one in (plain, watched)]
    added = [one for one in threads[1] if b"looks.py" in one]
    assert len(added) == 1
    (rest,) = [one for one in threads[1] if one not in added]
    assert rest.partition(b"\n")[2] == threads[0][0].partition(b"\n")[2]


def test_a_debugger_steps_into_an_import(tmp_path: Path) -> None:
    """Python 3.13 stops one line later at ``breakpoint()`` where any tool follows calls."""
    text = "breakpoint()\n0\nimport colorsys\nprint(colorsys.ONE_THIRD)\n"
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    commands = b"tbreak 3\ncontinue\n" + b"step\n" * 3 + b"where\n" + b"up\n" * 3 + b"continue\n"
    plain, watched = _hooked(tmp_path, ["program.py"], stdin=commands)
    assert watched[::2] == plain[::2]
    outputs = [out.partition(b"reakpoint 1 at")[2] for _, out, _ in (watched, plain)]
    assert outputs[0] == outputs[1]
    assert b"-> import colorsys" in outputs[1]


ARGUMENTS = [
    ["", "x"],
    ["x", ""],
    ["", "", ""],
    ["--", ""],
    ["--out=", "--json"],
    [" ", "\t"],
    ["-m", ""],
    ["--", "--", ""],
    ["a\nb", ""],
    ["*", "$HOME", ""],
]


@pytest.mark.parametrize("given", ARGUMENTS, ids=repr)
def test_every_argument_is_handed_on(given: list[str], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import sys; print(sys.argv)", encoding="utf-8")
    found = both(tmp_path, ["program.py", *given])
    assert found.watched.output == found.plain.output
    module = both(tmp_path, ["-m", "program", *given])
    assert module.watched.output == module.plain.output


def test_an_empty_argument_of_the_command_itself_is_refused(tmp_path: Path) -> None:
    for given in (["--out", "", "program.py"], [""], ["--perfetto=", "program.py"]):
        done = coldwarm("doctor", *given, cwd=tmp_path)
        assert done.returncode == 2
        assert "is empty: is a variable not set?" in done.stderr


@pytest.mark.parametrize(
    "name", ["TERM", "INT", "HUP", "SEGV", "KILL", "ABRT", "QUIT", "USR1", "ALRM", "PIPE"]
)
def test_a_parent_sees_the_signal_that_ended_it(name: str, tmp_path: Path) -> None:
    text = f"""
        import os, signal
        signal.signal(signal.SIG{name}, signal.SIG_DFL) if "{name}" != "KILL" else None
        os.kill(os.getpid(), signal.SIG{name})
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(text), encoding="utf-8")
    ours = [sys.executable, "-m", "coldwarm", "doctor", "--out", "o.txt"]
    variables = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    for before in ([sys.executable], ours):
        line = [*before, "program.py"]
        done = subprocess.run(line, cwd=tmp_path, env=variables, stderr=-3, check=False)
        assert done.returncode == -signal.Signals[f"SIG{name}"]
    assert list((tmp_path / "tmp").iterdir()) == []


def _hooked(
    folder: Path, command: list[str], python: str = sys.executable, stdin: bytes = b"some\ninput"
) -> tuple[tuple[int, bytes, bytes], tuple[int, bytes, bytes]]:
    """Run a program by itself, and with the recorder alone: status, output and errors of both."""
    from coldwarm.doctor.watch import hook_path

    base = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    hook = {"PYTHONPATH": hook_path(base.get("PYTHONPATH", ""))}
    ends = []
    for more in ({}, {**hook, "COLDWARM_DOCTOR": str(folder.parent / f"{folder.name}-journal")}):
        done = subprocess.run(
            [python, *command],
            cwd=folder,
            env={**base, **more},
            input=stdin,
            capture_output=True,
            timeout=240,
            check=False,
        )
        ends.append((done.returncode, _plain(done.stdout), _plain(done.stderr)))
    return ends[0], ends[1]


def _plain(said: bytes) -> bytes:
    return re.sub(rb"0x[0-9a-f]+", b"", said)


def _n_journals(folder: Path) -> int:
    return len(list((folder.parent / f"{folder.name}-journal").glob("*.jsonl")))
