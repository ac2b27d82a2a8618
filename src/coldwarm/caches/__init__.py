"""Cache modes: how each cache is isolated, listed and judged, a file for each owner.

A file here that defines ``OWNER`` is found by itself: nothing else knows its name, its variables or
its words. The watch of its framework returns counters under the same name; a backend that always
has such a cache names it in ``caches``, and a user's function has it where it says so.

The rules that most caches share stand here, too: judge a mode by files and counters. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from coldwarm.contracts.base import FILLED
from coldwarm.contracts.observation import Judgement
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from coldwarm.contracts.answer import CacheSetting
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.kept_entry import KeptEntry
    from coldwarm.contracts.observation import CacheEvidence
    from coldwarm.contracts.reasons import Reason, Value


class _Judge(Protocol):
    def __call__(self, mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
        """Say whether the evidence proves the mode; ``judge`` has the usual rules."""


@dataclass(frozen=True, kw_only=True)
class Owner:
    """A cache: how it is moved to a folder of its own, and how its modes are judged."""

    name: str
    words: Mapping[str, str]
    """What cannot be controlled, by the code of the reason."""
    judge: _Judge
    folders: Mapping[str, str] = field(default_factory=dict)
    """By variable, the folder that it names under the owner's, and that must exist; empty: that
    of the owner itself. Without any the cache cannot be moved so."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What is set besides; an empty one is unset."""
    of_framework: str = ""
    """The framework that keeps it; empty: it is named like it."""
    keeps_quick: Mapping[str, str] = field(default_factory=dict)
    """Variables with which what compiles quickly is kept, too."""
    moves: Mapping[str, str] = field(default_factory=dict)
    """Variables with which it is found at another path than it was filled at."""
    configured: Mapping[str, str] = field(default_factory=dict)
    """Where a program can move it while it runs: by module and name, as ``jax:config.name``, the
    variable that it begins with."""
    of_function: int | None = None
    """Its place among the caches of a user's function; ``None``: such a function has none."""
    holds_programs: bool = False
    """Whether it holds compiled programs."""
    read: Callable[[Path, Path], list[KeptEntry] | None] | None = None
    """Return the programs in a file of a cache's folder, ``None`` where the file is none of this
    owner's; without running, unpickling or linking anything (``caches.kept``)."""
    setting: CacheSetting | None = None
    """Settings that a program of one's own needs to find it filled."""
    has_default: bool = False
    """Whether less is kept where nothing is set but its folders; otherwise all of it is set."""
    in_home: bool = False
    """Whether libraries may keep it in a process's home instead."""
    kept_by_default: Callable[[CacheEvidence], Literal["all", "some", "none"] | None] | None = None
    """Say how much of what a process compiled is kept so; without it all is."""

    @property
    def framework(self) -> str:
        """The framework that keeps it."""
        return self.of_framework or self.name

    @property
    def variable(self) -> str:
        """The variable that names the folder of its programs."""
        return next(iter(self.folders))

    @property
    def limitations(self) -> list[Reason]:
        """Limits of the control over it."""
        return [because(code) for code in self.words]

    def isolate(self, root: Path, *, by_default: bool = False) -> dict[str, str]:
        """Return the variables that move it under a folder; an empty one is unset.

        ``by_default``: those of a program that has set its folders, and no more where that is less.

        Raises:
            OSError: a folder could not be made.
        """
        for folder in filter(None, self.folders.values()):
            (root / folder).mkdir(parents=True, exist_ok=True)
        folders = {name: str(root / folder) for name, folder in self.folders.items()}
        unset = dict.fromkeys(self.variables, "") if by_default and self.has_default else {}
        return {**folders, **self.variables, **unset}


HOME = "files"
"""The owner of what lies in the home of a process, where others may keep files, too."""
MOST_NAMED = 5
"""Files of it that are named at most."""
_WRONG_WHEN_FILLED = ("misses", "bypasses", "compiles")


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Say whether files and counters prove ``mode``.

    Cold: the directories were empty and nothing was hit but what the process had written
    itself; a backend that ``compiles`` must have compiled. Filled: there were files,
    everything asked for was hit, and nothing was compiled. The warm regime asks nothing of a
    start; its blocks are judged by themselves.
    """
    if mode == "warm_process":
        return proved("start_not_judged")
    return _filled(evidence) if mode == FILLED else _empty(evidence, compiles=compiles)


def by_files(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge a cache that counts nothing: no files before a cold start, no new in a warm one."""
    del compiles  # what is kept so, no framework counts
    owner, before, new = evidence.owner, evidence.files_before, sum(evidence.new_files.values())
    if mode == "warm_process":
        return proved("start_not_judged")
    if before is None:
        return refuted("uncounted", owner=owner, count_names=["files"])
    if mode == FILLED:
        if new:
            return refuted("new_files", owner=owner, n_files=new)
        return proved("none_new", owner=owner, n_files=before)
    if before:
        return refuted("files_before", owner=owner, n_files=before)
    return proved("written", owner=owner, n_files=new)


