"""Entries of JAX's persistent compilation cache, as XLA serialises an executable.

A file holds the seconds of its compilation, and, packed, the executable with the options that it
was compiled with. That of a CPU names the processor too, and holds the program as XLA's operations.
The layout is that of ``ExecutableAndOptionsProto``, ``CompileOptionsProto``,
``HloModuleProtoWithConfig`` and ``DebugOptions`` in the sources of OpenXLA.
"""

from __future__ import annotations

import hashlib
import re
import sys
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from coldwarm.caches.kept import MOST_BYTES, message_fields, nested, varint, written
from coldwarm.contracts.kept_entry import KeptEntry
from coldwarm.contracts.reasons import Reason, because

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_UNNAMED, _KIND = re.compile(r"\W"), re.compile(r"^(jit|pmap)_")
_FILE = re.compile(r"(?P<name>.+)-(?P<key>[0-9a-f]{64})-cache")
_TIME_BYTES = 4
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_MEMBERS = {1, 2, 3}
_EXECUTABLE, _OPTIONS = 1, 2
_DEBUG_OPTIONS, _OVERRIDES = (3, 3), (7,)
_MODULE, _COMPUTATIONS, _INSTRUCTION, _METADATA = (1, 1), 3, 2, 7
_MACHINE = (9,)
_OF_MACHINE = {1: "target", 2: "processor", 3: "features"}
FOLDER_OPTIONS = ("xla_gpu_per_fusion_autotune_cache_dir", "xla_gpu_kernel_cache_file")
"""Options that have the path of the cache, where XLA's own caches lie in it."""
UNNAMED = "number "
"""Beginning of an option whose name is not known here."""
_NAMES = {
    31: "xla_backend_optimization_level",
    99: "xla_cpu_enable_fast_math",
    306: FOLDER_OPTIONS[1],
    308: "xla_cpu_prefer_vector_width",
    310: FOLDER_OPTIONS[0],
    323: "xla_cpu_parallel_codegen_split_count",
    333: "xla_cpu_max_isa",
}
"""Names of ``DebugOptions`` by their numbers, as far as they are needed."""
_IN_NO_KEY = {
    *(61, 102, *range(109, 117), 118, 131, 132, 144, 149, 151, 153, 154, 164, 324),
}
"""Numbers of those that JAX leaves out of the key: dumps, folders of CUDA, numbers of devices."""


def bare_name(name: str) -> str:
    """Return the name of a function as JAX's own name for it and that of an entry both have it."""
    return _KIND.sub("", _UNNAMED.sub("_", name)).strip("_")


def read(root: Path, path: Path) -> list[KeptEntry] | None:
    """Return the program in a file; ``None``: it is no entry of JAX's."""
    told = _FILE.fullmatch(path.name)
    if told is None:
        return None
    try:
        status = path.stat()
    except OSError:
        return []  # gone in the meantime
    content = _Content()
    fault: Reason | None = None
    if status.st_size > MOST_BYTES:
        fault = because("entry_large", most_bytes=MOST_BYTES)
    else:
        try:
            unpacked = _unpacked(path.read_bytes())
            content = _content(unpacked) if isinstance(unpacked, bytes) else content
            fault = unpacked if isinstance(unpacked, Reason) else None
        except (OSError, ValueError, zlib.error):
            fault = because("entry_damaged")
    return [
        KeptEntry(
            owner="jax",
            path=str(path.relative_to(root)),
            program=told["name"],
            key=told["key"],
            n_bytes=status.st_size,
            modified_ns=written(status),
            parts=content.parts,
            options=content.options,
            fault=fault,
        )
    ]


@dataclass(frozen=True)
class _Content:
    parts: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)


def _unpacked(data: bytes) -> bytes | Reason:
    """Return what is packed in a file, or why it cannot be told.

    Raises:
        ValueError: it is damaged.
        zlib.error: it is damaged.
    """
    if data.startswith(_ZSTANDARD):
        unpack = _zstandard()
        if unpack is None:
            return because("entry_packed", packed_by="zstandard")
        found = unpack(data)
        return because("entry_large", most_bytes=MOST_BYTES) if len(found) > MOST_BYTES else found
    packed = zlib.decompressobj()
    found = packed.decompress(data, MOST_BYTES)
    if packed.unconsumed_tail:
        return because("entry_large", most_bytes=MOST_BYTES)
    if not packed.eof:
        raise ValueError("it was cut off")
    return found


