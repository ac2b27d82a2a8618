"""A persistent cache of JAX that has programs of the same names, and of which none was read."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.caches import jax_entries
from coldwarm.caches.differing import why_missed
from coldwarm.caches.jax_entries import bare_name
from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import DebugSettings
from coldwarm.report.sentences import advice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.kept_entry import KeptEntry
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_cache_missed": "{n_programs:# program} had one of the same name in JAX's cache"
    " {folder}, and none was read: {parts}; about {spent_s:time} of compiling",
}
_CHANGES = {
    "cache-missed": "see `coldwarm cache check`, which says it for each line",
}
_ENTRY = re.compile(r"(?P<name>.+)-[0-9a-f]{64}-cache")
_MOST_READ = 100
"""Entries that are read at most."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the line that compiled longest of what might have been read."""
    calls = [one for one in trace.calls if one.framework == "jax" and one.compiled]
    if not calls or any(one.hit for one in calls):
        return
    rows = trace.rows_of(DebugSettings)
    for folder in {row.caches["jax"] for row in rows if "jax" in row.caches}:
        names = {bare_name(one.told) for one in calls}
        try:
            old, new = _entries(Path(folder), names, _began_s(trace))
        except OSError:
            continue
        # Whoever changes a program, or uses the cache for several, misses some of them, too.
        if any(name not in old for name in names):
            continue
        why = {name: why_missed(old[name], new.get(name, [])) for name in names}
        if any(one.code not in _CERTAIN for found in why.values() for one in found):
            continue
        located = [one for one in calls if one.site is not None]
        spent_s = sum(one.own_s.get("compile", 0.0) for one in calls)
        if located and trace.is_worth(spent_s):
            longest = max(located, key=lambda one: one.total_s)
            says = because(
                "doctor_cache_missed",
                *why[bare_name(longest.told)],
                n_programs=len(calls),
                folder=folder,
                spent_s=spent_s,
            )
            site = longest.site
            if site is not None:
                yield trace.finding_of_seconds("cache-missed", site, says, framework="jax")


_CERTAIN = {"key_folder", "key_xla_caches", "key_option", "key_processor", "key_features"}
"""Causes that are none of the program's own."""


def _began_s(trace: ProcessTrace) -> float:
    """Return when a process began, in seconds since 1970; what cannot be read is never old."""
    try:
        return datetime.fromisoformat(trace.process.started_at).timestamp()
    except ValueError:
        return 0.0


def _entries(
    folder: Path, wanted: set[str], began_s: float
) -> tuple[Mapping[str, Sequence[KeptEntry]], Mapping[str, Sequence[KeptEntry]]]:
    """Return the entries of some programs by name: those from before the process, and its own."""
    old: dict[str, list[KeptEntry]] = defaultdict(list)
    new: dict[str, list[KeptEntry]] = defaultdict(list)
    n_read = 0
    for path in sorted(folder.iterdir()):
        told = _ENTRY.fullmatch(path.name)
        name = bare_name(told["name"]) if told else ""
        if name in wanted and n_read < _MOST_READ and path.is_file() and not path.is_symlink():
            n_read += 1
            for one in jax_entries.read(folder, path) or ():
                (old if one.modified_ns < began_s * 1e9 else new)[name].append(one)
    return old, new


def _change(one: Finding) -> str:
    """Return the cure of what differs, where it is known."""
    return advice(one.says) or _CHANGES["cache-missed"]


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES, change=_change)
