"""Files that a program reads that were there before it, as Python's audit events show it.

A file that an earlier process of the same program wrote, and that this one reads, is a full cache,
whoever keeps it. Python tells of each file that its own code opens, of libraries that are loaded,
of databases of ``sqlite3`` and of sockets with a name; what else is mapped into memory is looked up
once. Files that a library in C or a child process opens, and closes again, are not seen.

A hook can never be taken out again: only processes have one whose calls are not repeated.
"""

import os
import sys

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_stat, _current = os.stat, os.getcwd  # as they were before a program could replace them
_PLACES = {
    "open": 0,
    "ctypes.dlopen": 0,
    "import": 1,
    "sqlite3.connect": 0,
    "socket.connect": 1,
    "os.rename": 1,
}
"""By event, which of its arguments is the name of a file."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MARK = "user.coldwarm"
"""The attribute of a file by which a run knows what an earlier one saw being written."""
_REGULAR, _SOCKET, _KIND = 0o100000, 0o140000, 0o170000
_MOST_MISSED = 50
_LIBRARY = os.path.dirname(os.__file__)
_NONE = ("/proc/", "/sys/", "/dev/")
_read: "dict[str, int]" = {}
"""By name, when it was last changed before this process opened it, in nanoseconds."""
_wrote: "set[str]" = set()
_missed: "list[str]" = []
"""Files that it wanted to read and were not there, in order."""


def watch(*, offline: bool = False) -> None:
    """Watch from now on, as long as the process lives; ``offline``: and let it reach no server."""
    if offline:
        sys.addaudithook(_refuse)
    sys.addaudithook(_seen)


def _refuse(event: str, given: "tuple[Any, ...]") -> None:
    """Refuse what goes out to other machines.

    Raises:
        OSError: it does.
    """
    if event == "socket.getaddrinfo":
        host: Any = given[0]
    elif event == "socket.connect" and isinstance(given[1], tuple):
        host = given[1][0]
    else:
        return
    host = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if host not in {None, "", "localhost", "::1"} and not str(host).startswith("127."):
        raise OSError("no network in this process")


def _seen(event: str, given: "tuple[Any, ...]") -> None:
    place = _PLACES.get(event)
    if place is None:
        return
    try:
        name = given[place]
        flags = given[2] if event == "open" else os.O_WRONLY if event == "os.rename" else 0
        if name is not None and name.__class__ is not int and flags.__class__ is int:
            _note(os.fsdecode(name), flags)
    except Exception:  # noqa: BLE001 - an odd name is the program's affair, and no error of ours
        return


def _note(name: str, flags: int) -> None:
    if name.endswith(".pyc"):  # which is judged by itself, and stands for what it was made from
        if "/site-packages/" in name or name.startswith(_LIBRARY):
            return
        folder, _, last = name.rpartition("/__pycache__/")
        name = f"{folder}/{last.partition('.')[0]}.py"
    if name[:1] != "/":
        name = f"{_current()}/{name.removeprefix('file:')}"
    if name in _read or name in _wrote:
        return
    if name.startswith(_NONE) and not name.startswith("/dev/shm/"):  # noqa: S108 - looked at, not used
        return
    try:
        found = _stat(name)
    except OSError:
        found = None
    there = found is not None and found.st_mode & _KIND in {_REGULAR, _SOCKET}
    reads = not flags & _WRITING or (flags & os.O_RDWR and not flags & os.O_TRUNC)
    if there and reads and found is not None:
        _read[name] = max(found.st_ctime_ns, found.st_mtime_ns)
    elif flags & _WRITING:
        _wrote.add(name)
    elif found is None:
        _missed.append(name)


def _mapped() -> None:
    """Note what is mapped into memory: libraries, and files that code in C has opened."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as regions:
            names = {region.partition("/")[2].rstrip("\n") for region in regions}
    except OSError:
        return
    for name in names - {""}:
        _note(f"/{name}", 0)


