"""A fingerprint of what makes cached programs be missed: a name for a cache in CI or an image.

What a compiler takes from the machine is asked of it, in a process of its own: for JAX a small
program is compiled, and what XLA has kept with it is read. Nothing is guessed by the name of a
processor.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import coldwarm
from coldwarm.cache.check import look
from coldwarm.caches import modes
from coldwarm.contracts.cache import CacheKey
from coldwarm.errors import UsageError
from coldwarm.report.sentences import words
from coldwarm.runner import temporary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PROBES = Path(__file__).parent / "probes"
FRAMEWORKS = ("jax", "torch", "numba")
_DIGITS = 16
_TIMEOUT_S = 300


def cache_key(frameworks: Sequence[str], sources: Sequence[Path], python: str) -> CacheKey:
    """Return the fingerprint of these frameworks, and of source files, with all that it is made of.

    Args:
        frameworks: Some of ``FRAMEWORKS``; none: those that are installed.
        sources: Files, or folders with files, whose content is a part of it.
        python: The interpreter that has the frameworks.

    Raises:
        UsageError: a framework cannot be asked, none is installed, or a source is not there.
    """
    parts = {name: found for name in frameworks or FRAMEWORKS if (found := _asked(name, python))}
    for name in frameworks:
        if name not in parts:
            raise UsageError(f"{name} cannot be imported by {python}; install it, or leave it out")
    if not parts:
        raise UsageError(f"{python} has neither JAX, PyTorch nor Numba; name another with --python")
    if sources:
        parts["sources"] = {str(path): _content(path) for path in sources}
    # Where a source lies is no part of it.
    told = {of: [*found.values()] if of == "sources" else found for of, found in parts.items()}
    text = json.dumps(told, sort_keys=True)
    names = "-".join(name for name in FRAMEWORKS if name in parts)
    return CacheKey(
        harness_version=coldwarm.__version__,
        key=f"{names}-{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}",
        parts=parts,
    )


def _asked(name: str, python: str) -> dict[str, str] | None:
    """Return what a framework says of itself and of the machine; ``None``: it is not installed.

    Raises:
        UsageError: it is, and cannot be asked.
    """
    owner = modes.readable()[name]
    with temporary.made() as folder:
        kept = folder / "kept"
        kept.mkdir()
        variables = {
            **os.environ,
            owner.variable: str(kept),
            **owner.keeps_quick,
            **owner.moves,  # else the path of the folder would be one of the options
        }
        line = [python, str(_PROBES / f"ask_{name}.py")]
        try:
            done = subprocess.run(  # noqa: S603 - the interpreter that the user names
                line, env=variables, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"{python} cannot be asked for {name}: {error}") from None
        if done.returncode:
            *_, last = done.stderr.strip().splitlines() or ["it ended without a word"]
            if f"No module named '{name}'" in last:
                return None
            raise UsageError(f"{name} cannot be asked: {last}")
        *_, told = done.stdout.splitlines()
        return {**json.loads(told), **(_of_entry(kept) if name == "jax" else {})}


def _of_entry(folder: Path) -> Mapping[str, str]:
    """Return what XLA has kept with a program: the processor, and its options as a hash.

    Raises:
        UsageError: nothing was kept, or it cannot be read.
    """
    found = look(folder).of("jax")
    fault = next((one.fault for one in found if one.fault is not None), None)
    if not found or fault is not None:
        why = "keeps no program here" if fault is None else words(fault)
        raise UsageError(f"jax cannot be asked for its processor: {why}")
    text = json.dumps(dict(found[0].options), sort_keys=True)
    known = found[0].parts
    machine: dict[str, str] = {k: known[k] for k in ("processor", "features") if k in known}
    return {**machine, "options": hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}


def _content(path: Path) -> str:
    """Return a hash of a file, or of all files in a folder with their names.

    Raises:
        UsageError: nothing can be read there.
    """
    told = hashlib.sha256()
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"{path} holds no Python file; name another source")
    for file in files:
        try:
            told.update(str(file.relative_to(path)).encode() + b"\0" + file.read_bytes() + b"\0")
        except OSError as error:
            raise UsageError(f"{file} cannot be read: {error.strerror}; name another") from None
    return told.hexdigest()[:_DIGITS]
