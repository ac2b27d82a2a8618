"""Work that goes on in this process after a call has returned: threads, children, tasks.

A thread that waits for its next job is idle, as those of a pool are; one that is in the midst of
a function is not. A thread's Python frames tell which, and for what is inside a compiled
library the processor time that it uses.
"""

import os
import sys
import time

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType
    from typing import Any

_sleep = time.sleep  # as it was before the user's program
_WAITS = {
    "threading.py": {"wait", "acquire", "join", "_wait_for_tstate_lock"},
    "thread.py": {"_worker"},
    "process.py": {"wait_result_broken_or_wakeup"},
    "pool.py": {"_wait_for_updates", "worker"},
    "queue.py": {"get"},
    "queues.py": {"get"},
    "connection.py": {"_recv", "wait", "select"},
    "selectors.py": {"select"},
    "socketserver.py": {"serve_forever"},
    "subprocess.py": {"wait", "_wait", "_try_wait", "communicate", "_communicate"},
    "popen_fork.py": {"poll"},
}
"""Functions of Python's own files in which a thread waits for others."""
_INSTALLED = ("site-packages" + os.sep, "dist-packages" + os.sep)
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_POOLED = (b"multiprocessing.spawn", b"loky")
"""In the command line of a process that waits for jobs."""
_HELPERS = (b"resource_tracker", b"multiprocessing.forkserver", b"compile_worker")
"""In the command line of one that does no work of a call: PyTorch starts its compiler's
processes in advance, which takes them seconds."""
_MOMENTS, _MOST_MOMENTS, _MOMENT_S = 5, 100, 2e-4
_LOOKS, _MOST_LOOKS, _LOOK_S = 5, 100, 0.003
_USED_NS, _USED_LOOKS = 500_000, 3
"""Processor time from which something is at work, and in how many looks it uses some: a single
beat takes long, too, where a virtual machine's processor is taken away meanwhile."""


class BackgroundWork:
    """Work in one moment, and what has come since."""

    def __init__(self) -> None:
        """Look at all threads, children and tasks."""
        self._started = set(_tasks())
        """The kernel's threads, among them some that have no Python frame yet."""
        self._threads = {one.ident for one in _working_threads()}
        self._kept: set[int] = set()
        """Threads and processes of the first call that rest, and stay for the next ones."""
        self._is_first = True
        self._using: set[int] = set()
        self._looked_at: set[int] = set()
        """Threads and processes that were looked at since the call, and those of them that have
        used a processor: to look takes its time."""
        self._children = set(_children())
        tasks = _pending_tasks()
        self._tasks = {id(task) for task in tasks}
        self._loops = _loops_elsewhere(task.get_loop() for task in tasks)
        """The loops of asyncio that run in other threads."""
        self._mark = _marked() if self._loops else None

    def since(self) -> "tuple[list[str], list[str], int]":
        """Return which threads, processes and how many tasks are at work that were not then.

        Where threads are, the others are not counted: a thread that computes in Python lets this
        one go on for a moment after each file that it reads, and may have ended before the last.
        What the first call has started and what rests is kept for the next calls, as a heartbeat
        or a server is; what each call starts anew is work that it has put off.
        """
        # What a call has handed to another thread may not have begun.
        alone = len(sys._current_frames()) == 1  # noqa: SLF001 - as below
        begun = alone and set(_tasks()) <= self._started
        self._using.clear()
        self._looked_at.clear()
        threads = _still(self._working, self._is_waking, begun=begun)
        processes = [] if threads else _still(self._running, self._is_waking, begun=begun)
        if self._is_first:
            # On a busy machine one of them may not have come to its function yet.
            self._kept.update(map(int, {*_tasks()} - self._started), _children())
            self._is_first = False
        return threads, processes, 0 if threads else self._n_tasks()

    def _is_waking(self) -> bool:
        """Say whether a new thread is about to begin, and only waits for a processor."""
        new = set(_tasks()) - self._started
        return any(_state(task) == "R" for task in map(int, new))

    def _working(self) -> "list[str]":
        now = [one for one in _working_threads() if one.ident not in self._threads]
        numbers = {one.ident: number for one in now for number in _native({one.ident})}
        asked = [numbers[one.ident] for one in now if one.ident in numbers and not one.has_jobs]
        self._look_at(asked)
        found = []
        for one in now:
            number = numbers.get(one.ident)
            if one.has_jobs or number in self._using or (one.is_users and not self._rests(number)):
                found.append(one.described)
        return found

    def _look_at(self, numbers: "Sequence[int]") -> None:
        new = [one for one in numbers if one not in self._looked_at]
        self._looked_at.update(new)
        self._using.update(_using_processor(new))

    def _rests(self, number: "int | None") -> bool:
        """Say whether what uses no processor may stay: what the first call has started may."""
        return number is not None and (self._is_first or number in self._kept)

    def _running(self) -> "list[str]":
        children = {pid for pid in _children() if not _is_named(pid, _HELPERS)}
        strangers = children - self._children - _pool_processes()
        # Whether a pool has jobs left, its threads tell.
        strangers = {pid for pid in strangers if not _is_named(pid, _POOLED)}
        processes = {pid for pid in strangers if _state(pid) not in "ZX"}
        known = {pid for pid in self._children & children if not _is_named(pid, _POOLED)}
        self._look_at([*processes, *(known - _pool_processes())])
        found = [pid for pid in sorted(processes) if pid in self._using or not self._rests(pid)]
        found += sorted(self._using & self._children)
        return [_command(pid) for pid in found]

    def _n_tasks(self) -> int:
        new = [task for task in _pending_tasks() if id(task) not in self._tasks]
        return sum(map(self._is_of_call, new))

    def _is_of_call(self, task: "Any") -> bool:
        """Say whether a call has made a task: in a loop that runs elsewhere others may, too."""
        if all(task.get_loop() is not other for other in self._loops):
            return True
        return any(self._mark is variable for context in _contexts(task) for variable in context)


