"""A user's own functions in a snapshot: their files, what these import, their data."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from packaging.utils import canonicalize_name

from coldwarm import registry
from coldwarm.contracts import run_journal
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ContractError, UsageError, is_plain
from coldwarm.publish import content, layout, storage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.reasons import Reason
    from coldwarm.publish.content import Run


@dataclass(frozen=True)
class _BenchRequest:
    """The targets and options of a bench, without those that say how long it takes."""

    targets: tuple[str, ...] = ()
    """``LABEL=FILE.py:NAME``, the file from the folder on that the bench ran in."""
    inputs: tuple[str, ...] = ()
    placement: str | None = None
    reference: str | None = None
    check: bool = True
    tolerance: float | None = None
    sync: str | None = None
    variables: tuple[str, ...] = ()
    n_withheld: int = 0
    """Variables whose values are not told."""
    pythons: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None

    @property
    def why_not(self) -> Reason | None:
        """Why it cannot be asked again elsewhere; ``None``: its files are all that is missing."""
        if not self.targets:
            return because("code_not_recorded")
        options = {
            "--python": self.pythons,
            "--before": self.before,
            "--after": self.after,
            "--env": self.n_withheld,
        }
        option = next((name for name, value in options.items() if value), None)
        return None if option is None else because("code_with_option", option=option)

    def arguments(self) -> Iterator[str]:
        """Yield the options of ``coldwarm bench``, each value with its name, and the targets."""
        for name, values in (("input", self.inputs), ("env", self.variables)):
            yield from (f"--{name}={value}" for value in values)
        given = {
            "inputs-as": self.placement,
            "reference": self.reference,
            "tolerance": self.tolerance,
            "sync": self.sync,
        }
        yield from (f"--{name}={value}" for name, value in given.items() if value is not None)
        if not self.check:
            yield "--no-check"
        yield "--"
        yield from self.targets


def recorded_request(options: Mapping[str, Any]) -> _BenchRequest:
    """Return what the recorded options of a run say; nothing where they say nothing of it."""
    try:
        return msgspec.convert(options.get("own") or {}, _BenchRequest)
    except msgspec.ValidationError:
        return _BenchRequest()


def _request_of(files: Mapping[str, bytes]) -> _BenchRequest:
    """Return the same of the files of a run, by their paths."""
    try:
        header = run_journal.header_in(files.get(run_journal.JOURNAL, b""), run_journal.JOURNAL)
    except ContractError:
        return _BenchRequest()
    return _BenchRequest() if header is None else recorded_request(header.options)


def _file_or_module(target: str) -> str:
    """Return the file or the module of a target, without its label and the function's name."""
    label, _, named = target.rpartition("=")
    del label
    before, colon, _ = named.rpartition(":")
    return before if colon else named


_MOST_BYTES = 2**26
"""Lines of one file."""


class Code(NamedTuple):
    """Code that others need to measure functions again."""

    files: dict[str, bytes]
    """By path below the folder of code."""
    requires: list[str]
    """Distributions that the functions import."""


def not_repeatable(runs: Iterable[Run], code: Code | None) -> dict[str, Reason]:
    """Return by case why others cannot measure it again from the snapshot."""
    found: dict[str, Reason] = {}
    for run in runs:
        own = [case for case in run.cases if case.protocol.own is not None]
        if not own:
            continue
        why = _request_of(run.files).why_not
        if why is None and code is None:
            why = because("code_left_out")
        found |= {case.case: why for case in own if why is not None}
    return found


def collect(runs: Sequence[Run], folder: Path, data: Sequence[Path]) -> Code:
    """Return the functions of runs, from the folder that they were measured in.

    Args:
        runs: Of a snapshot.
        folder: Where the bench ran: what targets are named from.
        data: Files and folders that the functions read.

    Raises:
        UsageError: a file is not there, is not the one that was measured, or may not go in.
    """
    folder = folder.resolve()
    files: dict[str, bytes] = {}
    for run in runs:
        own = [case.protocol for case in run.cases if case.protocol.own is not None]
        if not own:
            continue
        bench = _request_of(run.files)
        if bench.why_not is not None:
            raise RefusedError(because("own_functions", bench.why_not, case=run.folder))
        hashes = {protocol.workload_sha256 for protocol in own}
        for path in sorted({_file_of(folder, target) for target in bench.targets}):
            found = _read(folder, folder / path)
            if hashlib.sha256(found).hexdigest() not in hashes:
                text = f"{path} is not the file that {run.folder} was measured with; measure again"
                raise UsageError(text)
            files |= _with_imports(folder, path)
    if not files:
        text = "--with-code: none of these runs is of functions of your own; leave it out"
        raise UsageError(text)
    modules = {name for path in files for name in _imported_tops(files[path], path)}
    for named in data:
        for file in _listed(folder / named):
            files[file.relative_to(folder).as_posix()] = _read(folder, file)
    _refuse_private(files)
    return Code(dict(sorted(files.items())), _distributions(modules, files))


def _file_of(folder: Path, target: str) -> str:
    """Return the file of a target such as ``fit=fit.py:fit``, or of a module in the folder.

    Raises:
        UsageError: it is a module that lies elsewhere.
    """
    place = _file_or_module(target)
    if place.endswith(".py"):
        return place
    below = place.replace(".", "/")
    for path in (f"{below}.py", f"{below}/__init__.py"):
        if (folder / path).is_file():
            return path
    text = f"--with-code: {place} is no module in {folder}; name its file in the bench, or leave"
    raise UsageError(f"{text} --with-code out: whoever has the package can measure it")


