"""What lies in a cache of compiled programs, and what a program finds of it."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import Count, Record, Seconds, Sha256
from coldwarm.contracts.commands import CommandBench
from coldwarm.contracts.kept_entry import KeptEntry, Nanoseconds
from coldwarm.contracts.reasons import Reason

CacheOutcome = Literal["found", "missed", "elsewhere", "not_kept"]
"""``found``: read from the cache; ``missed``: compiled, as it was not in it; ``elsewhere``: the
program uses another cache than the one that was checked; ``not_kept``: compiled, and the framework
does not keep it, as what compiles quickly. Of several programs of a line the first of ``missed``,
``elsewhere``, ``not_kept``."""

PackedOwner = Literal["inductor", "jax", "numba"]
"""Whose programs a packed cache may hold."""


class CacheListing(Record, frozen=True, kw_only=True):
    """What lies in a folder. Nothing of it was run, unpickled or linked."""

    schema_version: Literal["coldwarm.cache_listing.v1"] = "coldwarm.cache_listing.v1"
    harness_version: str
    folder: str
    entries: list[KeptEntry]
    n_others: Count
    """Files that no framework is known to look for, links and other special files among them."""
    others_bytes: Count


class ComparedProgram(Record, frozen=True, kw_only=True):
    """A program of one name in two caches."""

    owner: str
    program: str
    n_same: Count
    """Entries with the same key in both."""
    n_kept: Count
    """Entries of the first that the second lacks."""
    n_new: Count
    """Entries of the second that the first lacks."""
    why: list[Reason] = []
    """What differs between those that are most alike."""


class CacheComparison(Record, frozen=True, kw_only=True):
    """Two caches side by side."""

    schema_version: Literal["coldwarm.cache_comparison.v1"] = "coldwarm.cache_comparison.v1"
    harness_version: str
    a: str
    b: str
    programs: list[ComparedProgram]
    """Those that differ first."""


class CacheKey(Record, frozen=True, kw_only=True):
    """A fingerprint of what makes cached programs be missed."""

    schema_version: Literal["coldwarm.cache_key.v1"] = "coldwarm.cache_key.v1"
    harness_version: str
    key: str
    parts: dict[str, dict[str, str]]
    """By framework, what it is made of; ``sources``: by path, a hash of the files."""


class PackedFile(Record, frozen=True, kw_only=True):
    """A file of a packed cache."""

    path: str
    """Below the folder of the cache."""
    n_bytes: Count
    sha256: Sha256
    modified_ns: Nanoseconds


class CachePack(Record, frozen=True, kw_only=True):
    """A cache in one archive: each of its files with its hash."""

    schema_version: Literal["coldwarm.cache_pack.v1"] = "coldwarm.cache_pack.v1"
    harness_version: str
    frameworks: list[PackedOwner]
    """Owners of the programs in it."""
    n_programs: Count
    """Files of programs."""
    files: list[PackedFile]
    n_left_out: Count = 0
    """Links and special files, which are not packed."""


class CheckedLine(Record, frozen=True, kw_only=True):
    """A line of a program, and whether what it needs compiled was in the cache."""

    framework: str
    path: str
    """Empty: no line is known that asks for it."""
    line: Count
    function: str
    """What is compiled."""
    outcome: CacheOutcome
    n_found: Count
    n_missed: Count
    """Those elsewhere among them."""
    n_not_kept: Count
    compile_s: Seconds
    """Tracing, lowering and compiling of the programs that were compiled, and reading of the
    others."""
    why: list[Reason] = []
    """What differs from the programs of the same name in the cache."""


class CacheCheck(Record, frozen=True, kw_only=True):
    """What a program, in a fresh process, found in a copy of a cache."""

    schema_version: Literal["coldwarm.cache_check.v1"] = "coldwarm.cache_check.v1"
    harness_version: str
    started_at: str
    command: list[str]
    exit_status: int | None
    """Of the program; negative: the signal that ended it."""
    folder: str
    """The cache; the program was given a copy of it at another place."""
    image: str | None = None
    """Where it lies and where the program ran; ``None``: here."""
    frameworks: list[str]
    """Those whose programs lie there; lines of others are left out."""
    versions: dict[str, str]
    n_kept: Count
    """Programs in the cache before."""
    kept_bytes: Count
    lines: list[CheckedLine]
    """Those that missed first, then by time."""
    left_out: list[str] = []
    """Frameworks that compiled something, and of which nothing lies in the cache."""
    unseen: list[Reason] = []
    """Parts that could not be watched, and why."""
    entries: list[KeptEntry]
    """Programs in the copy after its end, with those that it had to compile."""
    measured: CommandBench | None = None
    """The program with empty caches and with copies of this one; ``None``: it was not asked for,
    or nothing was found."""