def _marked() -> object:
    """Mark the context of this thread; what it hands to a loop runs in a copy of that."""
    from contextvars import ContextVar

    mark: ContextVar[object] = ContextVar("of_a_measured_call")
    mark.set(mark)
    return mark


def _contexts(task: "Any") -> "list[Any]":
    if hasattr(task, "get_context"):
        return [task.get_context()]
    import gc

    # Before Python 3.12 a task tells its context to the garbage collector alone.
    return [one for one in gc.get_referents(task) if type(one).__name__ == "Context"]


def _still(
    look: "Callable[[], list[str]]", is_waking: "Callable[[], bool]", *, begun: bool
) -> "list[str]":
    """Return which are at work, and still are a moment later.

    What has given its result may still be on its way back to where it waits for the next job.
    """
    found = look()
    for moment in range(_MOST_MOMENTS):
        if (begun and not found) or (found and moment >= _MOMENTS):
            break
        _sleep(_MOMENT_S)  # which also lets go of the interpreter's lock
        begun = not is_waking()
        found = look()
    return found


class _WorkingThread:
    """A thread that is in the midst of a function."""

    def __init__(self, ident: int, frames: "list[FrameType]", *, has_jobs: bool) -> None:
        """Look at where it is."""
        self.ident = ident
        self.has_jobs = has_jobs
        """Whether it looks after jobs that are not done."""
        own = [one for one in frames if _is_users(one)]
        self.is_users = bool(own)
        thread = getattr(sys.modules.get("threading"), "_active", {}).get(ident)
        name = getattr(thread, "name", None) or "a thread"
        at = (own or frames)[0]
        file = at.f_code.co_filename.rpartition(os.sep)[2]
        self.described = f"{name} ({file}, line {at.f_lineno})"


def _working_threads() -> "Iterator[_WorkingThread]":
    import _thread

    # Who calls from a thread of their own may do other things in the main one.
    main = getattr(sys.modules.get("threading"), "_main_thread", None)
    others = {_thread.get_ident(), getattr(main, "ident", None)}
    for ident, frame in sys._current_frames().items():  # noqa: SLF001 - documented, for this purpose
        if ident in others:
            continue
        frames = list(_stack(frame))
        own = any(_is_users(one) for one in frames)
        # The function of a thread or of a job is then no Python function.
        compiled = frame.f_code.co_name == "run" and _is_in(frame, ("threading.py", "thread.py"))
        jobs = compiled or any(map(_has_jobs, frames))
        if jobs or not _is_idle(frames, own=own):
            yield _WorkingThread(ident, frames, has_jobs=jobs)


