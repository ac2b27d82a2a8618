"""Begins to record in this process, and goes on in those that are forked from it.

Those who ask for it themselves, in tests, notebooks and code, are readers of the same recorder: of
the one that ``coldwarm doctor`` has started, or of one in memory, which is there for as long as
anybody asks.
"""

import _thread
import atexit
import os
import sys
import time

from coldwarm.doctor.record import imports, sites
from coldwarm.doctor.record.journal import (
    FIRST,
    KEPT,
    LOOKED_FOR,
    STARTS,
    STARTS_KEPT,
    STARTS_LAZY,
    VARIABLE,
    FileJournal,
    Journal,
    Reader,
    command,
    failed,
    forget_failures,
    settled,
)
from coldwarm.doctor.record.settings_at_end import debugging
from coldwarm.frameworks.arrivals import Awaited
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from coldwarm.doctor.record.calls import CallCounter
    from coldwarm.doctor.record.looks import Looks


recording: "list[Recorder]" = []
"""Recorders that follow this process: one, whoever asks, so that nobody disturbs another."""
_forks: "list[bool]" = []
_OUTERMOST = ("<module>", "_run_module_as_main")
"""Name of a program's first frame."""


_TRACKER = "resource_tracker import main"
"""Code of the process that clears up what workers of ``multiprocessing`` have left."""
_LONGEST_S = 60.0
"""For making the report when the process ends."""
_LOOKS_S = 0.02


def begin(name: str) -> None:
    """Record from now until the process ends: into a folder, or for a report (``.json``).

    A second call does nothing.

    Raises:
        OSError: the folder cannot be written to.
    """
    if recording:
        return
    folder, report = settled(name)
    wanted = os.environ.get(LOOKED_FOR)
    starts = (wanted or "").startswith(STARTS)
    recorder = Recorder(FileJournal(folder), keys=wanted == "keys", looks=not starts)
    recorder.keeps = wanted == STARTS_KEPT
    recorder.stays = True
    if not starts:
        recorder.follow_calls()
    recorder.journal.write("process", **recorder.process())
    recorder.begin()
    if wanted and wanted.startswith(STARTS_LAZY):
        imports.import_late(wanted.removeprefix(STARTS_LAZY))
    if report is not None:  # called after the other
        pid = os.getpid()
        atexit.register(_quietly, recorder.journal, lambda: _write(report, pid))
    atexit.register(_quietly, recorder.journal, recorder.leave)
    # A program that traces itself sees nothing of that: these two are called before it.
    atexit.register(sys.settrace, None)
    atexit.register(sys.setprofile, None)


def _write(report: str, first: int) -> None:
    """Let a process of its own write the report: this one is left as it is."""
    if os.getpid() != first:
        return
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    paths = [path for path in (os.environ.get("PYTHONPATH"), root) if path]
    leave_out = {VARIABLE, FIRST, LOOKED_FOR}
    kept = {name: value for name, value in os.environ.items() if name not in leave_out}
    read = ("doctor", "--read", report, "--json", "--out", report)
    command = [sys.executable, "-P", "-m", "coldwarm", *read]
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    variables = {**kept, "PYTHONPATH": os.pathsep.join(paths)}
    pid = os.posix_spawn(sys.executable, command, variables, file_actions=nowhere, setsid=True)
    ends_s = time.monotonic() + _LONGEST_S
    while time.monotonic() < ends_s:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(_LOOKS_S)
    os.kill(pid, 9)
    os.waitpid(pid, 0)


