"""Files of a finished run that were changed: broken, hostile, or meant to be believed."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

from benchmarks.faults.scene import READERS, Fault, NotTriedError, listing

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.faults.scene import Scene

DERIVED = ("cold", "warm", "comparisons", "warnings", "status")
"""Fields of a case that follow from its observations."""
EDITS: dict[str, Callable[[Any], Any]] = {
    "a third": lambda value: value / 3 if isinstance(value, int | float) else value,
    "1e-9": lambda _: 1e-9,
    "below zero": lambda _: -1,
    "null": lambda _: None,
    "a text": lambda _: "faster",
    "1e308": lambda _: 1e308,
    "a list": lambda _: [],
}
WRITTEN = {
    "an escape": "\x1b[2J\x1b]0;owned\x07",
    "a change of direction": "\u202eevil\u202c",
    "a command to the CI": "x\n::error::failed\n::set-output name=a::b",
    "a script": "<script>alert(1)</script>\n| a | b |",
    "markup": "[bold red]x[/] [link=http://e]y",
    "no width": "a\u200bb\u2060c\ufeff",
}
PLACES = (
    "/etc/passwd",
    "../finished/cases/numpy_small_8_f32.json",
    "cases/../../finished/cases/numpy_small_8_f32.json",
    "cases/" + "x/" * 2500 + "y",
    "",
    ".",
    "cases",
    "/dev/zero",
    "cases/link.json",
    "cases/pipe.json",
    "C:\\cases\\a.json",
    "cases/\x00.json",
)


def faults(random_: random.Random, finished: Path) -> Iterator[Fault]:
    """Yield the faults of each file; what is drawn comes from ``random_``."""
    [case] = sorted((finished / "cases").glob("numpy*.json"))
    yield from _values(random_, case)
    yield from _files(case)
    yield from _journals(random_)


def _values(random_: random.Random, case: Path) -> Iterator[Fault]:
    readers = cycle(READERS)
    document = json.loads(case.read_bytes())
    leaves = list(_leaves(document))
    derived = [path for path in leaves if path[0] in DERIVED]
    for path in random_.sample(derived, 40):
        name = random_.choice([*EDITS])
        yield _case_fault(case.name, path, name, EDITS[name], next(readers), {3})
    for path in random_.sample(leaves, 40):
        name = random_.choice([*EDITS])
        yield _case_fault(case.name, path, name, EDITS[name], next(readers), {0, 3})
    texts = [path for path in leaves if isinstance(_at(document, path), str)]
    for path in random_.sample(texts, 42):
        name = random_.choice([*WRITTEN])
        edit = partial(_constant, WRITTEN[name])
        yield _case_fault(case.name, path, name, edit, next(readers), {0, 3})
    for name, act in OBSERVATIONS.items():
        edit = partial(_whole, act)
        for reader in READERS:
            yield _case_fault(case.name, ("observations",), name, edit, reader, {3})


def _files(case: Path) -> Iterator[Fault]:
    readers = cycle(READERS)
    for place in PLACES:
        reader = next(readers)
        act = partial(_place, place, reader)
        yield Fault("artifact", f"the index names {place[:40]!r}: {reader}", act)
    for file in ("suite.json", f"cases/{case.name}", "environment.json", "nextstat"):
        for name, change in BYTES.items():
            reader = next(readers)
            act = partial(_bytes, file, change, reader)
            yield Fault("artifact", f"{file}: {name}: {reader}", act)


def _journals(random_: random.Random) -> Iterator[Fault]:
    for name, spoil in JOURNALS.items():
        for reader in ("validate", "resume"):
            act = partial(_journal, spoil, reader)
            yield Fault("journal", f"{name}: {reader}", act)
    for number in range(24):
        seed = random_.randrange(2**31)
        act = partial(_flip, seed, "resume" if number % 2 else "validate")
        yield Fault("journal", f"some bits are others, seed {seed}", act)


def _case_fault(  # noqa: PLR0913, PLR0917 - each is one choice
    file: str,
    path: tuple[str | int, ...],
    what: str,
    edit: Callable[[Any], Any],
    reader: str,
    codes: set[int],
) -> Fault:
    act = partial(_edit, file, path, edit, reader, codes)
    return Fault("artifact", f"{'.'.join(map(str, path))}: {what}: {reader}", act)


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    pairs: Any = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, inner in pairs:
        yield from _leaves(inner, (*path, name))
    if not isinstance(value, dict | list) and value is not None:
        yield path


def _at(document: Any, path: tuple[str | int, ...]) -> Any:
    for name in path:
        document = document[name]
    return document


def _constant(text: str, value: Any) -> Any:
    del value
    return text


def _whole(act: Callable[[list[Any]], None], value: list[Any]) -> list[Any]:
    act(value)
    return value


def _edit(  # noqa: PLR0913, PLR0917 - each is one choice
    file: str,
    path: tuple[str | int, ...],
    edit: Callable[[Any], Any],
    reader: str,
    codes: set[int],
    scene: Scene,
) -> None:
    """Change one value of a case, and make every hash agree with it."""
    out = scene.copy()
    case = out / "cases" / file
    document = json.loads(case.read_bytes())
    parent = _at(document, path[:-1])
    before = json.dumps(parent[path[-1]])
    parent[path[-1]] = edit(parent[path[-1]])
    if json.dumps(parent[path[-1]]) == before:
        codes = {0}
    case.write_text(json.dumps(document, indent=2))
    _agree(out)
    scene.read_only(reader, codes)


def _agree(out: Path) -> None:
    """Write the hashes of the case files into the index, as they are now."""
    index = json.loads((out / "suite.json").read_bytes())
    for row in index["cases"]:
        row["sha256"] = hashlib.sha256((out / row["path"]).read_bytes()).hexdigest()
    (out / "suite.json").write_text(json.dumps(index, indent=2))


def _place(place: str, reader: str, scene: Scene) -> None:
    out = scene.copy()
    os.mkfifo(out / "cases/pipe.json")
    (out / "cases/link.json").symlink_to(next((scene.finished / "cases").glob("numpy*.json")))
    index = json.loads((out / "suite.json").read_bytes())
    row = index["cases"][0]
    row["path"] = place
    target = scene.finished / "cases" / f"{row['case']}.json"
    row["sha256"] = hashlib.sha256(target.read_bytes()).hexdigest()
    (out / "suite.json").write_text(json.dumps(index))
    scene.read_only(reader, {3})


def _bytes(file: str, change: Callable[[Path], None], reader: str, scene: Scene) -> None:
    out = scene.copy()
    path = out / file
    if file == "nextstat":
        path = min(path.glob("numpy*.json"))
    before = path.read_bytes()
    change(path)
    if path.is_file() and path.stat().st_size == len(before) and path.read_bytes() == before:
        raise NotTriedError("it has nothing of the kind")
    # Not every command reads every file.
    main = file == "suite.json" or file.startswith("cases") or reader == "validate"
    scene.read_only(reader, {2, 3} if main else {0, 2, 3})


def _journal(spoil: Callable[[Path], None], reader: str, scene: Scene) -> None:
    out = scene.copy()
    before = {name: text for name, text in listing(out).items() if name.startswith("cases")}
    kept = scene.intact()
    spoil(out / "journal.jsonl")
    scene.command(*READERS[reader](out), codes={0, 2, 3})
    after = listing(out)
    if reader == "validate":
        scene.found.files_changed += [name for name in before if before[name] != after.get(name)]
    scene.count_lost(kept)
    scene.look_for_processes()


def _flip(seed: int, reader: str, scene: Scene) -> None:
    import random

    def spoil(path: Path) -> None:
        draw = random.Random(seed)  # noqa: S311 - not for secrets
        data = bytearray(path.read_bytes())
        for _ in range(draw.choice((1, 3, 30))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data)

    _journal(spoil, reader, scene)


def _written(text: bytes) -> Callable[[Path], None]:
    return lambda path: _ignored(path.write_bytes(text))


def _ignored(value: object) -> None:
    del value


def _edited(edit: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: _ignored(path.write_bytes(edit(path.read_bytes())))


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _linked(target: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    return change


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _endless(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2 * 2**30)


def _header(edit: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    """Change the first line, with a checksum that agrees."""

    def change(path: Path) -> None:
        first, rest = path.read_bytes().split(b"\n", 1)
        record = json.loads(first)["record"]
        edit(record)
        path.write_bytes(_line("header", record) + rest)

    return change


def _line(kind: str, record: object) -> bytes:
    body = json.dumps(record, separators=(",", ":")).encode()
    return b'{"crc32":"%08x","kind":"%s","record":%s}\n' % (zlib.crc32(body), kind.encode(), body)


def _entries(**changes: object) -> Callable[[Path], None]:
    """Change every observation's line, with checksums that agree."""

    def change(path: Path) -> None:
        header, *lines = path.read_bytes().splitlines(keepends=True)
        made = [header]
        for line in lines:
            entry = json.loads(line)
            if entry["kind"] == "observation":
                entry["record"].update(changes)
            made.append(_line(entry["kind"], entry["record"]))
        path.write_bytes(b"".join(made))

    return change


