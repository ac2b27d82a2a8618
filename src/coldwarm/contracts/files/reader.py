"""A stored result, read whole: the directory of a run, or the file of one case."""

from __future__ import annotations

import hashlib
from pathlib import Path

from coldwarm.contracts.answer import Answers
from coldwarm.contracts.environment import Environment
from coldwarm.contracts.files.codec import decode, decode_as, read_bytes
from coldwarm.contracts.files.faults import fault
from coldwarm.contracts.files.index import NAME, Index, index_in
from coldwarm.contracts.files.inside import OutsideError, inside
from coldwarm.contracts.measured import Measured
from coldwarm.contracts.result import CaseResult, SuiteResult
from coldwarm.errors import ContractError, UsageError


def read(path: Path) -> Measured:
    """Read a run's directory, its ``suite.json``, or the file of one case.

    Raises:
        UsageError: there is nothing, or nothing of that kind.
        ContractError: a file does not keep its contract, or is not the one that was indexed.
    """
    if path.is_dir():
        index = index_in(path)
        if index is None:
            text = f"{path} holds no {NAME}; name the directory of a finished run"
            raise UsageError(text)
        return _run(index)
    if not path.exists():
        text = f"{path}: no such file or directory; name a run's directory or the file of a case"
        raise UsageError(text)
    record = decode(read_bytes(path), str(path))
    if isinstance(record, SuiteResult):
        return _run(path)
    if isinstance(record, CaseResult):
        return _single(path, record)
    held = f"{path} holds no cases ({type(record).__name__})"
    text = f"{held}; name a run's directory or the file of a case"
    raise UsageError(text)


def index_path(measured: Measured) -> str:
    """Return the index of a run that was read."""
    return str(Path(measured.path) / NAME)


def _run(path: Path) -> Measured:
    """Read what an index names; the first fault that ``validate`` would find is raised."""
    index, folder = Index(path), path.parent
    records = {}
    for file, record, error in index.checked():
        if error is not None:
            raise error
        records[file] = record
    suite = index.suite
    if not isinstance(suite, SuiteResult):
        raise fault(str(path), 1, "schema_version", "is the index of published results alone")
    environment = records.pop(folder / suite.environment_path)
    cases = {c.case: (str(file), c) for file, c in records.items() if isinstance(c, CaseResult)}
    return Measured(
        path=str(folder),
        suite=suite,
        cases={name: case for name, (_, case) in cases.items()},
        files={name: file for name, (file, _) in cases.items()},
        environment_sha256=suite.environment_sha256,
        environment=environment if isinstance(environment, Environment) else None,
        answers=next((one for one in records.values() if isinstance(one, Answers)), None),
    )


def _inside(folder: Path, name: str) -> Path:
    try:
        return inside(folder, name)
    except OutsideError as error:
        raise fault(str(folder), None, None, str(error)) from None


def _names(index: Path, file: Path) -> bool:
    """Say whether there is the index of a run that names a file; any folder may hold another."""
    try:
        suite = decode(read_bytes(index), str(index)) if index.exists() else None
        named = [row.path for row in suite.cases] if isinstance(suite, SuiteResult) else []
        return any((index.parent / name).resolve() == file.resolve() for name in named)
    except (ContractError, OSError, ValueError, RuntimeError):
        return False


def _single(path: Path, case: CaseResult) -> Measured:
    """Take a case alone; where it still lies in its run, that must be whole, as for the run."""
    index = path.resolve().parent.parent / NAME
    if _names(index, path):
        _run(index)
    environment = None
    folder = path.resolve().parent.parent
    if (folder / "environment.json").exists():
        beside = _inside(folder, "environment.json")
        data = read_bytes(beside)
        if hashlib.sha256(data).hexdigest() == case.environment_sha256:
            environment = decode_as(Environment, data, str(beside))
    return Measured(
        path=str(path),
        suite=None,
        cases={case.case: case},
        files={case.case: str(path)},
        environment_sha256=case.environment_sha256,
        environment=environment,
    )
