"""Snapshots and archives that mean harm: each is refused in one line, and nothing is touched."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import socket
import tarfile
import tempfile
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.publish import forging

from coldwarm.errors import is_plain
from coldwarm.publish import layout, storage, verify
from coldwarm.runner import temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.publish.conftest import Call

pytestmark = pytest.mark.slow
CASE = "results/quick/cases/honest_small_8_f32.json"
SUITE = "results/quick/suite.json"
BIDI = "\u202e\u2066"
LIMIT_S = 60
REFUSED = {2, 3, 5, 6}


def replaced(path: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    """Return what puts something else where a file was."""

    def change(folder: Path) -> None:
        (folder / path).unlink()
        make(folder / path)

    return change


def linked(path: str, target: str) -> Callable[[Path], object]:
    return replaced(path, lambda file: file.symlink_to(target))


def added(path: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        make(folder / path)

    return change


def written(path: str, data: bytes) -> Callable[[Path], object]:
    """Return what writes bytes into a file, and lets the index agree."""

    def change(folder: Path) -> None:
        (folder / path).write_bytes(data)
        forging.of_index(folder)

    return change


def named(path: str) -> Callable[[Path], object]:
    """Return what lets the index name a path, with the size and hash of nothing."""

    def change(folder: Path) -> None:
        index = folder / layout.INDEX
        document = json.loads(index.read_bytes())
        row = {"path": path, "bytes": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb924" + "0" * 32}
        document["artifacts"].insert(0, row)
        index.write_text(json.dumps(document))

    return change


def edited(path: str, change: forging.Edit) -> Callable[[Path], object]:
    return lambda folder: forging.edit(folder, path, change)


def _endless(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(3 * 2**30)  # takes no room on the disk


def _socket(file: Path) -> None:
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    os.chdir(file.parent)  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    finally:
        os.fchdir(here)
        os.close(here)


def _folder_elsewhere(folder: Path) -> None:
    cases = folder / "results/quick/cases"
    outside = folder.parent / "outside"
    cases.rename(outside)
    cases.symlink_to(outside)


def _many(folder: Path) -> None:
    (folder / "more").mkdir()
    for number in range(storage.MOST_FILES + 1):
        (folder / "more" / str(number)).touch()


def _of_bytes(folder: Path) -> None:
    os.close(os.open(os.fsencode(folder) + b"/\xff\xfe.json", os.O_CREAT | os.O_WRONLY))


def _doubled(folder: Path) -> None:
    index = folder / layout.INDEX
    document = json.loads(index.read_bytes())
    document["artifacts"].append(document["artifacts"][0])
    index.write_text(json.dumps(document))


def _of_suite(**changes: Any) -> Callable[[Path], object]:
    def change(document: Any) -> None:
        for name, value in changes.items():
            if name == "case_path":
                document["cases"][0]["path"] = value
            else:
                document[name] = value

    def act(folder: Path) -> None:
        file = folder / SUITE
        document = json.loads(file.read_bytes())
        change(document)
        file.write_text(json.dumps(document))
        forging.of_index(folder)

    return act


SAMPLE_OF_PICKLE = (
    b"\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94."
)

FOLDERS: dict[str, Callable[[Path], object]] = {
    "a case is a link to a file of the system": linked(CASE, "/etc/passwd"),
    "a case is a link to an endless device": linked(CASE, "/dev/zero"),
    "a case is a link to itself": linked(CASE, Path(CASE).name),
    "a case is a link to nothing": linked(CASE, "/nothing/there"),
    "the cases are a link to a folder outside": _folder_elsewhere,
    "the index is a link": linked(layout.INDEX, "/etc/passwd"),
    "the index is an endless device": linked(layout.INDEX, "/dev/zero"),
    "the signature is an endless device": added(
        layout.SIGNATURE, lambda file: file.symlink_to("/dev/zero")
    ),
    "the public key is a link": added(
        layout.PUBLIC_KEY, lambda file: file.symlink_to("/etc/passwd")
    ),
    "a case is a pipe that nobody writes to": replaced(CASE, os.mkfifo),
    "the index is a pipe": replaced(layout.INDEX, os.mkfifo),
    "a pipe lies there besides": added("results/quick/pipe.json", os.mkfifo),
    "a socket lies there besides": added("results/quick/a", _socket),
    "a link leads to the root": added("results/root", lambda file: file.symlink_to("/")),
    "a case is 3 GiB of nothing": replaced(CASE, _endless),
    "the index is 3 GiB of nothing": replaced(layout.INDEX, _endless),
    "the signature is 3 GiB of nothing": added(layout.SIGNATURE, _endless),
    "there are more files than can be": _many,
    "a file lies fifty folders deep": added("a/" * 50 + "b.json", Path.touch),
    "a name ends a line": added("a\nb.json", Path.touch),
    "a name is obeyed by terminals": added("\x1b[2J\x1b]0;owned\x07.json", Path.touch),
    "a name turns the direction of writing": added(f"{BIDI}nosj.json", Path.touch),
    "a name is no text": _of_bytes,
    "a name is a command of a workflow": added("::error::owned.json", Path.touch),
    "the index names an absolute path": named("/etc/passwd"),
    "the index names what lies above": named("../../etc/passwd"),
    "the index climbs and comes back": named("results/../../s1/x"),
    "the index names nothing": named(""),
    "the index names the folder": named("."),
    "the index names a folder with a slash": named("results/"),
    "the index names a path with a zero": named("a\x00b"),
    "the index names a path of 5,000 characters": named("a/" * 2500 + "b"),
    "the index names a path of Windows": named("C:\\Windows\\system.ini"),
    "the index names a path that is obeyed": named("\x1b[2J::error::\u202e"),
    "the index names itself": named(layout.INDEX),
    "the index names a file twice": _doubled,
    "JSON is nested 100,000 deep": written(CASE, b"[" * 100_000),
    "the index is nested 100,000 deep": lambda folder: (folder / layout.INDEX).write_bytes(
        b'{"a":' * 100_000
    ),
    "a number has 10,000 digits": written(CASE, b'{"schema_version": ' + b"9" * 10_000 + b"}"),
    "a number is none": written(CASE, b'{"schema_version": NaN}'),
    "a key stands twice": written(CASE, b'{"schema_version": 1, "schema_version": 2}'),
    "a file is no text": written(CASE, b"\xff\xfe\x00"),
    "a text is half of a pair": written(CASE, b'{"schema_version": "\\ud800"}'),
    "a file is a pickle": written(CASE, SAMPLE_OF_PICKLE),
    "a file asks to be an object": written(
        CASE, b'{"__reduce__": ["os.system", ["touch /tmp/owned"]], "py/object": "os.system"}'
    ),
    "a lock is nested": written(layout.PINS, b"-r /etc/passwd\n--index-url http://evil\n"),
    "YAML refers to itself": written(
        layout.CITATION, b"a: &a [x]\n" + b"b: &b [*a,*a,*a,*a]\n" * 50
    ),
    "YAML makes objects": written(layout.CITATION, b"!!python/object/apply:os.system [ls]\n"),
    "a version is obeyed by terminals": edited(
        CASE, lambda document: document.update(schema_version="\x1b[2J\u202e::error::x")
    ),
    "a run names a case outside": _of_suite(case_path="../../../../etc/passwd"),
    "a run names an absolute environment": _of_suite(environment_path="/etc/passwd"),
    "a run names its answers above": _of_suite(answers_path="../../" + layout.MANIFEST),
    "a run names a case that is a folder": _of_suite(case_path="cases"),
    "a case has a field more": edited(CASE, lambda document: document.update(command="rm -rf /")),
    "the journal is one line of 64 MB": written(
        "results/quick/journal.jsonl", b'{"crc32":"' + b"a" * 2**26
    ),
}
"""What is done to a folder that was sound."""


def packed(entries: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for entry, data in entries:
            archive.addfile(entry, io.BytesIO(data) if data else None)
    return buffer.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, data: bytes = b"", target: str = "") -> Any:
    made = tarfile.TarInfo(name)
    made.type, made.size, made.linkname = kind, len(data), target
    return made, data


def _with_large_header() -> bytes:
    made = tarfile.TarInfo("s1/a")
    made.pax_headers = {"comment": "a" * (3 * 2**20)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(made)
    return buffer.getvalue()


def _lying_header() -> bytes:
    """Say that a header has 2 GiB, and give none of them."""
    made = tarfile.TarInfo("s1/a")
    made.type, made.size = tarfile.XHDTYPE, 2**31
    return gzip.compress(made.tobuf(tarfile.USTAR_FORMAT))


def _sparse() -> bytes:
    made = tarfile.TarInfo("s1/a")
    made.type, made.size = tarfile.GNUTYPE_SPARSE, 0
    return gzip.compress(made.tobuf(tarfile.GNU_FORMAT) + bytes(10240))


def _bomb() -> bytes:
    made = tarfile.TarInfo("s1/a")
    made.size = 2**29
    return gzip.compress(made.tobuf() + bytes(2**28), 9)


FILE = entry("s1/a", data=b"a")
ARCHIVES: dict[str, Callable[[], bytes]] = {
    "climbs": lambda: packed([FILE, entry("../owned", data=b"x")]),
    "climbs inside": lambda: packed([entry("s1/../../owned", data=b"x")]),
    "is absolute": lambda: packed([entry("/tmp/coldwarm-owned", data=b"x")]),  # noqa: S108 - of the archive
    "links outside": lambda: packed([entry("s1/link", tarfile.SYMTYPE, target="/etc")]),
    "links, and writes through it": lambda: packed(
        [entry("s1/d", tarfile.SYMTYPE, target=".."), entry("s1/d/owned", data=b"x")]
    ),
    "links inside": lambda: packed([FILE, entry("s1/b", tarfile.SYMTYPE, target="a")]),
    "links hard to what is outside": lambda: packed(
        [entry("s1/b", tarfile.LNKTYPE, target="/etc/passwd")]
    ),
    "links hard to what is inside": lambda: packed(
        [FILE, entry("s1/b", tarfile.LNKTYPE, target="s1/a")]
    ),
    "has a device": lambda: packed([entry("s1/null", tarfile.CHRTYPE)]),
    "has a pipe": lambda: packed([entry("s1/pipe", tarfile.FIFOTYPE)]),
    "has a file twice": lambda: packed([FILE, FILE]),
    "has a file in place of a folder": lambda: packed([FILE, entry("s1/a/b", data=b"x")]),
    "has two folders": lambda: packed([FILE, entry("s2/a", data=b"x")]),
    "has no folder": lambda: packed([entry("a", data=b"x")]),
    "has nothing": lambda: packed([]),
    "has a name that is obeyed": lambda: packed([entry("s1/\x1b[2J\u202e", data=b"x")]),
    "has folders without end": lambda: packed([entry("s1/" + "a/" * 90 + "b", data=b"x")]),
    "unpacks to a thousand times its size": _bomb,
    "has a header of 3 MB": _with_large_header,
    "says that a header has 2 GiB": _lying_header,
    "has a file with holes": _sparse,
    "is cut": lambda: packed([FILE])[:-20],
    "is no archive": lambda: b"PK\x03\x04" + bytes(100),
    "is packed in nothing": lambda: gzip.compress(b"not tar"),
    "has 20,001 files": lambda: packed([entry(f"s1/{n}") for n in range(storage.MOST_FILES + 1)]),
}


@contextmanager
def limited() -> Iterator[None]:
    """Fail where a command waits without an end."""

    def late(*_: object) -> None:
        message = "it waits for something"
        raise TimeoutError(message)

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def everything(folder: Path) -> dict[str, tuple[int, int]]:
    """Return what lies below a folder, no link being followed, and what is in ``tmp``."""
    found = {}
    for at, folders, files in os.walk(os.fsencode(folder), followlinks=False):
        for name in (*folders, *files):
            status = os.lstat(os.path.join(at, name))  # noqa: PTH118 - names that are no text
            found[os.fsdecode(os.path.join(at, name))] = (status.st_size, status.st_mtime_ns)  # noqa: PTH118 - likewise
    found.pop(str(folder / "tmp"), None)
    return found


@pytest.fixture
def scene(signed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of a snapshot that nobody signed, and one for temporary files."""
    folder = forging.copy(signed, tmp_path / "s1")
    (folder / layout.SIGNATURE).unlink()
    (folder / layout.PUBLIC_KEY).unlink()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return folder