def untouched(evidence: CacheEvidence, n_files: int | None) -> Judgement:
    """Judge a start that loads what was compiled ahead of time: nothing asked, nothing compiled.

    ``n_files``: files that it would have left, had it used the cache.
    """
    owner = evidence.owner
    counted = {
        "n_requests": evidence.requests,
        "n_compiles": evidence.compiles,
        "n_files": n_files,
    }
    known = {name: number for name, number in counted.items() if number is not None}
    if len(known) < len(counted):
        unknown = [name.removeprefix("n_") for name in counted if name not in known]
        return refuted("uncounted", owner=owner, count_names=unknown)
    if any(known.values()):
        return refuted("cache_used", owner=owner, **known)
    return proved("cache_not_used", owner=owner)


def judge_by_default(evidence: CacheEvidence) -> Judgement:
    """Judge a start with what the framework's own settings keep, which may be nothing.

    Whatever it hit must lie in the private directories.
    """
    owner, files, hits = evidence.owner, evidence.files_before, evidence.hits
    if files is None or hits is None:
        return refuted("uncounted", owner=owner, count_names=["files", "hits"])
    if hits and not files and not own_entries(evidence):
        return refuted("foreign_hits", owner=owner, n_hits=hits)
    counted = {"n_files": files, "n_hits": hits, "n_compiles": evidence.compiles or 0}
    return proved("filled_by_default", owner=owner, **counted)


def names_of_earlier(evidence: CacheEvidence) -> list[str]:
    """Return the files of an earlier process that a process read, or has left as they were."""
    return [*files_named(evidence, "file_"), *files_named(evidence, "left_")]


def files_named(evidence: CacheEvidence, prefix: str) -> list[str]:
    """Return the files that evidence of a home names, by what happened to them."""
    return [str(name) for key, name in evidence.raw.items() if key.startswith(prefix)]


def proved(code: str, **values: Value) -> Judgement:
    """Return the judgement that a mode is proved, and by what."""
    return Judgement(proved=True, reason=because(code, **values))


def refuted(code: str, **values: Value) -> Judgement:
    """Return the judgement that a mode is not proved, and why not."""
    return Judgement(proved=False, reason=because(code, **values))


def _empty(evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    owner = evidence.owner
    if evidence.files_before is None or evidence.hits is None:
        return refuted("uncounted", owner=owner, count_names=["files", "hits"])
    if evidence.files_before:
        return refuted("files_before", owner=owner, n_files=evidence.files_before)
    if evidence.hits and not own_entries(evidence):
        return refuted("foreign_hits", owner=owner, n_hits=evidence.hits)
    compiled = evidence.compiles or 0
    if compiles and not compiled:
        return refuted("not_compiled", owner=owner)
    return proved("empty_before", owner=owner, n_hits=evidence.hits, n_compiles=compiled)


def own_entries(evidence: CacheEvidence) -> bool:
    """Say whether what was hit can be what the process had written itself.

    Files must have appeared where there were none, and something must have been compiled: a
    process that compiles the same program twice hits its own entry. A hit without any new
    file is of a cache elsewhere, which the private directory has not replaced.
    """
    return evidence.files_before == 0 and bool(evidence.files_after) and bool(evidence.compiles)


def _filled(evidence: CacheEvidence) -> Judgement:
    owner, hits = evidence.owner, evidence.hits
    wrong = {f"n_{name}": getattr(evidence, name) or 0 for name in _WRONG_WHEN_FILLED}
    if not evidence.files_before:
        return refuted("files_before", owner=owner, n_files=0)
    if not hits and evidence.requests == 0 and not any(wrong.values()):
        # Files that nobody counts, such as those of numba.vectorize: nothing was made again.
        return by_files(FILLED, evidence, compiles=False)
    if not hits:
        return refuted("no_hits", owner=owner)
    if any(wrong.values()):
        return refuted("not_from_cache", owner=owner, **wrong)
    return proved("filled_before", owner=owner, n_files=evidence.files_before, n_hits=hits)
