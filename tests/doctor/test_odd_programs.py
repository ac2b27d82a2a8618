"""Programs that do odd things do not notice the doctor, and leave their report."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.doctor.odd import PYTHONS, both

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = {
    "its own file": """
        import sys, __main__
        print(__file__, sys.argv, sys.orig_argv[-1], __main__.__file__, __name__, __spec__)
        print(open(__file__).read(), sys.path[0], sorted(vars(__main__)))
    """,
    "stdin": "import sys; print(sys.stdin.read().upper()); print(input.__name__)",
    "another stdout": """
        import sys, io
        kept, sys.stdout = sys.stdout, io.StringIO()
        print("lost")
        kept.write("kept")
        sys.stdout.close()
    """,
    "closed streams": "import os; os.close(1); os.close(2)",
    "all descriptors closed": "import os; os.closerange(3, 4096); print('on')",
    "another folder": """
        import os
        os.mkdir("inner"); os.chdir("inner"); print(os.getcwd()); os.chdir(".."); os.rmdir("inner")
    """,
    "a folder that is gone": "import os; os.mkdir('g'); os.chdir('g'); os.rmdir('../g'); print(1)",
    "tracing": """
        import sys
        lines = []
        def trace(frame, event, argument):
            if frame.f_code.co_filename == __file__:
                lines.append(frame.f_lineno)
            return trace
        def work():
            return sum(range(10))
        sys.settrace(trace); work(); sys.settrace(None)
        print(lines)
    """,
    "profiling": """
        import cProfile, pstats, io
        p = cProfile.Profile(); p.enable(); sorted([3, 1, 2]); p.disable()
        s = io.StringIO(); pstats.Stats(p, stream=s).print_stats(); print("sorted" in s.getvalue())
    """,
    "monitoring": """
        import sys
        m = getattr(sys, "monitoring", None)
        if m is not None:
            for tool in (m.DEBUGGER_ID, m.COVERAGE_ID, m.PROFILER_ID, m.OPTIMIZER_ID):
                m.use_tool_id(tool, "mine")
            called = []
            def work():
                return len("abc")
            m.register_callback(m.COVERAGE_ID, m.events.CALL, lambda *a: called.append(a[2]))
            m.set_local_events(m.COVERAGE_ID, work.__code__, m.events.CALL)
            work(); m.restart_events(); work(); print(called)
    """,
    "fork": """
        import os
        child = os.fork()
        if child == 0:
            print("child", flush=True); os._exit(3)
        print(os.waitpid(child, 0)[1] >> 8)
    """,
    "fork that goes on": """
        import os, sys
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        print("parent" if child else "child", flush=True); sys.exit(5 if child else 6)
    """,
    "children": """
        import multiprocessing as m
        def work(n):
            return n * n
        if __name__ == "__main__":
            for how in ("fork", "spawn"):
                with m.get_context(how).Pool(2) as pool:
                    print(how, pool.map(work, range(4)))
    """,
    "another program": """
        import os, sys
        open("other.py", "w").write("import sys; print('other', sys.argv); sys.exit(4)")
        os.execv(sys.executable, [sys.executable, "other.py", "x"])
    """,
    "a program that is no Python": "import os; os.execvp('sh', ['sh', '-c', 'echo sh; exit 9'])",
    "exit at once": "import os; print('said', flush=True); os._exit(17)",
    "killed": "import os, signal; print('said', flush=True); os.kill(os.getpid(), signal.SIGKILL)",
    "segmentation fault": """
        import ctypes, faulthandler
        faulthandler.disable(); print("said", flush=True); ctypes.string_at(0)
    """,
    "out of memory": """
        import resource
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + 2**25, now + 2**25))
        kept = bytearray(2**28)
    """,
    "small files only": """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        import json, csv, decimal
        print(json.dumps([1]))
    """,
    "an error of its own": """
        import sys
        sys.excepthook = lambda *a: print("hook", a[0].__name__)
        raise KeyError("x")
    """,
    "an error at the end": """
        import atexit
        atexit.register(lambda: print("first")); atexit.register(lambda: 1 / 0)
    """,
    "a thread that outlives main": """
        import threading, time
        threading.Thread(target=lambda: (time.sleep(0.1), print("late"))).start()
    """,
    "a syntax error": "def broken(:",
    "a deep recursion": """
        def down(n):
            return n and down(n - 1)
        print(down(900))
    """,
    "warnings": "import warnings; warnings.warn('careful'); print('x')",
    "interpreters": "import sys; print(sys.flags, sys.warnoptions, sys.getrecursionlimit())",
}
ADDRESS = re.compile(rb"0x[0-9a-f]+")
"""What differs from run to run in what the interpreter says."""


def write(folder: Path, text: str) -> str:
    lines = text.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    (folder / "program.py").write_text("\n".join(line[indent:] for line in lines), "utf-8")
    return "program.py"


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_not_notice(name: str, python: str, tmp_path: Path) -> None:
    program = write(tmp_path, PROGRAMS[name])
    command = [program, "an", "--argument"]
    found = both(tmp_path, command, python=python, stdin=b"some\ninput")
    assert (found.watched.status, found.watched.output) == (found.plain.status, found.plain.output)
    said, by_itself = (ADDRESS.sub(b"", one.errors) for one in (found.watched, found.plain))
    assert said == by_itself
    assert found.report["findings"] == []
    assert found.report["account"]["total_s"] > 0


PACKAGE = {
    "tool/__init__.py": "from .words import WORD",
    "tool/words.py": "WORD = 'relative'",
    "tool/__main__.py": "import sys; from . import WORD; print(WORD, sys.argv[1:], __package__)",
}


def test_a_module_imports_relatively(tmp_path: Path) -> None:
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = both(tmp_path, ["-m", "tool", "--out", "-x"])
    assert found.plain.output == b"relative ['--out', '-x'] tool\n"
    assert found.watched == found.plain
    assert found.report["exit_status"] == 0


WAITS = """
    import time
    print("ready", flush=True)
    time.sleep(60)