def refused(call: Call, scene: Path, *arguments: str | Path) -> None:
    """Look that a command ends with a refusal in one line, and leaves everything as it was."""
    before = everything(scene.parent)
    with limited():
        ended, out, err = call(*arguments)
    assert ended in REFUSED, (ended, out, err)
    lines = (out + err).splitlines()
    assert len(lines) == 1, lines
    assert all(map(is_plain, lines[0])), lines
    assert len(lines[0]) < 2000
    assert "::error" not in lines[0]
    assert "Traceback" not in lines[0]
    temporary._remove()  # as its end does
    assert everything(scene.parent) == before
    assert not list((scene.parent / "tmp").iterdir())


@pytest.mark.parametrize("name", FOLDERS)
def test_a_hostile_folder_is_refused(name: str, scene: Path, call: Call) -> None:
    FOLDERS[name](scene)
    refused(call, scene, "verify", scene)


@pytest.mark.parametrize("name", list(FOLDERS)[::6])
def test_no_other_command_believes_one(
    name: str, scene: Path, call: Call, tmp_path: Path, keys: tuple[Path, Path]
) -> None:
    FOLDERS[name](scene)
    refused(call, scene, "compare", scene, scene)
    refused(call, scene, "sign", scene, "--key", keys[0])
    refused(call, scene, "replicate", scene, "--out", tmp_path / "replica")


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_hostile_archive_is_refused(name: str, scene: Path, call: Call) -> None:
    archive = scene.parent / "s1.tar.gz"
    archive.write_bytes(ARCHIVES[name]())
    refused(call, scene, "verify", archive)
    assert not Path("/tmp/coldwarm-owned").exists()  # noqa: S108 - what an archive names
    assert not (scene.parent / "owned").exists()


