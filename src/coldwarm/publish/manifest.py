"""The published files of a snapshot: baseline manifest, index, and the results of all runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import UNSET

from coldwarm.contracts import codec, nextstat
from coldwarm.contracts.environment import fingerprint
from coldwarm.contracts.nextstat import Dataset
from coldwarm.contracts.reader import NAME
from coldwarm.contracts.snapshot import (
    BaselineManifest,
    Git,
    IndexedFile,
    ManifestHarness,
    ManifestProgram,
    ManifestResult,
    ManifestSource,
    SnapshotIndex,
)
from coldwarm.publish import layout
from coldwarm.publish.writing import sha256_of
from coldwarm.stats.outcome import published_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult
    from coldwarm.publish.runs import Content, Run, Verdicts

_REPOSITORY = "https://github.com/coldwarm/coldwarm"
UNKNOWN = "unknown"
"""Where the published contracts have no null."""


class Settings(NamedTuple):
    """How a snapshot is made."""

    deterministic: bool
    """Whether the same results give the same bytes again."""
    lock: Mapping[str, Any]
    """What the environment's lock holds and lacks."""
    wheel: str | None
    """The path of the harness's wheel in the snapshot; ``None``: it is not there."""


def published_files(content: Content) -> dict[str, bytes]:
    """Return the published results of all runs of suites, and the one index over them."""
    runs = content.runs
    files: dict[str, bytes] = {}
    rows: list[nextstat.Published] = []
    for run in runs:
        folder = f"{run.name}/" if len(runs) > 1 else ""
        for case in run.cases:
            for name, result in published_of(case, run.environment):
                data, path = codec.encode(result), f"{folder}{name}.json"
                files[f"{layout.PUBLISHED}/{path}"] = data
                rows.append(nextstat.Published(result, path, sha256_of(data)))
    deterministic = all(run.suite.deterministic for run in runs)
    index = nextstat.suite(rows, content.environments[0], deterministic=deterministic)
    files[f"{layout.PUBLISHED}/{nextstat.INDEX}"] = codec.encode(index)
    return files


def manifest(
    snapshot_id: str,
    content: Content,
    files: Mapping[str, bytes],
    settings: Settings,
) -> BaselineManifest:
    """Return the baseline manifest: what the figures belong to.

    Args:
        snapshot_id: The name of the snapshot.
        content: What it holds.
        files: The files of the snapshot so far, by path.
        settings: How it is made.
    """
    runs, first = content.runs, content.environments[0]
    index = f"{layout.PUBLISHED}/{nextstat.INDEX}"
    results = [ManifestResult(suite="ml", path=index, sha256=sha256_of(files[index]))]
    for run in runs:
        path = f"{run.folder}/{NAME}"
        sha256 = sha256_of(files[path])
        results.append(ManifestResult(suite=run.suite.suite, path=path, sha256=sha256))
    for one in content.verdicts:
        sha256 = sha256_of(files[one.path])
        results.append(ManifestResult(suite=one.kind, path=one.path, sha256=sha256))
    sources = harness_sha256(content)
    return BaselineManifest(
        snapshot_id=snapshot_id,
        deterministic=settings.deterministic,
        harness=ManifestHarness(repo=_REPOSITORY, git_commit=_commit(content)),
        nextstat=ManifestProgram(
            version=first.harness.version,
            wheel_sha256=sha256_of(files[settings.wheel]) if settings.wheel else UNSET,
            wheel_url=settings.wheel or UNSET,
            source=ManifestSource(repo=_REPOSITORY, git_commit=_commit(content)),
        ),
        environment={
            "python": first.python.version,
            "platform": first.platform,
            "harness_version": first.harness.version,
            "harness_sha256": sources,
            "lock": dict(settings.lock),
            "runs": {run.name: _of_run(run) for run in runs},
            **{one.kind: _of_verdicts(one) for one in content.verdicts},
        },
        datasets=_datasets(runs),
        results=results,
    )


