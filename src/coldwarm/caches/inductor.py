"""Files of ``torch.compile``: Inductor, AOTAutograd, Triton, headers.

Inductor's own directory holds the graphs, AOTAutograd's entries and the compiled code.
Precompiled C++ headers lie elsewhere on purpose, under the directory for temporary files,
and are worth seconds of a first compilation: that directory must be private too, and must
exist, because Python silently goes back to the machine's own where it does not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coldwarm.caches import Owner, judge, proved, refuted, untouched
from coldwarm.caches.kept import pickled_texts, written
from coldwarm.contracts.answer import CacheSetting
from coldwarm.contracts.base import EMPTY, FILLED
from coldwarm.contracts.kept_entry import KeptEntry
from coldwarm.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

_NAME = "inductor"
# Machine code: with a filled cache none of these may appear.
_EXECUTABLES = ("so", "o", "gch", "cubin", "hsaco")
_KERNELS = ("so", "cubin", "hsaco")
"""Files that a compiled graph consists of, and a precompiled header does not."""
_HEADERS = ("gch", "pch")
"""Precompiled headers, of GCC and of Clang."""

_ON = ("TORCHINDUCTOR_FX_GRAPH_CACHE", "TORCHINDUCTOR_AUTOGRAD_CACHE")
_OFF = (
    # A policy of its own, in which nothing is counted, and yet headers are reused.
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES",
    "TORCH_COMPILE_FORCE_DISABLE_CACHES",
    # Caches that are shared with other machines.
    "TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE",
    "TORCHINDUCTOR_AUTOGRAD_REMOTE_CACHE",
    "TORCHINDUCTOR_AUTOTUNE_REMOTE_CACHE",
    "TORCHINDUCTOR_BUNDLED_AUTOTUNE_REMOTE_CACHE",
    "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_REMOTE_PGO",
)
GRAPHS = _NAME, "fxgraph"
"""The owner and name of the entries that Inductor looks for."""
_GRAPHS = (GRAPHS[1], "aotautograd")
"""Folders of entries, each in a folder of the name of its key."""
_EMPTY = {EMPTY, "first_ever"}
_MOST_BYTES = 2**24
_COMPONENT = re.compile(r"\[([a-z2-7]{40,})\] (\w+(?:\[[^\]]*\])?): (.*)", re.DOTALL)
"""A part of the key of an entry, which is kept in it: its hash, its name, and its value."""
_OPERATION = re.compile(r"torch\.ops\.\w+\.(\w+)")
_ARRAY = re.compile(r"dtype=torch\.(\w+), shape=torch\.Size\((\[[^\[\]]{0,200}\])\)")
_MOST_SHOWN, _LONGEST_VALUE, _LONGEST_SEEN = 4, 400, 20_000


def _read(root: Path, path: Path) -> list[KeptEntry] | None:
    """Return an entry of a graph, or a file of machine code that one needs.

    The entries are pickles, of which the texts alone are read. The parts of its key are among them.
    """
    inside, suffix = path.relative_to(root).parts[:-1], path.suffix.lstrip(".")
    name = next((one for one in _GRAPHS if one in inside), None)
    name = name or ("header" if suffix in _HEADERS else "kernel" if suffix in _KERNELS else None)
    if name is None:
        return None
    try:
        status = path.stat()
    except OSError:
        return []  # gone in the meantime
    components = _components(path, status.st_size) if name in _GRAPHS else {}
    return [
        KeptEntry(
            owner=_NAME,
            path=str(path.relative_to(root)),
            parts=_shown(components),
            components={name: digest for name, (digest, _) in components.items()},
            options={name: value[:_LONGEST_VALUE] for name, (_, value) in components.items()},
            program=name,
            key=path.parent.name if name in _GRAPHS else path.stem,
            n_bytes=status.st_size,
            modified_ns=written(status),
        )
    ]


def _components(path: Path, n_bytes: int) -> dict[str, tuple[str, str]]:
    """Return the parts of an entry's key: by name, the hash and the value; empty: it has none."""
    try:
        data = path.read_bytes() if n_bytes <= _MOST_BYTES else b""
        texts = pickled_texts(data, with_bytes=False)
    except (OSError, ValueError):
        return {}
    found = filter(None, map(_COMPONENT.fullmatch, texts))
    return {
        printable(name): (digest, printable(value[:_LONGEST_SEEN]))
        for digest, name, value in (one.groups() for one in found)
    }


