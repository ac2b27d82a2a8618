"""The journal of one process: lines of JSON, written at once, and counts that outlive the process.

A line is given to the kernel when it is written, and the counts lie in a file that is mapped into
memory, so that both are there whatever ends the process. Values of variables and of options whose
names say that they are secret, and tokens of known services, are left out where that can be told
without loading anything: a journal is read by what knows many more of them
(``coldwarm.masking``). Where the doctor itself fails, it never becomes the program's, and the
journal says it.
"""

import fcntl
import itertools
import mmap
import os
import sys
import time
from _json import encode_basestring_ascii, make_encoder

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any


_MASK = "***"
_NAMES = (
    *("PASS", "SECRET", "TOKEN", "CREDENTIAL", "COOKIE", "KEY", "BEARER", "AUTH", "JWT", "DSN"),
    *("PWD", "SIGNATURE", "LICENSE", "LICENCE", "WEBHOOK", "SAS", "PIN", "OTP", "PAT"),
    *("DATABASE_UR", "DB_UR", "REDIS_UR", "MONGO", "BROKER_UR", "SENTRY", "CONN_STR", "CONNECTION"),
)
"""Parts of names of what is secret: of one that is none, too, nothing is lost."""
_SHORT = ("PIN", "OTP", "PAT", "SAS", "PWD", "DSN", "JWT")
"""Parts that are words by themselves, and stand in others too."""
_FOLDERS = ("PWD", "OLDPWD", "PATH")
_TOKENS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-"),
    *("sk-", "sk_live_", "sk_test_", "pk_live_", "rk_live_", "whsec_", "hf_", "npm_", "r8_"),
    *("xoxb-", "xoxp-", "xoxa-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "GOCSPX-", "eyJ"),
    *("pypi-", "dop_v1_", "shpat_", "SG.", "dckr_", "nvapi-", "hvs.", "lin_api_", "tskey-", "dapi"),
    *("glsa_", "NRAK-", "PMAK-", "AGE-SECRET-KEY-", "Bearer ", "Basic ", "://"),
)
"""Beginnings of tokens of well-known services, and where a URL has a user."""
_FEWEST, _LONG_WORD = 6, 16
_OF_TOKEN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=")
_OF_USER = frozenset("/?#\"'<> \\")
"""Characters that end the user's part of a URL."""


def is_secret(name: str) -> bool:
    """Say whether a name of a variable, an option or an argument says that its value is secret."""
    upper = name.upper().replace("-", "_").strip("_")
    if upper in _FOLDERS:
        return False
    words = upper.split("_")
    return any(
        part in words or upper.endswith(f"_{part}") if part in _SHORT else part in upper
        for part in _NAMES
    )


def command(arguments: "Sequence[str]") -> "list[str]":
    """Return a command line with the program and the names of its options alone.

    What is given to a program is its own: no value is told.
    """
    found, given = list(arguments[:1]), False
    for at, one in enumerate(arguments[1:], 1):
        if given:
            name, equals, _ = one.partition("=")
            if not _is_option(name):
                found.append(_MASK)
            elif name.startswith("--") or len(one) == len("-x"):
                found.append(name + (equals and f"={_MASK}"))
            else:
                found.append(name[:2] + _MASK)  # ``-pX``
        elif one == "-c":
            return [*found, one, _MASK]
        else:
            found.append(one)
            given = arguments[at - 1] == "-m" or not _is_option(one)
            given = given and arguments[at - 1] not in {"-W", "-X"}
    return found


def _is_option(name: str) -> bool:
    return len(name) > 1 and name[0] == "-" and name.strip("-").replace("-", "_").isidentifier()


def _secret_values(arguments: "Sequence[str]", variables: "Mapping[str, str]") -> "Iterator[str]":
    for name, value in variables.items():
        if is_secret(name):
            yield value
    for one, following in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, value = one.partition("=")
        if one[:1] == "-" and is_secret(name):
            yield value if equals else following


