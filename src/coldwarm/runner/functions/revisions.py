"""Two commits side by side: each checked out into a worktree of its own, for a while.

A file that only measures the code of the repository is run as it is today, on the old code too, so
that a new benchmark can judge an old release. It is told by two signs: it lies in no package, and
it imports something of the repository. A file with neither is itself what is measured, and each
commit has its own.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import tarfile
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.runner.functions.targets import Target


_FETCH = "in a workflow, give actions/checkout `fetch-depth: 0`"
_OF_A_HOOK = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}


@contextmanager
def checked_out(
    targets: Sequence[Target], before: str, after: str | None, work: Path
) -> Iterator[list[Target]]:
    """Give each target as it was ``before`` and as it is ``after`` (``None``: the files now).

    Raises:
        UsageError: this is no repository, or it has no such commit or file.
    """
    first = targets[0].path
    root = root_of(first.parent if first else Path.cwd())
    with ExitStack() as stack:
        trees: dict[str, tuple[Path, str | None]] = {}
        for label, revision in (("before", before), ("after", after)):
            if revision is None:
                trees[label] = (root, None)
                continue
            commit = _commit(root, revision)
            trees[label] = (stack.enter_context(_worktree(root, commit, work / label)), commit)
        yield [
            _moved(target, label if len(targets) == 1 else f"{target.label}.{label}", root, *tree)
            for target in targets
            for label, tree in trees.items()
        ]


@contextmanager
def tree_of(folder: Path, revision: str, place: Path) -> Iterator[tuple[Path, Path]]:
    """Give the root of the repository that a folder is in, and a commit of it checked out.

    It is checked out at ``place``, which must not be there, and removed afterwards.

    Raises:
        UsageError: the folder is in no repository, or that has no such commit.
    """
    root, commit = root_of(folder), _commit(root_of(folder), revision)
    with _worktree(root, commit, place) as tree:
        _fill_submodules(root, commit, tree)
        _link_unfollowed(root, tree)
        yield root, tree


def root_of(folder: Path) -> Path:
    """Return the root of the repository that a folder is in.

    Raises:
        UsageError: it is in none, or git is not installed.
    """
    if _run(folder, "rev-parse", "--git-dir").returncode:
        text = f"{folder} is in no git repository, so no commit can be named"
        raise UsageError(f"{text}: run the command in a folder of one")
    return Path(_git(folder, "rev-parse", "--show-toplevel"))


def uncommitted(folder: Path) -> list[str]:
    """Return the files of a repository that differ from its newest commit; new ones aside."""
    changed = _git(root_of(folder), "diff", "--name-only", "-z", "HEAD")
    return [name for name in changed.split("\0") if name]


def _fill_submodules(root: Path, commit: str, tree: Path) -> None:
    """Write the submodules of a commit into its tree, as far as they are here."""
    for entry in _git(root, "ls-tree", "-r", "-z", commit).split("\0"):
        kind, _, name = entry.partition("\t")
        inner, place = kind.split()[-1:], tree / name
        if not kind.startswith("160000 ") or not (root / name / ".git").exists():
            continue
        if _run(root / name, "archive", "-o", str(tree / ".git-archive"), *inner).returncode == 0:
            with tarfile.open(tree / ".git-archive") as archive:
                archive.extractall(place, filter="tar")
            (tree / ".git-archive").unlink()
            _fill_submodules(root / name, inner[0], place)


def _link_unfollowed(root: Path, tree: Path) -> None:
    """Link what git does not follow, such as data and made files; new source is of today alone."""
    others = ("ls-files", "-z", "--others", "--directory")
    new = _git(root, *others, "--exclude-standard").split("\0")
    for name in _git(root, *others).split("\0"):
        source, place = root / name, tree / name.rstrip("/")
        if not name or any(part.startswith((".", "__pycache__")) for part in Path(name).parts):
            continue
        of_today = name in new and (name.endswith(".py") or any(source.rglob("*.py")))
        inside = (source / "pyvenv.cfg").is_file() or tree.is_relative_to(source)
        if not of_today and not inside and not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(source.resolve())


def changes(folder: Path, revision: str) -> dict[str, str]:
    """Return the files that are not as they were at a revision: each with its name then.

    One that was not there has no name then; what git does not follow is left out.

    Raises:
        UsageError: the folder is in no repository, or that has no such revision.
    """
    said = iter(_git(folder, "diff", "--name-status", "--find-renames", "-z", revision).split("\0"))
    found = {}
    for status in said:
        if status:
            then = next(said)
            now = next(said) if status[0] in "RC" else then
            found[now] = "" if status == "A" else then
    return found


def is_in(folder: Path, revision: str, name: str) -> bool:
    """Say whether a file, named from the root of the repository, was there at a revision."""
    return _run(folder, "cat-file", "-e", f"{revision}:{name}").returncode == 0


def committed(folder: Path, revision: str) -> tuple[str, int]:
    """Return the hash of a commit, and when it was committed, in seconds since 1970.

    Raises:
        UsageError: the folder is in no repository, or that has no such commit.
    """
    root = root_of(folder)
    commit = _commit(root, revision)
    return commit, int(_git(root, "show", "--no-patch", "--format=%ct", commit))


def between(folder: Path, first: str, last: str) -> tuple[str, list[str]]:
    """Return a commit, and those behind it up to another, oldest first, along first parents.

    Raises:
        UsageError: the folder is in no repository, that has no such commit, or the first one is not
            before the last one.
    """
    root = root_of(folder)
    begin, end = (_commit(root, one) for one in (first, last))
    found = _git(root, "rev-list", "--first-parent", "--reverse", f"{begin}..{end}").split()
    if not found or _git(root, "rev-parse", f"{found[0]}^") != begin:
        text = f"{first} is not before {last}; name a commit that"
        raise UsageError(f"{text} `git log --first-parent {last}` lists")
    return begin, found


def date_of(folder: Path, commit: str) -> str:
    """Return when a commit was made, in UTC."""
    told = _git(root_of(folder), "show", "--no-patch", "--format=%cI", commit)
    return datetime.fromisoformat(told).astimezone(UTC).isoformat(timespec="seconds")


def _commit(root: Path, revision: str) -> str:
    """Return the hash of a commit.

    Raises:
        UsageError: it is not there; says so of a shallow clone, and how to fetch it.
    """
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    done = _run(root, *asked)
    if done.returncode == 0:
        return done.stdout.strip()
    if _git(root, "rev-parse", "--is-shallow-repository") == "true":
        n_commits = _git(root, "rev-list", "--count", "HEAD")
        where = f"in this clone, which is shallow (of depth {n_commits})"
        raise UsageError(f"{revision} is not {where}; git fetch --unshallow --tags, or {_FETCH}")
    fetch = "git fetch --tags origin"
    raise UsageError(f"{revision} is no commit of {root}; mend its name, or {fetch}; {_FETCH}")


@contextmanager
def _worktree(root: Path, commit: str, place: Path) -> Iterator[Path]:
    try:
        _git(root, "worktree", "add", "--detach", "--quiet", str(place), commit)
        _take_generated(root, place)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        _forget(root, place)


def _take_generated(root: Path, tree: Path) -> None:
    """Put beside a commit's modules those that git ignores: a build has made them, of no commit.

    Such as the ``_version.py`` of setuptools-scm, without which its package cannot be imported.
    """
    asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", "*.py")
    for name in filter(None, _git(root, *asked).split("\0")):
        place = tree / name
        if (place.parent / "__init__.py").is_file() and not place.exists():
            shutil.copyfile(root / name, place)


def _forget(root: Path, place: Path) -> None:
    """Remove what git has noted of one worktree; ``prune`` would forget others of the user's."""
    common = Path(root, _git(root, "rev-parse", "--git-common-dir"))
    for note in common.glob("worktrees/*/gitdir"):
        if os.path.realpath(note.read_text(encoding="utf-8").strip()) == os.path.realpath(
            place / ".git"
        ):
            shutil.rmtree(note.parent, ignore_errors=True)