def harness_sha256(content: Content) -> str:
    """Return the hash of the sources that measured; several, where results are of several."""
    hashes = {case.protocol.harness_sha256 for run in content.all_runs for case in run.cases}
    hashes |= {one.index.harness_sha256 for one in content.verdicts}
    return ", ".join(sorted(hashes)) or UNKNOWN


def _commit(content: Content) -> str:
    """Return the commit of the checkout that measured, where all was of one, unchanged."""
    found = [one.harness for one in content.environments]
    commits = {one.git_commit if one.git_dirty is False else None for one in found}
    commit = commits.pop() if len(commits) == 1 else None
    return commit or UNKNOWN


def _of_run(run: Run) -> dict[str, Any]:
    """Return versions, hardware, settings and cache policies of one run; nothing is null."""
    told = {
        "environment_sha256": run.suite.environment_sha256,
        "seed": run.suite.seed,
        "versions": dict(sorted(_versions(run.cases).items())),
        **_machine(run.environment),
        **_caches(run.cases),
    }
    return {name: _without_null(value) for name, value in told.items()}


def _of_verdicts(one: Verdicts) -> dict[str, Any]:
    """Return the same of patterns or claims, where all runs were measured in one place."""
    cases = [case for run in one.runs for case in run.cases]
    versions = {k: v for result in one.index.results for k, v in result.versions.items()}
    told = {
        "n_results": len(one.index.results),
        "n_runs": len(one.runs),
        "versions": dict(sorted(versions.items())),
        **({} if one.environment is None else _machine(one.environment)),
        **_caches(cases),
    }
    return {name: _without_null(value) for name, value in told.items()}


def _machine(environment: Environment) -> dict[str, Any]:
    return {
        "fingerprint": fingerprint(environment),
        "python": msgspec.to_builtins(environment.python),
        "cpu": msgspec.to_builtins(environment.cpu),
        "system": msgspec.to_builtins(environment.system),
        "limits": msgspec.to_builtins(environment.limits),
        "gpus": msgspec.to_builtins(environment.gpus or []),
        "variables": environment.variables,
    }


def _caches(cases: Sequence[CaseResult]) -> dict[str, Any]:
    return {
        "cache_policies": sorted({m for c in cases for m in c.protocol.cache_modes}),
        "caches": sorted({name for case in cases for name in case.protocol.caches or ()}),
    }


def _without_null(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Leave out what was not found out, and its reasons: the native environment has both."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if v is not None and k != "null_reasons"}
        return {key: _without_null(one) for key, one in kept.items()}
    return [_without_null(one) for one in value] if isinstance(value, list) else value


def _datasets(runs: Sequence[Run]) -> list[Dataset]:
    """Return the inputs of all workloads, each once."""
    found = {
        (case.dataset_id, case.dataset_sha256)
        for run in runs
        for case in run.cases
        if case.dataset_sha256 is not None
    }
    return [Dataset(id=id_, sha256=sha256) for id_, sha256 in sorted(found)]


def index(
    snapshot_id: str,
    generated_at: str,
    content: Content,
    files: Mapping[str, bytes],
    workflow: Mapping[str, str],
) -> SnapshotIndex:
    """Return the index of every file, sorted by path."""
    return SnapshotIndex(
        generated_at=generated_at,
        snapshot_id=snapshot_id,
        suite="+".join(
            [
                *sorted({run.suite.suite for run in content.runs}),
                *(one.kind for one in content.verdicts),
            ]
        ),
        git=Git(
            sha=_commit(content),
            ref=UNKNOWN,
            repository=_REPOSITORY,
        ),
        workflow=dict(workflow),
        artifacts=[
            IndexedFile(path=path, bytes=len(data), sha256=sha256_of(data))
            for path, data in sorted(files.items())
        ],
    )


def _versions(cases: Iterable[CaseResult]) -> dict[str, str]:
    """Return the versions that the processes of cases have told."""
    return {k: v for case in cases for seen in case.observations for k, v in seen.versions.items()}