class Recorder:
    """Recorder of this process."""

    def __init__(self, journal: "Journal", *, keys: bool = False, looks: bool = True) -> None:
        """Write into ``journal``; ``keys``: follow keys of random numbers too.

        ``looks``: look at where the first thread is, for as long as the process lives.
        """
        self.journal = journal
        self.stages: Any = None
        self.keeps = False
        """Whether Numba is to keep on disk what it compiles."""
        self.stays = False
        """Until the process ends, not for as long as somebody asks."""
        self.sees_calls = False
        self.keys = keys
        """Whether keys are followed, in a process in which ``jit`` is off."""
        self._looks_always = looks
        self._calls: CallCounter | None = None
        self._compiles: dict[str, Any] = {}
        """By framework, what follows it."""
        self._versions: dict[str, dict[str, str]] = {}
        self._awaited: Awaited | None = None
        self._leave_imports: Callable[[], None] | None = None
        self.looks: Looks | None = None

    def begin(self) -> None:
        """Follow each framework from when it is there."""
        told = {
            "jax": self._jax,
            "torch": self._embeddings,
            "torch._functorch.eager_transforms": self._jacobians,
            "torch._dynamo": self._torch,
            "numba": self._numba,
            "timeit": self._timeit,
        }
        quiet = {name: self._quiet(tell) for name, tell in told.items()}
        for name in [one for one in quiet if one in sys.modules]:
            quiet.pop(name)()
        recording.append(self)
        # Events of imports are hidden from a program's own tracer, and cost 5 % of a start.
        hidden = self.stays and self._looks_always
        if not (hidden and imports.Imports(self.journal, quiet).begin(self._calls)):
            self._awaited = Awaited(quiet)
            self._awaited.begin()
            if self.stays:
                self.follow_imports()
        if not _forks:  # nothing takes it back
            _forks.append(True)
            os.register_at_fork(before=_stopped, after_in_parent=_resumed, after_in_child=_forked)
        if self.stays and self._looks_always:
            self.look()

    @staticmethod
    def adopted_by(package: "Any") -> None:
        """Give the package that the program imports the modules that follow it already.

        They are kept out of what the program imports: there is no other way to them than classes.
        """
        begin: Any = Recorder.begin
        own = begin.__builtins__["__import__"].__self__.modules
        name = package.__name__
        sys.modules.update({one: own[one] for one in own if one != name})
        own[f"{name}.doctor"].__class__ = own[f"{name}.doctor"]._Called
        vars(package).update(
            {one.rpartition(".")[2]: held for one, held in own.items() if one.count(".") == 1}
        )

    def _quiet(self, tell: "Callable[[], object]") -> "Callable[[], None]":
        return lambda: _quietly(self.journal, tell)

    def end(self) -> None:
        """Take everything off, and leave the process as it was."""
        recording.clear()
        self.leave_calls()
        if self._awaited is not None:
            self._awaited.end()
        for one in self._compiles.values():
            _quietly(self.journal, one.end)

    def follow_calls(self) -> None:
        """Follow calls too, where this Python can."""
        if self._calls is not None:
            return
        from coldwarm.doctor.record.calls import CallCounter

        calls = CallCounter(self.journal, lambda: self.stages)
        self.sees_calls = calls.begin()
        if not self.sees_calls:
            return
        self._calls = calls
        if self.stages is not None:
            _quietly(self.journal, calls.jax_is_here)
            self.stages.compiled = calls.ask_again
        if "numba" in self._compiles:
            _quietly(self.journal, calls.numba_is_here)
        if "timeit" in sys.modules:
            self._timeit()

    def follow_imports(self) -> None:
        """Follow imports too."""
        if self._leave_imports is None:
            self._leave_imports = imports.follow(self.journal)

    def look(self) -> None:
        """Look at where this thread is, from now on."""
        if self.looks is None:
            from coldwarm.doctor.record.looks import Looks

            self.looks = Looks(self.journal)
            self.looks.begin()

    def tell_looks(self) -> None:
        """Write where the thread was up to now."""
        if self.looks is not None:
            self.looks.end()
            self.looks.resume()

    def look_again(self) -> None:
        """Go on after the process was forked, when the program calls something next.

        From Python 3.12 on, threads are counted when this has returned, and a warning is given.
        """
        if self.looks is None:
            return
        if sys.version_info < (3, 12):
            self.looks.resume()
        elif self._calls is not None:
            self._calls.then(self.looks.resume)

    def leave_calls(self) -> None:
        """Follow neither calls nor imports any more, and do not look where the thread is."""
        if self.looks is not None:
            self.looks.end()
            self.looks = None
        if self._calls is not None:
            self._calls.end()
        if self.stages is not None:
            self.stages.compiled = None
        if self._leave_imports is not None:
            self._leave_imports()
        self._calls = self._leave_imports = None
        self.sees_calls = False

    def process(self) -> "dict[str, Any]":
        """Return what is told of this process."""
        return {
            "pid": os.getpid(),
            "parent": os.getppid(),
            "thread": _thread.get_ident(),
            "argv": command(sys.orig_argv),
            "is_tracker": any(_TRACKER in one for one in sys.orig_argv),
            "folder": os.getcwd(),
            "started_at": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
            "python": sys.version.split()[0],
            "sees_calls": self.sees_calls,
        }

    def frameworks(self) -> "list[dict[str, Any]]":
        """Return what is told of the frameworks that are there."""
        return [{"name": name, "versions": found} for name, found in self._versions.items()]

    def spent_ns(self) -> int:
        """Return the nanoseconds in here where something was compiled."""
        return self.stages.spent_ns if self.stages else 0

    def renew(self) -> None:
        """Write again what was written often enough: for a reader who comes now."""
        forget_failures()
        for one in (self._calls, self.looks, *self._compiles.values()):
            if hasattr(one, "renew"):
                one.renew()

    def _jax(self) -> None:
        from coldwarm.doctor.record.jax_compiles import JaxStages

        self.stages = JaxStages(self.journal)
        self._follow("jax", self.stages, "jax", "jaxlib", "numpy")
        if self.keys:
            from coldwarm.doctor.record.random_keys import Keys

            Keys(self.journal).begin()
        if os.environ.get(KEPT) and isinstance(self.journal, FileJournal):
            from coldwarm.doctor.record.saved_programs import SavedPrograms

            SavedPrograms(self.journal, self.stages).begin()
        if self._calls is not None:
            self._calls.jax_is_here()
            self.stages.compiled = self._calls.ask_again

    def _torch(self) -> None:
        from coldwarm.doctor.record.torch_compiles import TorchCompiles

        self._follow("torch", TorchCompiles(self.journal), "torch")

    def _embeddings(self) -> None:
        from coldwarm.doctor.record.embeddings import Embeddings

        if self.looks is not None and self.stays:
            embeddings = Embeddings(self.journal)
            embeddings.begin()
            self._compiles["embeddings"] = embeddings

    def _jacobians(self) -> None:
        from coldwarm.doctor.record import jacobians

        self._compiles["jacobians"] = jacobians.in_torch(self.journal)

    def _numba(self) -> None:
        from coldwarm.doctor.record.numba_compiles import NumbaCompiles, keep_all

        if self.keeps:
            keep_all()
        self._follow("numba", NumbaCompiles(self.journal), "numba", "llvmlite")
        if self._calls is not None:
            self._calls.numba_is_here()

    def _timeit(self) -> None:
        if self._calls is not None:
            self._calls.timeit_is_here()

    def _follow(self, name: str, follows: "Any", *packages: str) -> None:
        from coldwarm.frameworks.base import versions

        follows.begin()
        self._compiles[name] = follows
        self._versions[name] = versions(*packages)
        self.journal.write("framework", name=name, versions=self._versions[name])

    def forked(self) -> None:
        """Begin anew in a process that was forked."""
        self.journal.reopen()
        self.looks = None  # it looked at the first process
        if self._calls is not None:
            self._calls.forget()
        for one in self._compiles.values():
            if hasattr(one, "forget"):
                one.forget()
        for one in self.journal.readers:
            one.restart(self)
        if self.stays:
            self.journal.write("process", **self.process())

    def is_told(self) -> bool:
        """Say whether JAX still tells what it compiles."""
        return self.stages is None or self.stages.is_told()

    def leave(self) -> None:
        """Write how the process ends."""
        if self.looks is not None:
            self.looks.end()
        if self._calls is not None:
            self._calls.leave()
        if "embeddings" in self._compiles:
            _quietly(self.journal, self._compiles["embeddings"].leave)
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if error is not None and _went_through_all(error):
            self.journal.write("error", **_told(error))
        if not self.is_told():
            self.journal.write("untold", framework="jax")
        _quietly(self.journal, lambda: self.journal.write("debugging", **debugging()))
        self.journal.write("end", doctor_s=self.spent_ns() / 1e9)


