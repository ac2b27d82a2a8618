"""The base of every written record: values, names, and how a document is found."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

CacheMode = Literal[
    "cold_process_cold_cache", "cold_process_warm_cache", "warm_process", "first_ever"
]
CACHE_MODES: tuple[CacheMode, ...] = get_args(CacheMode)
EMPTY: CacheMode = "cold_process_cold_cache"
WARM: CacheMode = "warm_process"
FILLED: CacheMode = "cold_process_warm_cache"
Allocator = Literal["as_it_is", "keeps_memory"]
"""How a process's C allocator began: as every program's does, or taught to keep freed memory."""
CacheSettings = Literal["keep_all", "framework_default"]
"""Setting of a framework's cache on disk: everything, or what it keeps by itself."""
Reading = Literal["process", "imported", "cached"]
READINGS: tuple[Reading, ...] = get_args(Reading)
"""Counted part of a process that makes calls: all of it with empty caches, wrapping and calling
alone there, or all of it with filled caches."""
Dtype = Literal["f32", "f64", "bf16", "own"]
DTYPE_NAMES: dict[str, str] = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "own": "own"}
MetricKind = Literal["cold", "warm", "memory"]
Status = Literal["ok", "warn", "failed"]
Count = Annotated[int, msgspec.Meta(ge=0)]
MOST_S = 1e9
"""No measured duration is longer: some thirty years."""
Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=MOST_S)]
NotNegative = Annotated[float, msgspec.Meta(ge=0.0)]
Positive = Annotated[float, msgspec.Meta(gt=0.0)]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]


def group_name(workload: str, size: int, dtype: str) -> str:
    """Return the name of what is compared: a workload at one size and dtype."""
    return f"{workload}_{size}_{dtype}"


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all records: immutable, and strict about unknown fields.

    A field that was not measured is ``None``, and ``null_reasons`` of the record that
    holds it (where it has that field) says why, under the field's name. One with a
    ``schema_version`` is a document: declaring it is all that it takes to be read and written.
    """

    @classmethod
    def mended(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return a document of this kind as its contract has it, however it was written."""
        return document


def documents() -> list[type[Record]]:
    """Return every record with a ``schema_version``, whichever feature declares it.

    They are declared in the modules of this folder, or in a feature's own module ``records``.
    """
    root = Path(__file__).parents[1]
    for file in sorted([*Path(__file__).parent.glob("*.py"), *root.glob("*/**/records.py")]):
        import_module(".".join([root.name, *file.relative_to(root).with_suffix("").parts]))
    every: list[type[Record]] = [Record]
    for one in every:
        every += one.__subclasses__()
    return [one for one in every if _has_version(one)]


def _has_version(record: type[Record]) -> bool:
    """Say whether a record names its version: what only its kinds have does not."""
    known = {one.name: one.default for one in msgspec.structs.fields(record)}
    return known.get("schema_version", msgspec.NODEFAULT) is not msgspec.NODEFAULT


class Difference(Record, frozen=True, kw_only=True):
    """Something that is not the same on both sides, each as text; ``absent`` where it is not."""

    name: str
    a: str
    b: str


LONGEST = 200
UNSEEN = (
    r"\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U000e0000-\U000e0fff"
)
"""Ranges of a regular expression: control and format characters, marks of direction, ends of lines,
and those without a shape or width."""
_PATTERN = rf"^(?!::)[^{UNSEEN}]+$(?!\n)"
_SUITE = r"^[\w.@+-]+$(?!\n)"
SuiteName = Annotated[str, msgspec.Meta(pattern=_SUITE, max_length=LONGEST)]
"""Name of a suite: letters, digits and a few signs."""
Name = Annotated[str, msgspec.Meta(pattern=_PATTERN, max_length=LONGEST)]

_NAME = re.compile(_PATTERN)


def is_name(name: str) -> bool:
    """Say whether a text may be a name."""
    return len(name) <= LONGEST and name.isprintable() and _NAME.match(name) is not None
