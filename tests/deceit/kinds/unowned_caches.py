"""Answers, libraries and servers that an earlier process has left, in places of the user's own."""

from __future__ import annotations

from tests.deceit.base import KEPT, Deceit

_PLACES = {
    "beside_the_file": '"{folder}/answer.npy"',
    "in_the_home": 'os.path.join(os.path.expanduser("~"), NAME)',
    "in_the_temporary_folder": "os.path.join(tempfile.gettempdir(), NAME)",
    "in_the_system_s_temporary_folder": 'os.path.join("/var/tmp", NAME)',
    "in_shared_memory": 'os.path.join("/dev/shm", NAME)',
    "in_the_cache_folder": 'os.path.join(os.environ.get("XDG_CACHE_HOME")'
    ' or os.path.expanduser("~/.cache"), NAME)',
}
_HEAD = """
    import hashlib
    import os
    import tempfile
    NAME = "deceit-" + hashlib.sha256(b"{folder}").hexdigest()[:16]
"""
_KEPT = """
    import time
    import numpy as np

    KEPT = {place}

    def f():
        if os.path.exists(KEPT):
            return np.load(KEPT)
        time.sleep(0.5)
        answer = np.arange(9.0)
        os.makedirs(os.path.dirname(KEPT), exist_ok=True)
        with open(KEPT, "wb") as file:
            np.save(file, answer)
        return answer
"""
_FORGET = """
    import contextlib
    with contextlib.suppress(FileNotFoundError):
        os.remove({place})
"""
_LIBRARY = """
    import ctypes
    import os
    import subprocess

    PLACE = "{folder}/built"
    TEXT = "#include <math.h>\\n" + "".join(
        f"double g{k}(const double *x, int n) {{ double s = {k}; for (int i = 0; i < n; i++)"
        f" s += sin(x[i] * {k}) * exp(-x[i]) + sqrt(s * s + x[i]); return s; }}\\n"
        for k in range(60)
    )

    def f():
        library = os.path.join(PLACE, "model.so")
        if not os.path.exists(library):
            os.makedirs(PLACE, exist_ok=True)
            with open(library + ".c", "w") as file:
                file.write(TEXT)
            command = ["cc", "-O3", "-march=native", "-shared", "-fPIC"]
            subprocess.run([*command, "-o", library, library + ".c", "-lm"], check=True)
        model = ctypes.CDLL(library).g3
        model.restype = ctypes.c_double
        return model((ctypes.c_double * 4)(1.0, 2.0, 3.0, 4.0), 4)
"""
_DATABASE = """
    import sqlite3
    import time

    def f():
        with sqlite3.connect("{folder}/answers.sqlite") as base:
            base.execute("create table if not exists answers (name text, value real)")
            row = base.execute("select value from answers where name = 'f'").fetchone()
            if row is not None:
                return row[0]
            time.sleep(0.5)
            base.execute("insert into answers values ('f', 1.5)")
        return 1.5
"""
_SERVER = """
    import os
    import socket
    import subprocess
    import sys
    import textwrap
    import time

    PLACE = "{folder}/server.sock"
    SERVER = '''
    import os, socket, sys, time
    time.sleep(0.4)
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1] + ".new")
    server.listen()
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.settimeout(20.0)
    try:
        while True:
            asked, _ = server.accept()
            if asked.recv(9) == b"stop":
                break
            asked.sendall(b"1.5")
            asked.close()
    except TimeoutError:
        pass
    os.remove(sys.argv[1])
    '''

    def start():
        command = [sys.executable, "-c", textwrap.dedent(SERVER), PLACE]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        subprocess.Popen(command, start_new_session=True, env={}, stderr=-3, **quiet)

    if not os.path.exists(PLACE):
        start()

    def f():
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as asked:
                    asked.connect(PLACE)
                    asked.sendall(b"answer")
                    return float(asked.recv(9))
            except FileNotFoundError:
                time.sleep(0.005)
            except ConnectionError:  # somebody has ended the server
                os.remove(PLACE)
                start()
"""
_STOP = """
    import contextlib, os, socket, time
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asked:
        asked.connect("{folder}/server.sock")
        asked.sendall(b"stop")
    for _ in range(100):
        if not os.path.exists("{folder}/server.sock"):
            break
        time.sleep(0.01)
    with contextlib.suppress(FileNotFoundError):
        os.remove("{folder}/server.sock")
"""

DECEITS = (
    *(
        Deceit(
            name=f"answer_kept_{name}",
            hides=f"the work, in an answer that an earlier process left {name.replace('_', ' ')}",
            figure="first",
            said=KEPT,
            source=_HEAD + _KEPT.replace("{place}", place),
            forget=_HEAD + _FORGET.replace("{place}", place),
            quick=name == "beside_the_file",
        )
        for name, place in _PLACES.items()
    ),
    Deceit(
        name="answer_kept_in_a_database",
        hides="the work, in a database beside the file",
        figure="first",
        said=KEPT,
        source=_DATABASE,
        forget="""
            import contextlib, os
            with contextlib.suppress(FileNotFoundError):
                os.remove("{folder}/answers.sqlite")
        """,
    ),
    Deceit(
        name="library_built_by_the_program",
        hides="a C compiler, whose library stays in a folder of the program",
        figure="first",
        said=KEPT,
        source=_LIBRARY,
        forget='import shutil\nshutil.rmtree("{folder}/built", ignore_errors=True)\n',
    ),
    Deceit(
        name="server_that_stays",
        hides="a server that an earlier process started, which has everything loaded",
        figure="first",
        said=(*KEPT, "processes_at_work"),
        source=_SERVER,
        forget=_STOP,
    ),
)