def _went_through_all(error: BaseException) -> bool:
    """Say whether an error went through the whole program: tools set these names for others too."""
    trace = error.__traceback__
    return trace is not None and trace.tb_frame.f_code.co_name in _OUTERMOST


def _stopped() -> None:
    for one in recording:
        if one.looks is not None:
            _quietly(one.journal, one.looks.stop)


def _resumed() -> None:
    for one in recording:
        if one.looks is not None:
            _quietly(one.journal, one.look_again)


def _forked() -> None:
    for one in recording:
        _quietly(one.journal, one.forked)


def _quietly(journal: "Journal", tell: "Callable[[], object]") -> None:
    """Do what may fail with a version that is not known: it must not become the program's."""
    try:
        tell()
    except Exception as error:
        failed(journal, error)


def _told(error: BaseException) -> "dict[str, Any]":
    """Return an error that ended the program: its class, the user's lines, what it went through."""
    stack: list[sites.Site] = []
    inside: list[str] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if sites.is_users(code):
            place = sites.path_of(code.co_filename), trace.tb_lineno, code.co_qualname
            stack.insert(0, place)
        else:
            inside.append(code.co_name)
        trace = trace.tb_next
    return {"error": type(error).__name__, "stack": stack[: sites.MOST], "inside": inside[-32:]}