def _without(record: dict[str, Any], name: str) -> None:
    record.pop(name, None)


BYTES: dict[str, Callable[[Path], None]] = {
    "empty": _written(b""),
    "zeros": _edited(lambda text: bytes(len(text))),
    "half of it": _edited(lambda text: text[: len(text) // 2]),
    "no JSON": _written(b"\x89PNG\r\n\x1a\n" + bytes(range(256))),
    "a list": _written(b"[]"),
    "nested 100,000 deep": _written(b"[" * 100_000),
    "a number of 10,000 digits": _written(b'{"schema_version": ' + b"9" * 10_000 + b"}"),
    "NaN": _edited(lambda text: text.replace(b"0.", b"NaN, 0.", 1)),
    "a key twice": _edited(lambda text: text.replace(b"{", b'{"schema_version": "a",', 1)),
    "no UTF-8": _edited(lambda text: text.replace(b'"', b'"\xff', 1)),
    "of a later version": _edited(lambda text: text.replace(b".v", b".v99", 1)),
    "an escape in a key": _edited(lambda text: text.replace(b"{", b'{"\\u001b[31m": 1,', 1)),
    "a pipe": _pipe,
    "a link to /dev/zero": _linked("/dev/zero"),
    "a link to itself": lambda path: _linked(path.name)(path),
    "a link to nothing": _linked("nothing"),
    "a folder": _folder,
    "2 GiB": _endless,
}
JOURNALS: dict[str, Callable[[Path], None]] = {
    **BYTES,
    "gone": lambda path: path.unlink(),
    "only its header": _edited(lambda text: text.split(b"\n", 1)[0] + b"\n"),
    "without its header": _edited(lambda text: text.split(b"\n", 1)[1]),
    "two headers": _edited(lambda text: text.split(b"\n", 1)[0] + b"\n" + text),
    "every line twice": _edited(lambda text: text + text.split(b"\n", 1)[1]),
    "the lines the other way round": _edited(
        lambda text: b"".join(reversed(text.splitlines(keepends=True)))
    ),
    "a text of somebody else's": _written(b"Dear Sir,\nhow are you?\nYours"),
    "a header without its options": _header(lambda record: _without(record, "options")),
    "a header without its environment": _header(lambda record: _without(record, "environment")),
    "a header without its run": _header(lambda record: _without(record, "run_id")),
    "a header with nothing": _header(lambda record: record.clear()),
    "a header of lists": _header(lambda record: record.update({key: [] for key in record})),
    "a header of deep lists": _header(lambda record: record.update(options=_deep())),
    "order 2**40": _entries(order=2**40),
    "round 2**40": _entries(round=2**40),
    "attempt 2**62": _entries(attempt=2**62),
    "a foreign case": _entries(case="numpy_of_somebody_else_8_f32"),
    "an order below zero": _entries(order=-1),
    "the same round": _entries(round=0, attempt=0),
}


def _deep() -> object:
    value: object = []
    for _ in range(500):
        value = [value]
    return value


def _duplicate(observations: list[Any]) -> None:
    observations += [json.loads(json.dumps(observations[0])) for _ in range(100)]


def _foreign(observations: list[Any]) -> None:
    observations[0]["case"] = "numpy_other_8_f32"


def _faster(observations: list[Any]) -> None:
    for one in observations:
        one["ttfr_s"] = one["ttfr_s"] and one["ttfr_s"] / 10


def _samples(observations: list[Any]) -> None:
    for one in observations:
        for block in one["blocks"]:
            block["samples_s"] = [value / 10 for value in block["samples_s"]]


def _believed(observations: list[Any]) -> None:
    for one in observations:
        for judgement in one["judgements"].values():
            judgement["proved"] = not judgement["proved"]


OBSERVATIONS: dict[str, Callable[[list[Any]], None]] = {
    "a hundred times the same": _duplicate,
    "of another case": _foreign,
    "a tenth of the start": _faster,
    "a tenth of each call": _samples,
    "judged otherwise": _believed,
    "one is missing": lambda observations: _ignored(observations.pop()),
    "none": lambda observations: observations.clear(),
}