def _shown(components: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the operations of a graph, and the types and shapes that it was made for."""
    graph = components.get("gm", ("", ""))[1]
    inputs = [value for name, (_, value) in components.items() if name.startswith("example_inputs")]
    values = inputs[: _MOST_SHOWN + 1]
    arrays = [f"{kind}{shape}" for kind, shape in _ARRAY.findall("\n".join(values))]
    told = {"operations": dict.fromkeys(_OPERATION.findall(graph)), "types": dict.fromkeys(arrays)}
    return {
        name: ", ".join([*found][:_MOST_SHOWN]) + " …" * (len(found) > _MOST_SHOWN)
        for name, found in told.items()
        if found
    }


def _judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge what was made ahead of time by what it leaves to do, all else as it compiles."""
    if evidence.raw.get("loaded_packages") and mode != "warm_process":
        return untouched(evidence, _files_of_compiler(evidence))
    n_loaded = evidence.raw.get("loaded_artifacts")
    if mode in _EMPTY and evidence.hits and isinstance(n_loaded, int) and n_loaded:
        return _judge_loaded(evidence, n_loaded)
    return _judge_compiling(mode, evidence, compiles=compiles)


def _judge_compiling(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge by files, counters and, with a filled cache, by the absence of new machine code.

    The counters alone do not do: graphs that come from a bundle are counted as hits while
    their code is compiled again. Nor does any new file make a hit one of the process's own
    entries: temporary files appear here even where the cache itself lies elsewhere.
    """
    cold, hits = mode in _EMPTY, evidence.hits or 0
    compiled = evidence.compiles or 0
    if cold and hits and not any(evidence.new_files.get(f".{n}") for n in _KERNELS):
        return refuted("foreign_hits", owner=_NAME, n_hits=hits)
    if cold and compiled and not evidence.files_after:
        return refuted("kept_elsewhere", owner=_NAME, n_entries=compiled)
    judged = judge(mode, evidence, compiles=compiles)
    if judged.proved and cold and _header_of_another(evidence):
        judged = refuted("no_new_header", owner=_NAME, n_compiles=compiled)
    if not judged.proved:
        return judged
    new = {name: evidence.new_files.get(f".{name}", 0) for name in _EXECUTABLES}
    if mode == FILLED and any(new.values()):
        kinds = [f".{name}" for name, number in new.items() if number]
        again = {"n_hits": hits, "n_files": sum(new.values())}
        return refuted("compiled_again", owner=_NAME, suffix_names=kinds, **again)
    asked = evidence.misses or evidence.bypasses  # a graph that cannot be kept goes past the cache
    if cold and compiles and not asked:
        return refuted("cache_not_asked", owner=_NAME, n_compiles=compiled)
    return judged


def _files_of_compiler(evidence: CacheEvidence) -> int | None:
    """Count files that were there before, and locks, of which each run of the compiler leaves one.

    A package that was loaded lies unpacked in the folder for temporary files until its process
    ends.
    """
    before = evidence.files_before
    return None if before is None else before + evidence.new_files.get(".lock", 0)


def _judge_loaded(evidence: CacheEvidence, n_loaded: int) -> Judgement:
    """Judge a start that has put entries made ahead of time into empty caches, and hit them.

    On a CPU they have no machine code, so C++ is compiled again.
    """
    hits, compiled = evidence.hits or 0, evidence.compiles or 0
    if evidence.files_before is None:
        return refuted("uncounted", owner=_NAME, count_names=["files"])
    if evidence.files_before:
        return refuted("files_before", owner=_NAME, n_files=evidence.files_before)
    if hits > n_loaded or (evidence.files_after or 0) < n_loaded:
        return refuted("foreign_hits", owner=_NAME, n_hits=hits)
    if _header_of_another(evidence):
        return refuted("no_new_header", owner=_NAME, n_compiles=compiled)
    return proved("empty_before", owner=_NAME, n_hits=hits, n_compiles=compiled)


def _header_of_another(evidence: CacheEvidence) -> bool:
    """Say whether C++ was compiled with a precompiled header that was there before.

    It is worth seconds, and lies under the folder for temporary files, which a program can move.
    """
    asked = evidence.raw.get("precompiled_headers") and evidence.raw.get("compile_file_calls")
    return bool(asked) and not any(evidence.new_files.get(f".{name}") for name in _HEADERS)


OWNER = Owner(
    name=_NAME,
    words={
        "inductor_compiler": "inductor: the C++ compiler and the libraries it links are as the"
        " machine left them",
        "inductor_preprocessor": "inductor: a filled cache still runs the C++ preprocessor and a"
        " test of vector instructions",
    },
    of_framework="torch",
    of_function=2,
    holds_programs=True,
    read=_read,
    setting=CacheSetting(owner=_NAME, variables={"TORCHINDUCTOR_CACHE_DIR": "DIR"}),
    folders={
        "TORCHINDUCTOR_CACHE_DIR": "inductor",
        "TRITON_CACHE_DIR": "triton",
        "TRITON_HOME": "triton_home",
        "TMPDIR": "tmp",
    },
    variables={**dict.fromkeys(_ON, "1"), **dict.fromkeys(_OFF, "0")},
    configured={"tempfile:tempdir": "TMPDIR", "triton:knobs.cache.dir": "TRITON_CACHE_DIR"},
    judge=_judge,
)