def _is_telling(value: str) -> bool:
    """Say whether a text stands in others for no other reason."""
    if len(value) < _FEWEST or os.path.exists(value):
        return False
    plain = value.replace("_", "")
    is_word = plain.isalpha() and (plain.islower() or plain.isupper()) and len(value) < _LONG_WORD
    return not is_word and any(one.isalpha() for one in value)


class _Withheld:
    """Texts to take out of every line."""

    def __init__(self) -> None:
        """Take the secrets of this process: as it was started, before it changes anything."""
        values = {*_secret_values(sys.orig_argv, os.environ)}
        parts = {part for value in values for part in (value, *value.splitlines())}
        written = {encode_basestring_ascii(one)[1:-1] for one in parts if _is_telling(one)}
        self._values = sorted(written, key=len, reverse=True)

    def out(self, raw: str) -> str:
        """Return a line of JSON without them."""
        for value in self._values:
            if value in raw:
                raw = raw.replace(value, _MASK)
        for begin in _TOKENS:
            if begin in raw:
                raw = _without(raw, begin)
        return raw


def _without(raw: str, begin: str) -> str:
    """Return a line without the tokens that begin so."""
    head, *rest = raw.split(begin)
    done = head
    for part in rest:
        length = _user(part) if begin == "://" else _token(part, done)
        done += begin + (_MASK + part[length:] if length else part)
    return done


def _user(part: str) -> int:
    """Return how long the user of a URL is."""
    end = next((at for at, one in enumerate(part) if one in _OF_USER), len(part))
    return part[:end].rfind("@") + 1 and part[:end].rfind("@")


def _token(part: str, before: str) -> int:
    """Return how long a token is; 0 where it is none."""
    if before[-1:].isalnum():
        return 0
    end = next((at for at, one in enumerate(part) if one not in _OF_TOKEN), len(part))
    body = part[:end]
    plain = body.islower() and not any(one.isdigit() for one in body)
    return 0 if len(body) < _FEWEST or plain else end


_MOST_FAILURES = 50
_told: "set[tuple[int, str, str]]" = set()


def failed(journal: "Any", error: Exception) -> None:
    """Write into a journal that the doctor failed: once for each line of its own at which it did.

    It raises nothing, whatever the error is.
    """
    try:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        at = "?"
        if trace is not None:
            at = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        one = os.getpid(), at, type(error).__name__
        if one not in _told and len(_told) < _MOST_FAILURES:
            _told.add(one)
            journal.write("failed", at=at, error=type(error).__name__)
    except Exception:
        return


def forget_failures() -> None:
    """Write again what was written before: for a reader who came later."""
    _told.clear()


VARIABLE = "COLDWARM_DOCTOR"
"""The variable that names the folder of the journals, or the report (``.json``)."""
LOOKED_FOR, STARTS = "COLDWARM_DOCTOR_PASS", "starts"
STARTS_KEPT, STARTS_LAZY = "starts, kept", "starts, lazy "
"""The variable that says what is looked for, as imports and compiling alone: ``starts``. That
may let Numba keep what it compiles, or import a module when it is used first, whose name stands
behind. Without it all that tells where the time goes."""
KEPT = "COLDWARM_DOCTOR_KEEP"
"""The variable that asks to keep the programs that are compiled."""
FIRST = "COLDWARM_DOCTOR_FIRST"
"""The variable that tells children whose report it is: a process, and the report."""
REPORT, BESIDE = ".json", ".journal"
"""End of a report's name, and what its folder's name has behind it."""
LINES, COUNTS = ".jsonl", ".counts"
"""Ends of the names of a process's two files."""
_MOST_BYTES = 32 * 2**20
"""Largest size of all lines; what comes after is not written, and the last line says so."""
_MOST_ROWS = 100_000
"""Kept for one reader, the last ones."""
SLOTS, FIELDS = 2**16, 4
"""Size of the file of counts: places, and 64-bit numbers of each."""
LOST = 0
"""Where it counts the lines that could not be written."""
_now_s = time.perf_counter
_write = os.write
_FROM = 200
"""Numbers of descriptors from here on are ours, so that the program's are as without us."""
_no, _yes = False, True
_encoded = make_encoder(None, str, encode_basestring_ascii, None, ": ", ", ", _no, _no, _yes)
"""Encoder of ``json``, which is no module of a bare interpreter's."""