"""
HANDLES = """
    import signal, sys, time
    signal.signal(signal.SIG{0}, lambda *_: (print("handled"), sys.exit(21)))
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
@pytest.mark.parametrize("program", [WAITS, HANDLES], ids=["waits", "handles"])
def test_a_signal_ends_it_as_by_itself(program: str, name: str, tmp_path: Path) -> None:
    file = write(tmp_path, program.replace("{0}", name))
    found = both(tmp_path, [file], send=signal.Signals[f"SIG{name}"])
    assert (found.watched.status, found.watched.output) == (found.plain.status, found.plain.output)
    assert found.report["exit_status"] in {21, -signal.Signals[f"SIG{name}"]}


def test_a_pipe_that_is_closed_is_closed_for_the_program(tmp_path: Path) -> None:
    file = write(tmp_path, "for n in range(100_000): print('line', n)")
    statuses = []
    for before in ([], ["-m", "coldwarm", "doctor", "--json", "--out", str(tmp_path / "o.json")]):
        command = [sys.executable, *before, file]
        with subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline() == b"line 0\n"
            process.stdout.close()
            errors = process.stderr.read()
        statuses.append((process.returncode, b"BrokenPipeError" in errors))
    assert statuses[0] == statuses[1]
    assert (tmp_path / "o.json").exists()


GONE = """
    import os, shutil
    shutil.rmtree(os.environ.get("COLDWARM_DOCTOR", "nothing"), ignore_errors=True)
    print("on")
"""


def test_a_journal_that_is_deleted_is_told(tmp_path: Path) -> None:
    found = both(tmp_path, [write(tmp_path, GONE)])
    assert found.watched == found.plain
    assert [one["code"] for one in found.report["unseen"]] == ["no_journal"]


@pytest.mark.parametrize("options", [["-I"], ["-E"]])
def test_a_python_that_hears_no_variables_is_told(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "python").write_text(
        f'#!/bin/sh\nexec {sys.executable} {" ".join(options)} "$@"\n', encoding="utf-8"
    )
    (tmp_path / "python").chmod(0o755)
    file = write(tmp_path, "print('on')")
    found = both(tmp_path, [file], python=str(tmp_path / "python"))
    assert found.watched == found.plain
    assert [one["code"] for one in found.report["unseen"]] == ["no_journal"]


def test_a_disk_that_is_full_is_told(tmp_path: Path) -> None:
    # The journal's own limit, as of a disk without space: its files cannot be made.
    found = both(tmp_path, [write(tmp_path, "print('on')")], prelude="ulimit -f 64")
    assert found.watched == found.plain
    assert [one["code"] for one in found.report["unseen"]] == ["no_journal"]


LATER = """
    import os, resource
    os.listdir(".")
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
    for name in ("decimal", "fractions", "statistics", "xml.dom.minidom", "email.message"):
        __import__(name)
    os.system("exit 0")
    print("on")
"""


def test_lines_that_could_not_be_written_are_told(tmp_path: Path) -> None:
    found = both(tmp_path, [write(tmp_path, LATER)])
    assert found.watched == found.plain
    told = {one["code"]: one for one in found.report["unseen"]}
    assert told["lines_lost"]["values"]["n_lines"] > 0


def test_the_hook_of_somebody_else_runs_too(tmp_path: Path) -> None:
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text("import sys; sys.mine = 7", "utf-8")
    file = write(tmp_path, "import sys; print(sys.mine)")
    found = both(tmp_path, [file], prelude='export PYTHONPATH="$PWD/hook:$PYTHONPATH"')
    assert found.plain.output == b"7\n"
    assert found.watched == found.plain


NESTED = """
    import subprocess, sys
    open("inner.py", "w").write("import sys; print('inner', sys.argv[1:]); sys.exit(6)")
    command = [sys.executable, "-m", "coldwarm", "doctor", "--json", "--out", "inner.json"]
    done = subprocess.run([*command, "inner.py", "x"], stdout=subprocess.PIPE, text=True)
    print(done.stdout, done.returncode)
"""


def test_a_doctor_in_a_doctor_has_a_report_of_its_own(tmp_path: Path) -> None:
    found = both(tmp_path, [write(tmp_path, NESTED)])
    assert found.plain.output == b"inner ['x']\n 6\n"
    assert found.watched == found.plain
    inner = json.loads((tmp_path / "inner.json").read_text("utf-8"))
    assert (inner["exit_status"], inner["n_processes"]) == (6, 1)
    assert found.report["n_processes"] == 2  # the program, and the doctor that it starts


DEBUGGED = """
    def work():
        return 41 + 1
    print(work())
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_a_debugger_steps_through_it(python: str, tmp_path: Path) -> None:
    commands = b"break 2\ncontinue\nstep\nwhere\ncontinue\nquit\n"
    file = write(tmp_path, DEBUGGED)
    found = both(tmp_path, ["-m", "pdb", file], python=python, stdin=commands)
    assert b"Breakpoint 1" in found.plain.output
    assert found.watched.output == found.plain.output
    assert found.watched.status == found.plain.status