_now_s = time.perf_counter
_FRAMEWORKS = ("jax", "torch", "numba")
_lock = _thread.RLock()
_followed: "list[Reader]" = []


class BlockReader(Reader):
    """A reader from ``begin`` to ``end``: of what happens inside of a block."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self._head: list[dict[str, Any]] = []
        self.counts: tuple[bytes, bytes] = b"", b""
        """Counts of the journal: when the block began, and when it ended."""
        self._spent_ns = 0

    def begin(self) -> None:
        """Follow compiling, calls and imports from now on."""
        with _lock:
            recorder = _recorder()
            recorder.follow_calls()
            recorder.follow_imports()
            recorder.look()
            recorder.renew()
            self.restart(recorder)
            recorder.journal.readers += (self,)

    def restart(self, recorder: Recorder) -> None:
        """Begin here: at first, and in a process that was forked inside of the block."""
        self.rows = []
        self.n_gone = 0
        self._head = [
            _row("process", **recorder.process()),
            _row("block", loaded=_loaded(), devices=_have_devices(), jit=not recorder.keys),
            *(_row("framework", **one) for one in recorder.frameworks()),
        ]
        self.counts = recorder.journal.counted(), b""
        self._spent_ns = recorder.spent_ns()

    def end(self, error: "BaseException | None" = None) -> None:
        """Follow no more; ``error`` is what has ended the block."""
        with _lock:
            (recorder,) = recording
            journal = recorder.journal
            recorder.tell_looks()
            journal.readers = tuple(one for one in journal.readers if one is not self)
            self.counts = self.counts[0], journal.counted()
            if error is not None:
                self.take(_row("error", **_told(error)))
            if not recorder.is_told():
                self.take(_row("untold", framework="jax"))
            if self.n_gone:
                self.take(_row("cut"))
            _quietly(journal, lambda: self.take(_row("debugging", **debugging())))
            self.take(_row("end", doctor_s=(recorder.spent_ns() - self._spent_ns) / 1e9))
            others = [row for row in self.rows if row["kind"] != "place"]
            self.rows = [*self._head, *journal.places, *others]
            if recorder.stays:
                return
            if not journal.readers:
                recorder.end()
            elif not any(isinstance(one, BlockReader) for one in journal.readers):
                recorder.leave_calls()


def followed() -> Reader:
    """Return who is told what is compiled, from the first time that this is asked."""
    with _lock:
        if not _followed:
            reader = Reader()
            _recorder().journal.readers += (reader,)
            _followed.append(reader)
        return _followed[0]


def _recorder() -> Recorder:
    """Return what follows this process."""
    if not recording:
        Recorder(Journal()).begin()
    return recording[0]


def _row(kind: str, **fields: "Any") -> "dict[str, Any]":
    return {"kind": kind, "at_s": _now_s(), **fields}


def _loaded() -> "list[str]":
    """Return the frameworks that are loaded."""
    return [name for name in _FRAMEWORKS if name in sys.modules]


def _have_devices() -> bool:
    """Say whether JAX has started its devices."""
    return bool(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None))