def settled(name: str) -> "tuple[str, str | None]":
    """Return the folder for journals, and the report that this process is to write at its end.

    A folder has no report. That of a report is written by the process that was started first,
    which tells its children where it is, and takes away what an earlier program has left there.
    A process that has replaced its program (``os.execv``) goes on with what it has written.

    Raises:
        OSError: that cannot be taken away.
    """
    if not name.endswith(REPORT):
        return name, None
    path = os.path.abspath(name.replace("%p", str(os.getpid())))
    first, _, of = os.environ.get(FIRST, "").partition(" ")
    if of == path:
        return path + BESIDE, path if first == str(os.getpid()) else None
    os.environ[VARIABLE], os.environ[FIRST] = path, f"{os.getpid()} {path}"
    _clear(path + BESIDE)
    if os.path.isfile(path):
        os.remove(path)
    return path + BESIDE, path


def _clear(folder: str) -> None:
    """Remove the journals of processes that have ended."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    for name in names:
        stem, ending = os.path.splitext(os.path.join(folder, name))
        if ending == LINES and not _is_written(stem + LINES):
            for one in (stem + LINES, stem + COUNTS):
                if os.path.exists(one):
                    os.remove(one)


def _is_written(path: str) -> bool:
    """Say whether a process may still write a journal: it has locked it as long as it is there."""
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _moved(file: int) -> int:
    """Return a descriptor of the same file with a number that programs seldom come to."""
    try:
        moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _FROM)
    except OSError:  # so many are not allowed
        return file
    os.close(file)
    return moved


class _Taken:
    """Takes the numbers below ours, so that what is opened inside gets another."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._taken: list[int] = []

    def __enter__(self) -> None:
        try:
            while not self._taken or self._taken[-1] < _FROM:
                self._taken.append(os.dup(self._file))
        except OSError:  # as above
            self.__exit__()

    def __exit__(self, *_: object) -> None:
        while self._taken:
            os.close(self._taken.pop())


class Reader:
    """One who is told what happens while a program runs."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.rows: list[dict[str, Any]] = []
        self.n_gone = 0
        """Rows that are kept no more."""

    fingerprints = False
    """Whether each program that is compiled gets its fingerprint, from when this is set."""

    def write(self, kind: str, **fields: "Any") -> None:
        """Keep a row of one's own."""
        self.take({"kind": kind, "at_s": _now_s(), **fields})

    def take(self, row: "dict[str, Any]") -> None:
        """Keep a row."""
        if len(self.rows) >= _MOST_ROWS:
            gone = _MOST_ROWS // 2
            self.n_gone += gone
            del self.rows[:gone]
        self.rows.append(row)

    def restart(self, recorder: "Any") -> None:
        """Begin anew in a process that was forked."""

    def since(self, number: int) -> "list[dict[str, Any]]":
        """Return the rows after so many."""
        return self.rows[max(0, number - self.n_gone) :]