def _stack(frame: "FrameType | None") -> "Iterator[FrameType]":
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_users(frame: "FrameType") -> bool:
    return _is_users_file(frame.f_code.co_filename)


def _is_users_file(file: str) -> bool:
    return not (
        file.startswith((_LIBRARY, "<frozen")) or any(place in file for place in _INSTALLED)
    )


def _is_in(frame: "FrameType", files: "Sequence[str]") -> bool:
    """Say whether a frame is of one of these files of Python's own."""
    file = frame.f_code.co_filename
    return file.startswith(_LIBRARY) and file.rpartition(os.sep)[2] in files


def _is_idle(frames: "list[FrameType]", *, own: bool) -> bool:
    innermost = frames[0]
    files = [file for file, names in _WAITS.items() if innermost.f_code.co_name in names]
    waits = _is_in(innermost, files)
    # One that wakes by itself goes on with its function then.
    timeout = innermost.f_locals.get("timeout")
    return waits and not (own and timeout is not None and timeout >= 0)


def _has_jobs(frame: "FrameType") -> bool:
    """Say whether the thread looks after a pool that has not finished, or waits for its time."""
    name, held = frame.f_code.co_name, frame.f_locals
    if name == "_worker" and hasattr(held.get("work_queue"), "qsize"):
        return bool(held["work_queue"].qsize())
    if name == "run" and type(held.get("self")).__name__ == "Timer":
        return True
    if name == "_handle_results":
        return bool(held.get("cache"))
    if name == "run" and hasattr(held.get("self"), "pending_work_items"):
        return bool(held["self"].pending_work_items)
    return False


def _native(threads: "set[int]") -> "list[int]":
    """Return the kernel's numbers of threads."""
    known = getattr(sys.modules.get("threading"), "_active", {})
    found = [getattr(known.get(one), "native_id", None) for one in threads]
    return [number for number in found if number is not None]


def _children() -> "Iterator[int]":
    for task in _tasks():
        yield from map(int, _read(f"/proc/self/task/{task}/children").split())


def _tasks() -> "list[str]":
    try:
        return os.listdir("/proc/self/task")
    except OSError:
        return []


def _read(path: str) -> bytes:
    """Return a small file of the kernel's; nothing where it is not there any more."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _state(pid: int) -> str:
    """Return the state of a process, or of a thread, by its letter; ``X``: it is gone."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return fields[0].decode() if fields else "X"


def _is_named(pid: int, names: "Sequence[bytes]") -> bool:
    command = _read(f"/proc/{pid}/cmdline")
    return any(name in command for name in names)


def _pool_processes() -> "set[int]":
    """Return the processes of pools, which stay when their jobs are done."""
    found: set[int] = set()
    for child in list(getattr(sys.modules.get("multiprocessing.process"), "_children", ())):
        if "PoolWorker" in child.name or "Loky" in child.name:
            found.add(child.pid)
    for name in ("concurrent.futures.process", *_LOKYS):
        managers = getattr(sys.modules.get(name), "_threads_wakeups", ())
        for manager in list(managers):
            found.update(getattr(manager, "processes", None) or ())
    return found


_LOKYS = ("loky.process_executor", "joblib.externals.loky.process_executor")


def _command(pid: int) -> str:
    """Return what a process was started as: the name of its program."""
    words = _read(f"/proc/{pid}/cmdline").split(b"\0")
    return f"{words[0].rpartition(b'/')[2].decode('utf-8', 'replace') or 'a process'} ({pid})"


def left_until_exit() -> "list[str]":
    """Return what is to be called at the end of the process, and is no library's."""
    atexit = sys.modules.get("atexit")
    if atexit is None:
        return []
    found: list[Any] = []

    class Equal:
        """Is compared with every function that is registered, and equals none."""

        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            """Note it."""
            found.append(other)
            return False

    atexit.unregister(Equal())
    return [_called(one) for one in found if _is_users_function(one)]


def _unwrapped(function: "Any") -> "Any":
    for _ in range(10):
        inner = getattr(function, "__func__", None) or getattr(function, "func", None)
        if inner is None:
            break
        function = inner
    return function