def _moved(target: Target, label: str, root: Path, tree: Path, commit: str | None) -> Target:
    search = tuple(str(path) for path in (tree / "src", tree) if path.is_dir())
    path, shown, of_today = target.path, "", False
    if path is not None and tree != root:
        if not path.is_relative_to(root):
            raise UsageError(f"{path} is not in the repository {root}")
        shown = str(path.relative_to(root))
        of_today = _measures_only(path, root)
        if of_today:
            _take_along(path, root, tree)
        path = tree / shown
        if not path.is_file():
            text = f"{shown} is not in commit {str(commit)[:12]}"
            raise UsageError(f"{text}, and imports nothing of it; name a commit that has it")
    elsewhere = None if tree == root else root
    return replace(
        target,
        label=label,
        path=path,
        search=search,
        revision=commit,
        shown=shown,
        elsewhere=elsewhere,
        of_today=of_today,
    )


def _measures_only(path: Path, root: Path) -> bool:
    """Say whether a file measures code of the repository, and is none of it."""
    package = (path.parent / "__init__.py").is_file() or path.is_relative_to(root / "src")
    return not package and any(_is_of(root, path, name) for name in _imported(path))


def _imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, wherever in it."""
    try:
        parsed = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # whoever loads it says so
        return
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _is_of(root: Path, path: Path, module: str) -> bool:
    """Say whether a module lies where a commit's code is looked for, but not beside the file."""
    first = module.partition(".")[0]
    found = [place / end for place in (root / "src", root) for end in (first, f"{first}.py")]
    return any(_is_module(one) and not path.is_relative_to(one) for one in found)


def _is_module(path: Path) -> bool:
    return path.is_file() or (path.is_dir() and any(path.glob("*.py")))


def _take_along(path: Path, root: Path, tree: Path) -> None:
    """Put today's benchmark into a commit's tree: its folder, or the file alone in the root."""
    known = [str(path.relative_to(root))]
    if path.parent != root:
        folder = str(path.parent.relative_to(root))
        asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder)
        known += filter(None, _git(root, *asked).split("\0"))
    for name in dict.fromkeys(known):
        if (root / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, tree / name)


def _git(folder: Path, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UsageError(f"git {' '.join(arguments[:2])}: {said}")
    return done.stdout.strip()


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("git")
    if program is None:
        raise UsageError("git is not installed; what names a commit needs it")
    # Inside one of its hooks, git names the repository and the index by variables.
    variables = {k: v for k, v in os.environ.items() if k not in _OF_A_HOOK}
    return subprocess.run(
        [program, "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=variables,
    )