def test_there_are_many() -> None:
    assert len(FOLDERS) + len(ARCHIVES) >= 40


def test_a_lock_asks_for_nothing_but_names_versions_and_hashes(scene: Path) -> None:
    from coldwarm.contracts.reasons import RefusedError
    from coldwarm.publish.lock import read_pins as pinned

    for line in (
        "numpy @ file:///etc/passwd",
        "git+https://evil.example/x.git",
        "./../evil.whl",
        "-r /etc/passwd",
        "--index-url=https://evil.example",
        "numpy==1.0 --hash=sha256:00",
        "numpy==1.0; os_name",
        "/etc/passwd",
        "numpy",
    ):
        (scene / layout.PINS).write_text(f"{line}\n")
        with pytest.raises(RefusedError):
            pinned(scene)
        forging.of_index(scene)
        faults = verify.verify(scene).faults
        assert [(one.kind, one.path) for one in faults[:1]] == [("schema", layout.PINS)]
    (scene / layout.PINS).write_text("numpy==2.0.0\n")
    for wheels in ('"x"', '[{hashes = {sha256 = "zz"}}]', "[{}]", '[{hashes = "x"}]'):
        text = f'[[packages]]\nname = "numpy"\nversion = "2.0.0"\nwheels = {wheels}\n'
        tomllib.loads(text)
        (scene / layout.LOCK).write_text(text)
        with pytest.raises(RefusedError):
            pinned(scene)