def told(asked: "Mapping[str, Any]") -> "dict[str, Any]":
    """Return counters as an owner of a cache has them, with the names of what was there before.

    ``asked``: what was changed from ``since_ns`` on and before ``before_ns``, when this process was
    started, an earlier process wrote, and so are the files in ``known`` and those that an earlier
    run has marked for this ``program``; those in ``folders`` are the runner's. What an earlier
    process ``wrote`` and this one, which finds it there, did not, is told besides.
    """
    _mapped()
    old = {name: at_ns for name, at_ns in _read.items() if at_ns < asked["before_ns"]}
    late = {os.path.realpath(name) for name, at_ns in old.items() if at_ns >= asked["since_ns"]}
    late |= {real for real in map(os.path.realpath, old) if _is_marked(real, asked["program"])}
    known = set(asked["known"])
    late |= known and {real for real in map(os.path.realpath, old) if real in known}
    folders = tuple(f"{one}/" for one in asked["folders"])
    earlier = sorted(name for name in late if not name.startswith(folders))
    raw = {f"file_{number}": name for number, name in enumerate(earlier[: asked["most"]], 1)}
    wrote = {os.path.realpath(name) for name in _wrote}
    left = [n for n in asked["wrote"] if n not in wrote and n not in late and os.path.isfile(n)]
    for what, names in (("without", asked["known"]), ("left", left)):
        numbered = enumerate(names[: asked["most"]], 1)
        raw.update({f"{what}_{number}": name for number, name in numbered})
    return {"requests": len(_read), "hits": len(earlier), "raw": raw}


def _is_marked(name: str, program: str) -> bool:
    """Say whether an earlier run saw a process of this program write the file as it is now."""
    try:
        mark = os.getxattr(name, _MARK).decode()
    except (OSError, ValueError):
        return False
    return bool(mark == f"{program} {_stat(name).st_mtime_ns}")


def mark(names: "Iterable[str]", program: str) -> None:
    """Mark files that a process of a program has written, for runs to come."""
    for name in names:
        try:
            os.setxattr(name, _MARK, f"{program} {_stat(name).st_mtime_ns}".encode())
        except OSError:  # where files have no attributes, only this run knows
            continue


def wrote(asked: "Mapping[str, Any]") -> "list[str]":
    """Return the names of what it wrote that is there still, but in the runner's folders."""
    names = {os.path.realpath(name) for name in _wrote if os.path.isfile(name)}
    folders = tuple(f"{one}/" for one in asked["folders"])
    return sorted(name for name in names if not name.startswith(folders))


def missed() -> "list[str]":
    """Return what it wanted to read and was not there, the last ones."""
    return _missed[-_MOST_MISSED:]


def before(asked: "Mapping[str, Any]") -> "list[str]":
    """Return the names of all that was read, there before, and no part of an installation."""
    _mapped()
    names = {os.path.realpath(name) for name, at_ns in _read.items() if at_ns < asked["before_ns"]}
    folders = tuple(f"{one}/" for one in (*_installed(), *asked["folders"]))
    return sorted(name for name in names - _sources() if not name.startswith(folders))


def _sources() -> "set[str]":
    """Return the files of modules that lie where an import finds them by their names.

    That of ``__main__`` is the runner's own, whose text libraries look up in the stack.
    """
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    found = {os.path.realpath(main)} if isinstance(main, str) else set()
    for name, module in list(sys.modules.items()):
        file, place = getattr(module, "__file__", None), name.replace(".", "/")
        begins = tuple(f"{one}/{place}{sign}" for one in sys.path for sign in "./")
        if isinstance(file, str) and file.startswith(begins):
            found.add(os.path.realpath(file))
    return found


def _installed() -> "list[str]":
    """Return the folders of the interpreter, of its packages and of the operating system."""
    import sysconfig

    found = {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, sys.exec_prefix}
    found |= {one for one in sys.path if one.endswith(("site-packages", "dist-packages"))}
    system = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/boot", "/run")
    return sorted({os.path.realpath(one) for one in found} | set(system))