def _is_users_function(function: "Any") -> bool:
    code = getattr(_unwrapped(function), "__code__", None)
    if code is None:
        root = str(getattr(function, "__module__", None) or "").partition(".")[0]
        return root in {"", "builtins", "__main__"}
    return _is_users_file(code.co_filename)


def _called(function: "Any") -> str:
    return str(getattr(_unwrapped(function), "__qualname__", type(function).__name__))


def _pending_tasks() -> "list[Any]":
    """Return the tasks of asyncio that are not done."""
    module = sys.modules.get("asyncio.tasks")
    for name in ("_scheduled_tasks", "_all_tasks"):
        known = getattr(module, name, None)
        if known is not None:
            return [task for task in list(known) if not task.done()]
    return []


def _loops_elsewhere(known: "Iterable[Any]") -> "list[Any]":
    import _thread

    events = sys.modules.get("asyncio.events")
    if events is None:
        return []
    mine = events._get_running_loop()  # noqa: SLF001 - it raises nothing where there is none
    found = [loop for loop in known if loop is not mine and loop.is_running()]
    for ident, innermost in sys._current_frames().items():  # noqa: SLF001 - as above
        frames = [] if ident == _thread.get_ident() else [*_stack(innermost)]
        runs = [frame for frame in frames if frame.f_code.co_name == "run_forever"]
        found += [frame.f_locals.get("self") for frame in runs]  # which may have no task yet
    return found


def _using_processor(numbers: "list[int]") -> "list[int]":
    """Return those threads and processes that use a processor while this thread sleeps.

    One that only waits for a processor is looked at for longer: on a busy machine a heartbeat
    does, too, and then uses next to nothing.
    """
    used = {number: [_used_ns(number)] for number in numbers}
    for look in range(_MOST_LOOKS if numbers else 0):
        _sleep(_LOOK_S)
        for number, seen in used.items():
            now = _used_ns(number)
            if now > seen[-1]:
                seen.append(now)
        found = [one for one, seen in used.items() if _is_at_work(seen)]
        if found:
            return found
        if look >= _LOOKS and all(_state(number) != "R" for number in numbers):
            break
    return []


def _is_at_work(used_ns: "Sequence[int]") -> bool:
    return len(used_ns) > _USED_LOOKS and used_ns[-1] - used_ns[0] > _USED_NS


def _used_ns(number: int) -> int:
    """Return the processor time of a process's first thread, or of a thread of this one."""
    counts = _read(f"/proc/{number}/schedstat") or _read(f"/proc/self/task/{number}/schedstat")
    return int((counts or b"0").split()[0])


def queued_s() -> float:
    """Return for how long this thread was ready and waited for a processor, so far."""
    counts = _read("/proc/thread-self/schedstat").split()
    return int(counts[1]) / 1e9 if len(counts) > 1 else 0.0


def n_waits() -> int:
    """Return how often this thread has given up its processor by itself, to wait for something.

    Where the system does not tell, another number each time.
    """
    try:
        from resource import RUSAGE_THREAD, getrusage
    except ImportError:
        return time.perf_counter_ns()
    return getrusage(RUSAGE_THREAD).ru_nvcsw


def threads_used_ns() -> "dict[bytes, int]":
    """Return the processor time of each thread of this process but the calling one.

    By the thread's number and name, such as ``b"123 python"``.
    """
    import _thread

    mine = _thread.get_native_id()
    found = {}
    for task in _tasks():
        if int(task) != mine:
            name = _read(f"/proc/self/task/{task}/comm").strip()
            found[task.encode() + b" " + name] = _used_ns(int(task))
    return found


def is_runnable() -> bool:
    """Say whether a thread of this process other than the calling one is at work, or would be."""
    import _thread

    mine = _thread.get_native_id()
    return any(_state(task) == "R" for task in map(int, _tasks()) if task != mine)


def is_busy() -> bool:
    """Say whether another thread of this process is at work, or waits for Python's lock to go on.

    Such a thread sleeps while this one has the lock: it is let go on for a moment.
    """
    if is_runnable():
        return True
    if len(sys._current_frames()) == 1:  # noqa: SLF001 - it counts Python's own threads
        return False
    used_ns = threads_used_ns()
    _sleep(_MOMENT_S)
    now_ns = threads_used_ns()
    return any(now_ns.get(thread, ns) > ns for thread, ns in used_ns.items())
