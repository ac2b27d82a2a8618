"""Two commits side by side: each checked out into a worktree of its own, for a while."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.runner.functions.targets import Target


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
    root = Path(_git(first.parent if first else Path.cwd(), "rev-parse", "--show-toplevel"))
    with ExitStack() as stack:
        trees: dict[str, tuple[Path, str | None]] = {}
        for label, revision in (("before", before), ("after", after)):
            if revision is None:
                trees[label] = (root, None)
                continue
            commit = _git(
                root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"
            )
            trees[label] = (stack.enter_context(_worktree(root, commit, work / label)), commit)
        yield [
            _moved(target, label if len(targets) == 1 else f"{target.label}.{label}", root, *tree)
            for target in targets
            for label, tree in trees.items()
        ]


@contextmanager
def _worktree(root: Path, commit: str, place: Path) -> Iterator[Path]:
    try:
        _git(root, "worktree", "add", "--detach", "--quiet", str(place), commit)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        _forget(root, place)


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
    path, shown = target.path, ""
    if path is not None and tree != root:
        if not path.is_relative_to(root):
            raise UsageError(f"{path} is not in the repository {root}")
        shown = str(path.relative_to(root))
        path = tree / shown
        if not path.is_file():
            text = f"{shown} is not in commit {str(commit)[:12]}"
            raise UsageError(f"{text}; name a commit that has it")
    elsewhere = None if tree == root else root
    return replace(
        target,
        label=label,
        path=path,
        search=search,
        revision=commit,
        shown=shown,
        elsewhere=elsewhere,
    )


def _git(folder: Path, *arguments: str) -> str:
    program = shutil.which("git")
    if program is None:
        raise UsageError("git is not installed; --before and --after need it")
    # Inside one of its hooks, git names the repository and the index by variables.
    variables = {k: v for k, v in os.environ.items() if k not in _OF_A_HOOK}
    done = subprocess.run(
        [program, "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=variables,
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UsageError(f"git {' '.join(arguments[:2])}: {said}")
    return done.stdout.strip()
