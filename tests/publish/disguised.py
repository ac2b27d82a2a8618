"""Forgeries of which values alone tell nothing: other writing, other names, other places, masks.

``SNAPSHOTS`` change a snapshot, with all hashes made anew, ``PAGES`` page and print, ``ARCHIVES``
the archive of a signed snapshot, ``SIGNATURES`` what is signed and by whom.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import lzma
import re
import shutil
import tarfile
from typing import TYPE_CHECKING, Any

from tests.publish import forging
from tests.publish.conftest import openssl
from tests.publish.forgeries import RUN, Forgery, _at, _case, _edited, _one, _scaled, _set

from coldwarm.publish import layout, signing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ANSWERS = f"{RUN}/answers.json"
_JUDGED = ("answers", 0, "leads", 0, "judged", 0)


def _published(folder: Path) -> str:
    return _one(folder, "nextstat/honest*.json")


def _of_run(folder: Path) -> str:
    return _one(folder, f"{RUN}/nextstat/honest*.json")


def _honest(folder: Path) -> str:
    return _one(folder, f"{RUN}/cases/honest*.json")


def _bytes(path: Callable[[Path], str], change: Callable[[bytes], bytes]) -> Forgery:
    """Change the bytes of a file, and no other byte but hashes and sizes."""

    def forge(folder: Path) -> None:
        file = folder / path(folder)
        data = change(file.read_bytes())
        assert data != file.read_bytes()
        file.write_bytes(data)
        if path(folder) in {layout.VALIDATION, layout.MANIFEST}:
            forging.of_index(folder)
        else:
            forging.agree(folder)

    return Forgery(path, forge)


def _again(**told: Any) -> Callable[[bytes], bytes]:
    return lambda data: (json.dumps(json.loads(data), **told) + "\n").encode()


def _turned(data: bytes) -> bytes:
    return (json.dumps(dict(reversed(json.loads(data).items())), indent=2) + "\n").encode()


def _number(pattern: bytes) -> Callable[[bytes], bytes]:
    """Write the first number of many digits otherwise."""
    return lambda data: re.sub(rb"(\d\.\d{6,}[1-9])(?=[,\s\]}])", pattern, data, count=1)


def _before(key: bytes, more: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(key, more + key, 1)


WRITINGS: dict[str, Callable[[bytes], bytes]] = {
    "with more blanks": _again(indent=3),
    "without blanks": _again(),
    "with blanks after it": lambda data: data + b" " * 99,
    "with empty lines": lambda data: data.replace(b"\n", b"\n\n"),
    "with lines of another system": lambda data: data.replace(b"\n", b"\r\n"),
    "with tabs": lambda data: data.replace(b"\n  ", b"\n\t"),
    "with names in another order": _turned,
    "with letters by their numbers": _before(b"numpy", b"\\u006eumpy, "),
    "with a letter by its number": lambda data: data.replace(b'"numpy', b'"\\u006eumpy', 1),
    "with a sign that needs none": lambda data: data.replace(b'v1"', b'v1\\u0022, "', 1),
    "with digits that nobody needs": _number(rb"\g<1>0000000000000000001"),
    "with a number by its power": _number(rb"\g<1>e0"),
    "with another last digit": _number(rb"\g<1>1"),
    "with a number without end": _number(b"1e400"),
    "with no number": _number(b"NaN"),
    "with an infinite number": _number(b"-Infinity"),
    "with a number as a text": _number(rb'"\g<1>"'),
    "with a number of 6000 digits": _number(b"9" * 6000),
    "with a number below zero": _number(rb"-\g<1>"),
    "with nothing in place of a number": _number(b"null"),
    "with a name twice": _before(b'"schema_version"', b'"schema_version": "x", '),
    "with a name that nobody knows": _before(b'"schema_version"', b'"award": "gold", '),
    "with a remark": _before(b"{", b"// the best of all\n"),
    "with half a letter": _before(b'"schema_version"', b'"award": "\\ud800", '),
    "with a mark of its bytes": lambda data: b"\xef\xbb\xbf" + data,
    "in another encoding": lambda data: data.decode().encode("utf-16"),
    "of a later version": lambda data: re.sub(rb"\.v\d+\"", b'.v99"', data, count=1),
    "of an earlier version": lambda data: re.sub(rb"\.v\d+\"", b'.v0"', data, count=1),
    "of another kind": lambda data: re.sub(rb"\w+(\.v\d+)\"", rb'journal_header\1"', data, count=1),
    "of two documents": lambda data: data + data,
    "nested without end": lambda _: b"[" * 100_000,
    "as an empty file": lambda _: b"",
}
"""How the same is written otherwise, or something that is no JSON at all."""


def _twice_in_other_rounds(document: Any) -> None:
    """Let the same process stand once more, as if it were one of a later round."""
    seen = document["observations"]
    for one in json.loads(json.dumps(seen)):
        one["round"] += 50
        seen.append(one)


def _evidence_of_another(document: Any) -> None:
    seen = document["observations"]
    seen[0]["evidence"], seen[-1]["evidence"] = seen[-1]["evidence"], seen[0]["evidence"]


def _blocks_of_another(document: Any) -> None:
    warm = [one for one in document["observations"] if one["blocks"]]
    warm[0]["blocks"][0]["samples_s"] = warm[-1]["blocks"][-1]["samples_s"]


def _swapped(folder: Path, *, whole: bool) -> None:
    """Let two cases have each other's processes, or each other's files."""
    one, other = (folder / find(folder) for find in (_honest, _numpy))
    first, second = (json.loads(file.read_bytes()) for file in (one, other))
    if whole:
        first, second = second, first
    else:
        first["observations"], second["observations"] = (
            second["observations"],
            first["observations"],
        )
    forging.write(one, first)
    forging.write(other, second)
    forging.agree(folder)


def _numpy(folder: Path) -> str:
    return _one(folder, f"{RUN}/cases/numpy*.json")


def _less(folder: Path, *, file_too: bool) -> None:
    """Take a case out of the index of its run, with its file or without."""
    index = folder / RUN / "suite.json"
    document = json.loads(index.read_bytes())
    row = document["cases"].pop()
    document["n_ok"] -= 1
    forging.write(index, document)
    if file_too:
        (folder / RUN / row["path"]).unlink()
        _unnamed(folder, f"{RUN}/{row['path']}")
    else:
        forging.agree(folder)


def _unnamed(folder: Path, path: str) -> None:
    index = folder / layout.INDEX
    document = json.loads(index.read_bytes())
    document["artifacts"] = [one for one in document["artifacts"] if one["path"] != path]
    forging.write(index, document)


def _renamed(old: str, new: str) -> Forgery:
    """Give a file another name, in the index too."""

    def forge(folder: Path) -> None:
        data = (folder / old).read_bytes()
        (folder / old).unlink()
        (folder / new).parent.mkdir(parents=True, exist_ok=True)
        (folder / new).write_bytes(data)
        index = folder / layout.INDEX
        index.write_text(index.read_text().replace(f'"{old}"', json.dumps(new)))
        forging.of_index(folder)

    return Forgery(_at(new), forge)


def _called(change: Callable[[str], str]) -> Forgery:
    """Call a file otherwise in the index alone; where it leads, the same bytes lie."""

    def forge(folder: Path) -> None:
        index = folder / layout.INDEX
        document = json.loads(index.read_bytes())
        row = document["artifacts"][-1]
        row["path"] = change(row["path"])
        forging.write(index, document)

    return Forgery(_at(layout.INDEX), forge)


def _elsewhere(path: Callable[[Path], str]) -> Forgery:
    """Put a file, or a folder, outside of the snapshot and a link in its place."""

    def forge(folder: Path) -> None:
        inside, outside = folder / path(folder), folder.parent / "outside"
        shutil.move(inside, outside)
        inside.symlink_to(outside)

    return Forgery(path, forge)


def _dated_elsewhere(folder: Path) -> None:
    """Date it in a century that has not come, wherever its date stands."""
    then = str(json.loads((folder / layout.INDEX).read_bytes())["generated_at"])
    names = (layout.INDEX, layout.VALIDATION, layout.CITATION, layout.CRATE, layout.ZENODO)
    for name in names:
        file = folder / name
        text = file.read_text().replace(then, "2199-01-01T00:00:00+00:00")
        file.write_text(text.replace(then[:10], "2199-01-01"))
    forging.of_index(folder)


MASKS: dict[str, Forgery] = {
    "answers: a home folder for a name": _edited(
        _at(_ANSWERS), _set(*_JUDGED, "candidate", to="~"), computed=True
    ),
    "answers: the end of a name masked": _edited(
        _at(_ANSWERS), _set(*_JUDGED, "candidate", to="h***"), computed=True
    ),
    "answers: two masks for a name": _edited(
        _at(_ANSWERS), _set("answers", 0, "baseline", to="******"), computed=True
    ),
    "answers: all candidates masked": _edited(
        _at(_ANSWERS), _set("answers", 0, "candidates", to=["~", "~"]), computed=True
    ),
    "answers: its job masked": _edited(
        _at(_ANSWERS), _set("answers", 0, "workload", to="~"), computed=True
    ),
    "answers: a reason masked": _edited(
        _at(_ANSWERS), _set(*_JUDGED, "reason", "code", to="~"), computed=True
    ),
    "case: its baseline masked": _edited(
        _honest, _set("comparisons", 0, "baseline", to="~"), computed=True
    ),
    "case: a reason masked": _edited(
        _honest, _set("comparisons", 0, "reason", "code", to="few***"), computed=True
    ),
    "report: a case masked": _edited(_at(layout.VALIDATION), _set("figures", 0, "case", to="~")),
    "report: a gate masked": _edited(_at(layout.VALIDATION), _set("gates", 0, "case", to="n~")),
    "published: where masked": _edited(_published, _set("meta", "platform", to="~")),
    "manifest: a processor masked": _edited(
        _at(layout.MANIFEST), _set("environment", "runs", "quick", "cpu", "model", to="~")
    ),
    "manifest: coldwarm masked": _edited(
        _at(layout.MANIFEST), _set("environment", "harness_sha256", to="~")
    ),
}
"""What is masked would fit any text, if it were taken for what it hides."""
SNAPSHOTS: dict[str, Forgery] = {
    **{f"answers {name}": _bytes(_at(_ANSWERS), how) for name, how in WRITINGS.items()},
    **{f"report {name}": _bytes(_at(layout.VALIDATION), how) for name, how in WRITINGS.items()},
    **{f"published {name}": _bytes(_published, how) for name, how in WRITINGS.items()},
    **{f"of a run, published {name}": _bytes(_of_run, how) for name, how in WRITINGS.items()},
    **MASKS,
    "report: a number almost the same": _edited(
        _at(layout.VALIDATION), _scaled("figures", 0, "median_s", by=1 + 5e-10)
    ),
    "answers: a number almost the same": _edited(
        _at(_ANSWERS), _scaled(*_JUDGED, "ratio", by=1 + 5e-10)
    ),
    "answers: of a name that looks alike": _edited(
        _at(_ANSWERS), _set("answers", 0, "baseline", to="num\u0440y"), computed=True
    ),
    "answers: a size with a point": _edited(_at(_ANSWERS), _set("answers", 0, "size", to=8.0)),
    "answers: nobody leads": _edited(_at(_ANSWERS), _set("answers", 0, "leads", to=[])),
    "case: a name twice": _bytes(
        _case, lambda data: data.replace(b'"status": "ok"', b'"status": "warn", "status": "ok"', 1)
    ),
    "case: a number without end": _bytes(_case, _number(b"1e400")),
    "case: another last digit": _bytes(_case, _number(rb"\g<1>7")),
    "case: a later coldwarm": _edited(_case, _set("protocol", "harness_version", to="99.0")),
    "case: a later contract": _edited(_case, _set("schema_version", to="coldwarm.case_result.v99")),
    "case: each process in two rounds": _edited(_case, _twice_in_other_rounds),
    "case: evidence of another process": _edited(_case, _evidence_of_another),
    "case: samples of another process": _edited(_case, _blocks_of_another),
    "case: processes of another case": Forgery(_honest, lambda f: _swapped(f, whole=False)),
    "case: the file of another case": Forgery(_honest, lambda f: _swapped(f, whole=True)),
    "suite: a row less": Forgery(_at(f"{RUN}/suite.json"), lambda f: _less(f, file_too=False)),
    "suite: a row and its file less": Forgery(
        _at(f"{RUN}/suite.json"), lambda f: _less(f, file_too=True)
    ),
    "suite: a path with a dot": _edited(
        _at(f"{RUN}/suite.json"),
        lambda d: d["cases"][0].update(path=f"./{d['cases'][0]['path']}"),
    ),
    "suite: a path that climbs": _edited(
        _at(f"{RUN}/suite.json"),
        lambda d: d["cases"][0].update(path=f"../quick/{d['cases'][0]['path']}"),
    ),
    "suite: finished before it began": _edited(
        _at(f"{RUN}/suite.json"), _set("finished_at", to="1999-01-01T00:00:00+00:00")
    ),
    "suite: finished in another century": _edited(
        _at(f"{RUN}/suite.json"), _set("finished_at", to="2199-01-01T00:00:00+00:00")
    ),
    "environment: of another system": _edited(
        _at(f"{RUN}/environment.json"), lambda d: d["system"].update(os="Windows", kernel="10.0")
    ),
    "environment: more processors": _edited(
        _at(f"{RUN}/environment.json"), _set("cpu", "logical_cores", to=1024)
    ),
    "manifest: a number for a truth": _edited(
        _at(layout.MANIFEST), _set("environment", "lock", "hashed", to=0)
    ),
    "manifest: a list for its environment": _edited(
        _at(layout.MANIFEST), _set("environment", to=[])
    ),
    "manifest: a text for its lock": _edited(
        _at(layout.MANIFEST), _set("environment", "lock", to="yes")
    ),
    "manifest: a text for its results": _bytes(
        _at(layout.MANIFEST),
        lambda data: json.dumps({**json.loads(data), "results": "all"}, indent=2).encode(),
    ),
    "manifest: a number for its version": _edited(
        _at(layout.MANIFEST), _set("nextstat", "version", to=0.1)
    ),
    "index: dated in another century": _edited(
        _at(layout.INDEX), _set("generated_at", to="2199-01-01T00:00:00+00:00")
    ),
    "all: dated in another century": Forgery(_at(layout.INDEX), _dated_elsewhere),
    "index: a hash in capitals": _edited(
        _at(layout.INDEX),
        lambda d: d["artifacts"][0].update(sha256="A" * 64),
    ),
    "index: a path with a dot": _called(lambda path: f"./{path}"),
    "index: a path with two strokes": _called(lambda path: path.replace("/", "//", 1)),
    "index: a path with a stroke before": _called(lambda path: f"/{path}"),
    "index: a path that climbs": _called(lambda path: f"../s1/{path}"),
    "index: a path of another system": _called(lambda path: path.replace("/", "\\")),
    "index: a path with a blank": _called(lambda path: f"{path} "),
    "index: a path in capitals": _called(str.upper),
    "index: a path with a sign without width": _called(lambda path: f"{path}\u200b"),
    "name: in capitals": _renamed(layout.VALIDATION, "VALIDATION_REPORT.json"),
    "name: in small letters": _renamed(layout.CITATION, "citation.cff"),
    "name: with letters that look alike": _renamed(layout.PINS, "requirem\u0435nts.txt"),
    "name: with a blank": _renamed(layout.PINS, f"{layout.PINS} "),
    "link: of a case": _elsewhere(_case),
    "link: of a folder": _elsewhere(_at("nextstat")),
    "link: of the index": _elsewhere(_at(layout.INDEX)),
    "requirements: lines of another system": _bytes(
        _at(layout.PINS), lambda data: data.replace(b"\n", b"\r\n")
    ),
    "requirements: a mark of its bytes": _bytes(
        _at(layout.PINS), lambda data: b"\xef\xbb\xbf" + data
    ),
    "requirements: a name that looks alike": _bytes(
        _at(layout.PINS), lambda data: data.replace(b"numpy==", "num\u0440y==".encode())
    ),
    "requirements: a name in capitals": _bytes(
        _at(layout.PINS), lambda data: data.replace(b"numpy==", b"NumPy==")
    ),
    "requirements: another order": _bytes(
        _at(layout.PINS), lambda data: b"\n".join(reversed(data.strip().split(b"\n"))) + b"\n"
    ),
    "requirements: a line that goes on": _bytes(
        _at(layout.PINS), lambda data: data.replace(b"\n", b" \\\n", 1)
    ),
    "describing: a title twice": _bytes(
        _at(layout.ZENODO), lambda data: data.replace(b'"creators"', b'"title": "x", "creators"', 1)
    ),
    "describing: a field more": _edited(
        _at(layout.ZENODO), _set("communities", to=[{"identifier": "zenodo"}])
    ),
    "describing: who somebody is": _edited(
        _at(layout.ZENODO), _set("creators", 0, "orcid", to="0000-0001")
    ),
    "describing: a command in the citation": _bytes(
        _at(layout.CITATION), lambda data: data + b'x: !!python/object/apply:os.system ["id"]\n'
    ),
}
"""What is tried on a snapshot without its signature."""


def _attached(data: bytes) -> bytes:
    """Attach a file to a PDF, as a change that follows it."""
    file = b"9 0 obj\n<< /Type /EmbeddedFile /Length 4 >>\nstream\nevil\nendstream\nendobj\n"
    start = str(len(data)).encode()
    return data + file + b"trailer\n<< /Root 1 0 R >>\nstartxref\n" + start + b"\n%%EOF\n"


def _with_remark(page: bytes) -> bytes:
    """Put a remark into the head of the packed data, which a browser leaves out."""

    def packed(found: re.Match[bytes]) -> bytes:
        data = base64.b64decode(found[0])
        remark = b"figures of somebody else\0"
        return base64.b64encode(data[:3] + b"\x10" + data[4:10] + remark + data[10:])

    made = re.sub(rb"H4sI[A-Za-z0-9+/]{20,}={0,2}", packed, page, count=1)
    assert made != page
    return made


def _with_member(page: bytes) -> bytes:
    """Put a second, empty member behind the packed data."""

    def packed(found: re.Match[bytes]) -> bytes:
        return base64.b64encode(base64.b64decode(found[0]) + gzip.compress(b"", mtime=0))

    return re.sub(rb"H4sI[A-Za-z0-9+/]{20,}={0,2}", packed, page, count=1)


def _into(path: str, change: Callable[[bytes], bytes]) -> Forgery:
    def forge(folder: Path) -> None:
        file = folder / path
        data = change(file.read_bytes())
        assert data != file.read_bytes()
        file.write_bytes(data)
        forging.of_index(folder)

    return Forgery(_at(path), forge)


_HIDDEN = b'<figure style="display:none"><svg><text>1000 times faster</text></svg></figure>'
PAGES: dict[str, Forgery] = {
    "a hidden figure": _into(layout.PAGE, lambda p: p.replace(b"</body>", _HIDDEN + b"</body>")),
    "a remark": _into(layout.PAGE, lambda page: page.replace(b"<body", b"<!-- mine --><body", 1)),
    "another title": _into(layout.PAGE, lambda page: page.replace(b"<title>", b"<title>best ", 1)),
    "a style": _into(
        layout.PAGE, lambda page: page.replace(b"</style>", b"table{display:none}</style>", 1)
    ),
    "an address": _into(
        layout.PAGE, lambda p: p.replace(b"</head>", b'<base href="//evil.org"></head>', 1)
    ),
    "a remark in its data": _into(layout.PAGE, _with_remark),
    "a second member of its data": _into(layout.PAGE, _with_member),
    "lines of another system": _into(layout.PAGE, lambda page: page.replace(b"\n", b"\r\n")),
    "a file attached to the print": _into(layout.PDF, _attached),
    "a remark in the print": _into(
        layout.PDF, lambda data: data.replace(b"%%EOF", b"%mine\n%%EOF", 1)
    ),
}
"""Of page and print."""


def _entries(archive: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as source:
        return [(entry, getattr(source.extractfile(entry), "read", bytes)()) for entry in source]


def _packed(
    entries: list[tuple[tarfile.TarInfo, bytes]], form: int = tarfile.PAX_FORMAT, **told: Any
) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form, **told) as target:
        for entry, data in entries:
            target.addfile(entry, io.BytesIO(data) if data else None)
    return gzip.compress(buffer.getvalue(), 9, mtime=0)


def _with(archive: bytes, name: str, data: bytes = b"", **told: Any) -> bytes:
    """Add an entry at the end."""
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    for key, value in told.items():
        setattr(entry, key, value)
    return _packed([*_entries(archive), (entry, data)])


def _first(archive: bytes, **told: Any) -> bytes:
    """Change the first entry."""
    entries = _entries(archive)
    for key, value in told.items():
        setattr(entries[0][0], key, value)
    return _packed(entries)


def _of_format(archive: bytes, form: int) -> bytes:
    return _packed(_entries(archive), form)


def _doubled(archive: bytes) -> bytes:
    """Let one name stand twice, with other bytes."""
    entries = _entries(archive)
    entry, data = entries[0]
    other = tarfile.TarInfo(entry.name)
    other.size = len(data)
    return _packed([*entries, (other, data.replace(b"e", b"o"))])


def _named_by_header(archive: bytes) -> bytes:
    """Let a header of its own name an entry otherwise than the entry does."""
    entries = _entries(archive)
    entries[0][0].pax_headers = {"path": f"{entries[0][0].name}x"}
    return _packed(entries)


def _sized_by_header(archive: bytes) -> bytes:
    entries = _entries(archive)
    entries[0][0].pax_headers = {"size": "7"}
    return _packed(entries)


ARCHIVES: dict[str, Callable[[bytes], bytes]] = {
    "a name by a header": _named_by_header,
    "a size by a header": _sized_by_header,
    "headers for all": lambda a: _packed(_entries(a), pax_headers={"comment": "evil"}),
    "an entry twice": _doubled,
    "a hard link": lambda a: _with(a, "s1/x", type=tarfile.LNKTYPE, linkname="s1/report.html"),
    "a link": lambda a: _with(a, "s1/x", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    "a link that climbs": lambda a: _with(a, "s1/x", type=tarfile.SYMTYPE, linkname="../../x"),
    "a device": lambda a: _with(a, "s1/x", type=tarfile.CHRTYPE),
    "a pipe": lambda a: _with(a, "s1/x", type=tarfile.FIFOTYPE),
    "a kind that nobody knows": lambda a: _with(a, "s1/x", type=b"Z"),
    "a path that climbs": lambda a: _with(a, "s1/../../x", b"x"),
    "a path from the root": lambda a: _with(a, "/s1/x", b"x"),
    "a path with a dot": lambda a: _with(a, "./s1/x", b"x"),
    "a name without length": lambda a: _with(a, "", b"x"),
    "a name that cannot be seen": lambda a: _with(a, "s1/\u200b", b"x"),
    "a name of capitals": lambda a: _with(a, "S1/report.html", b"x"),
    "folders": lambda a: _with(a, "s1/results", type=tarfile.DIRTYPE),
    "another first name": lambda a: _first(a, name="s1/other.json"),
    "an owner by number": lambda a: _first(a, uid=1000, gid=1000),
    "a date before all": lambda a: _first(a, mtime=-1),
    "a date in another century": lambda a: _first(a, mtime=2**36),
    "a mode that runs": lambda a: _first(a, mode=0o4755),
    "the format of GNU": lambda a: _of_format(a, tarfile.GNU_FORMAT),
    "an older format": lambda a: _of_format(a, tarfile.USTAR_FORMAT),
    "another order": lambda a: _packed(_entries(a)[::-1]),
    "a date of its packing": lambda a: a[:4] + b"\1\0\0\0" + a[8:],
    "another system": lambda a: a[:9] + b"\3" + a[10:],
    "compressed twice": lambda a: gzip.compress(a, mtime=0),
    "compressed otherwise": lambda a: lzma.compress(gzip.decompress(a)),
    "not compressed": gzip.decompress,
    "a bomb": lambda a: _with(a, "s1/report.html.gz", bytes(2**26)),
}
"""What is tried on an archive of a signed snapshot, beside what is tried of bytes and members."""


def _signed_anew(folder: Path, key: Path) -> None:
    """Sign as somebody else, whose key lies beside it."""
    for name in (layout.SIGNATURE, layout.PUBLIC_KEY):
        (folder / name).unlink()
    signing.sign(folder, key)


def _signature(change: Callable[[bytes], bytes]) -> Callable[[Path, Path], None]:
    def forge(folder: Path, _: Path) -> None:
        file = folder / layout.SIGNATURE
        file.write_bytes(change(file.read_bytes()))

    return forge


def _renumbered(signature: bytes) -> bytes:
    """Add the order of the group, which other libraries once took for the same signature."""
    order = 2**252 + 27742317777372353535851937790883648493
    number = int.from_bytes(signature[32:], "little") + order
    return signature[:32] + number.to_bytes(32, "little")


def _of_another(folder: Path, key: Path) -> None:
    """Put a signature of something else by that key there."""
    file = folder.parent / "other"
    file.write_bytes(b"other")
    made = folder.parent / "made"
    openssl("pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", file, "-out", made)
    shutil.copy(made, folder / layout.SIGNATURE)


def _changed_and_signed(folder: Path, key: Path) -> None:
    forging.edit(folder, layout.INDEX, _set("git", "sha", to="0" * 40))
    _signed_anew(folder, key)


def _key_alone(folder: Path, key: Path) -> None:
    """Leave the signature, and put another key beside it."""
    (folder / layout.PUBLIC_KEY).unlink()
    openssl("pkey", "-in", key, "-pubout", "-out", folder / layout.PUBLIC_KEY)


SIGNATURES: dict[str, Callable[[Path, Path], None]] = {
    "by another key": _signed_anew,
    "by another key, of another index": _changed_and_signed,
    "another key beside it": _key_alone,
    "of something else": _of_another,
    "of zeros": _signature(lambda data: bytes(len(data))),
    "twice": _signature(lambda data: data * 2),
    "with a byte more": _signature(lambda data: data + b"\n"),
    "cut off": _signature(lambda data: data[:-1]),
    "as text": _signature(base64.b64encode),
    "with a larger number": _signature(_renumbered),
    "empty": _signature(lambda _: b""),
}
"""What is signed, and by whom, where the reader has the key of its maker."""