class Journal:
    """Notes of one process: rows, each told to the readers, and counts by place."""

    most_of_a_place = _MOST_ROWS
    """Calls of one place that are told one by one; later ones are counted."""

    def __init__(self) -> None:
        """Start with nothing, in memory alone."""
        self.readers: tuple[Reader, ...] = ()
        """Another tuple for each change: threads go through it meanwhile."""
        self._restart(memoryview(bytearray(SLOTS * FIELDS * 8)).cast("q"))

    def _restart(self, counts: "memoryview[int]") -> None:
        self.counts = counts
        """``FIELDS`` numbers for each place."""
        self.places: list[dict[str, Any]] = []
        """The rows that say what is counted where, for a reader who comes later."""
        self._slots = itertools.count(1)  # the first one is the journal's own
        self._numbers = itertools.count(1)

    @property
    def fingerprints(self) -> bool:
        """Whether each program that is compiled gets its fingerprint: where a reader asks."""
        return any(one.fingerprints for one in self.readers)

    def number(self) -> int:
        """Return the number of another call for which something is compiled."""
        return next(self._numbers)

    def slot(self) -> "int | None":
        """Return where the numbers of another place begin; ``None``: all are taken."""
        place = next(self._slots)
        return place * FIELDS if place < SLOTS else None

    def counted(self) -> bytes:
        """Return the numbers of all places so far, up to the last that is not 0."""
        return bytes(self.counts).rstrip(b"\0")

    def reopen(self) -> None:
        """Go on in counts of its own: of a process that was forked."""
        self._restart(memoryview(bytearray(SLOTS * FIELDS * 8)).cast("q"))

    def write(self, kind: str, **fields: "Any") -> None:
        """Tell a row, with the moment on the clock that parent and child share, in seconds."""
        self._tell({"kind": kind, "at_s": _now_s(), **fields})

    def _tell(self, row: "dict[str, Any]") -> None:
        if row["kind"] == "place":
            self.places.append(row)
        for one in self.readers:
            one.take(row)


class FileJournal(Journal):
    """Journal of one process in files."""

    most_of_a_place = 300

    def __init__(self, folder: str) -> None:
        """Open the files of this process in a folder, which is made where it is missing.

        Raises:
            OSError: that is not possible.
        """
        self.readers = ()
        self.folder = folder
        self._withheld = _Withheld()
        os.makedirs(folder, exist_ok=True)
        self._open()

    def _open(self) -> None:
        stem = os.path.join(self.folder, f"{os.getpid()}-{time.monotonic_ns()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = _moved(os.open(f"{stem}.new", flags, 0o600))
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError:
            pass  # there are file systems without
        os.rename(f"{stem}.new", stem + LINES)
        self._left = _MOST_BYTES
        self._mine = os.fstat(self._file)[1:3]
        with open(stem + COUNTS, "w+b") as file:
            # Taken at once: a full disk would end the program when it is written to.
            os.posix_fallocate(file.fileno(), 0, SLOTS * FIELDS * 8)
            with _Taken(file.fileno()):  # it has a descriptor of its own
                self._mapped = mmap.mmap(file.fileno(), 0)
        self._broken = False
        self._restart(memoryview(self._mapped).cast("q"))

    def reopen(self) -> None:
        """Go on in files of its own: of a process that was forked."""
        if self._is_mine():
            os.close(self._file)
        self._open()

    def _is_mine(self) -> bool:
        """Say whether the descriptor is still that of the journal: a program may close all."""
        try:
            return os.fstat(self._file)[1:3] == self._mine
        except OSError:
            return False

    def _tell(self, row: "dict[str, Any]") -> None:
        """Write a line, and tell it."""
        super()._tell(row)
        if self._left <= 0:
            return
        try:
            raw = (self._withheld.out("".join(_encoded(row, 0))) + "\n").encode()
            self._left -= len(raw)
            if self._left <= 0:
                raw = b'{"kind": "cut", "at_s": %r}\n' % _now_s()
            self._append(raw)
        except (OSError, ValueError, TypeError, RecursionError):
            self.counts[LOST] += 1  # the program goes on

    def _append(self, raw: bytes) -> None:
        """Give a line to the kernel, or count it as lost: the disk may be full."""
        if self._broken:
            raw = b"\n" + raw
        done = _write(self._file, raw) if self._is_mine() else 0
        self.counts[LOST] += done < len(raw)
        self._broken = 0 < done < len(raw) or (self._broken and not done)