def _zstandard() -> Callable[[bytes], bytes] | None:
    """Return what unpacks zstandard up to a size; ``None``: nothing here can."""
    newer = sys.version_info >= (3, 14)
    try:
        module = import_module("compression.zstd" if newer else "zstandard")
    except ImportError:
        return None

    def unpack(data: bytes) -> bytes:
        packed = module.ZstdDecompressor()
        try:
            if newer:
                return bytes(packed.decompress(data, MOST_BYTES + 1))
            return bytes(packed.stream_reader(data).read(MOST_BYTES + 1))
        except module.ZstdError as error:
            raise ValueError("it is damaged") from error

    return unpack


def _content(data: bytes) -> _Content:
    """Return what an unpacked file tells of its program.

    Raises:
        ValueError: it does not have the layout that is known.
    """
    members = _members(data[_TIME_BYTES:])
    options = members.get(_OPTIONS, b"")
    executable = members.get(_EXECUTABLE, b"")
    values: dict[int, list[str]] = defaultdict(list)
    for one in nested(options, *_DEBUG_OPTIONS):
        for number, value in message_fields(one):
            values[number].append(_text(value))
    found = {
        _NAMES.get(number, f"{UNNAMED}{number}"): ", ".join(sorted(texts))  # of a map in any order
        for number, texts in values.items()
        if number not in _IN_NO_KEY
    }
    for one in nested(options, *_OVERRIDES):
        name, setting = _pair(one)
        found[name] = setting
    return _Content(_parts(executable), found)


def _members(body: bytes) -> dict[int, bytes]:
    """Return the members of the outermost message, which newer versions put a header before.

    Raises:
        ValueError: there is no such message.
    """
    length, begin = varint(body, 0)
    for start in (begin + length, 0):
        try:
            fields = message_fields(body[start:])
        except ValueError:
            continue
        members = {number: value for number, value in fields if isinstance(value, bytes)}
        if _OPTIONS in members and {number for number, _ in fields} <= _MEMBERS:
            return members
    raise ValueError("no executable with its options")


def _pair(message: bytes) -> tuple[str, str]:
    """Return an item of a map: a name, and its value as text."""
    fields = dict(message_fields(message))
    return _text(fields.get(1, b"")), _text(fields.get(2, b""))


def _text(value: int | bytes) -> str:
    """Return a value as text; one that is none as a hash."""
    if isinstance(value, int):
        return str(value - 2**64 if value >= 2**63 else value)
    try:
        text = value.decode()
    except ValueError:
        text = "\0"
    return text if text.isprintable() else f"#{hashlib.sha256(value).hexdigest()[:12]}"


def _parts(executable: bytes) -> dict[str, str]:
    """Return what the executable of a CPU tells; nothing where the layout is another."""
    found: dict[str, str] = {}
    try:
        for machine in nested(executable, *_MACHINE):
            for number, value in message_fields(machine):
                if number in _OF_MACHINE:
                    found[_OF_MACHINE[number]] = _text(value)
        modules = nested(executable, *_MODULE)
        if modules:
            found["program"] = _fingerprint(modules[0])
    except ValueError:
        return {}
    return found


def _fingerprint(module: bytes) -> str:
    """Return a hash of the operations of a program, whichever lines of the source they are from.

    Raises:
        ValueError: it is no module of XLA's.
    """
    told = hashlib.sha256()
    for computation in nested(module, _COMPUTATIONS):
        for number, value in message_fields(computation):
            if number != _INSTRUCTION or not isinstance(value, bytes):
                told.update(repr((number, value)).encode())
                continue
            kept = [one for one in message_fields(value) if one[0] != _METADATA]
            told.update(repr(kept).encode())
    return told.hexdigest()[:12]