def _read(folder: Path, path: Path) -> bytes:
    """Return a file that may go into a snapshot.

    Raises:
        UsageError: it lies outside the folder, is a link, or no file that can be read.
    """
    given = Path(os.path.normpath(path))
    if not given.is_relative_to(folder):
        text = f"--with-code: {path} lies outside {folder}; run it in the folder that has all files"
        raise UsageError(text)
    below = given.relative_to(folder)
    steps = [folder.joinpath(*below.parts[: n + 1]) for n in range(len(below.parts))]
    link = next((step for step in steps if step.is_symlink()), None)
    if link is not None:
        text = f"--with-code: {link} is a link; put the file itself there"
        raise UsageError(text)
    _refuse_name(below)
    try:
        if not given.is_file():
            text = f"--with-code: {below.as_posix()} is not there: run it in the folder that the"
            raise UsageError(f"{text} bench ran in, {folder} is none")
        data = given.read_bytes()
    except OSError as error:
        text = f"--with-code: {below.as_posix()} cannot be read: {error.strerror}"
        raise UsageError(text) from None
    if len(data) > _MOST_BYTES:
        text = f"--with-code: {below.as_posix()} has more than {_MOST_BYTES // 2**20} MB; name less"
        raise UsageError(text)
    return data


def _refuse_name(below: Path) -> None:
    path = f"{layout.CODE}/{below.as_posix()}"
    if any(part.startswith(".") for part in below.parts) or not all(map(is_plain, path)):
        text = f"--with-code: {below.as_posix()} has a name that no file of a snapshot has"
        raise UsageError(f"{text}; give it another")
    if layout.part_of(path) is None or storage.refused_name(path) is not None:
        text = f"--with-code: {below.as_posix()} lies too deep, or has a name that no file of a"
        raise UsageError(f"{text} snapshot has")


def _listed(path: Path) -> Iterator[Path]:
    """Yield a file that was named, or those below a folder that was."""
    if path.is_symlink() or not path.is_dir():
        yield path
        return
    for one in sorted(path.rglob("*")):
        hidden = any(part.startswith((".", "__pycache__")) for part in one.parts[-1:])
        if not hidden and "__pycache__" not in one.parts and (one.is_symlink() or one.is_file()):
            yield one


def _with_imports(folder: Path, path: str) -> dict[str, bytes]:
    """Return a file of Python and those that it imports, as far as they lie in the folder."""
    first = folder / path
    found: dict[str, bytes] = {}
    waiting = [first]
    while waiting:
        file = waiting.pop()
        name = file.relative_to(folder).as_posix()
        if name in found:
            continue
        found[name] = _read(folder, file)
        waiting += _imports(found[name], file, (first.parent, folder), folder)
    return found


def _imports(data: bytes, file: Path, roots: Sequence[Path], folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that a file of Python imports."""
    for level, module, names in _statements(data, file.name):
        places = file.parents[level - 1 : level] if level else roots
        for place in places:
            if place.is_relative_to(folder):
                yield from _modules(place, module.split(".") if module else [], names)


def _modules(place: Path, parts: Sequence[str], names: Sequence[str]) -> Iterator[Path]:
    """Yield the files of a module, of the packages it is in, and of submodules that are named."""
    here = place
    for part in parts:
        for one in (here / f"{part}.py", here / part / "__init__.py"):
            if one.is_file():
                yield one
        here /= part
    for name in names:
        for one in (here / f"{name}.py", here / name / "__init__.py"):
            if one.is_file():
                yield one


def _statements(data: bytes, name: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the imports of a file: level, module, and names that may be submodules."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        if name.endswith(".py"):
            text = f"--with-code: {name} is no Python that can be read here"
            raise UsageError(text) from None
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", [one.name for one in node.names]


def _imported_tops(data: bytes, path: str) -> Iterator[str]:
    if path.endswith(".py"):
        for level, module, _ in _statements(data, path):
            if module and not level:
                yield module.partition(".")[0]


def _distributions(modules: Iterable[str], files: Iterable[str]) -> list[str]:
    """Return the distributions of modules that are neither Python's nor among the files."""
    own = {part for path in files for part in Path(path).with_suffix("").parts}
    installed = metadata.packages_distributions()
    found: set[str] = set()
    for name in set(modules) - own - sys.stdlib_module_names - {"coldwarm"}:
        found |= {canonicalize_name(one) for one in installed.get(name, [name])}
        for backend in registry.backends().values():
            if backend.modules[:1] == (name,):
                found |= {canonicalize_name(one) for one in backend.distributions}
    return sorted(one for one in found if re.fullmatch(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?", one))


def _refuse_private(files: dict[str, bytes]) -> None:
    """Refuse files that hold what would be masked elsewhere: masked, they would be other code."""
    texts: dict[str, bytes] = {}
    for path, data in files.items():
        try:
            data.decode()
        except UnicodeDecodeError:
            continue
        texts |= {f"{path}:{n}": line for n, line in enumerate(data.splitlines(), 1)}
    found = content.private_in(texts)
    if found:
        text = f"--with-code: {found[0]} holds something private, such as a home folder or a token"
        raise UsageError(f"{text}; take it out, and measure again")
