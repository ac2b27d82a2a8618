"""Jobs of a cluster by submitit: ``submitit:slurm,partition=cpu``, or ``local`` and ``debug``.

Each run is a job of its own. On Slurm it has a node for itself (``--exclusive``).
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.errors import UsageError, shorten
from coldwarm.installing import require

if TYPE_CHECKING:
    from collections.abc import Callable

_CLUSTERS = ("slurm", "local", "debug")
_LONGEST_MIN = 240
_ONE_NODE = {"nodes", "tasks_per_node"}
"""Options with which a run would be measured several times."""
_WRITE = "submitit:slurm,partition=NAME,timeout_min=60"


class _SubmititJobs:
    """Places for jobs: on Slurm as many as there are runs, else one."""

    def __init__(self, executor: Any, folder: Path, n_places: int) -> None:  # noqa: ANN401 - submitit's own
        self._executor, self._folder, self._n_places = executor, folder, n_places
        self._jobs: list[Any] = []

    def machines(self) -> dict[str, str]:
        """Return the places, of which nobody knows before on which node they will be."""
        return {f"job-{number}": f"node-{number}" for number in range(1, self._n_places + 1)}

    def submit(self, machine: str, task: Callable[..., Any], *given: object) -> Any:  # noqa: ANN401 - as above
        """Send a task as a job.

        Raises:
            OSError: it is not taken.
        """
        del machine
        try:
            self._jobs.append(self._executor.submit(task, *given))
        except Exception as error:  # noqa: BLE001 - of any scheduler
            raise OSError(f"the job is not taken: {error}") from None
        return self._jobs[-1]

    def close(self) -> None:
        """Cancel the jobs that have not ended, and remove what they were given."""
        for one in self._jobs:
            with suppress(Exception):
                if self._executor.cluster != "debug" and not one.done():  # asking would run it
                    one.cancel(check=False)
        shutil.rmtree(self._folder, ignore_errors=True)


def opened(given: str, n_runs: int | None) -> _SubmititJobs:
    """Return places for jobs.

    Raises:
        UsageError: there is no such kind of cluster, or an option is none.
    """
    cluster, *options = given.split(",")
    if cluster not in _CLUSTERS:
        raise UsageError(f"--on submitit:{given:.40}: write submitit:slurm,partition=NAME")
    if cluster == "slurm" and n_runs is None:
        raise UsageError("--on submitit:slurm: nobody knows how many nodes are free; add --runs 3")
    named: dict[str, Any] = {"timeout_min": _LONGEST_MIN}
    for one in options:
        name, equals, value = one.partition("=")
        if not equals or name in _ONE_NODE:
            raise UsageError(f"--on submitit:{given:.40}: {one!r} is no option; write {_WRITE}")
        known = name in {"timeout_min", "cpus_per_task", "mem_gb", "gpus_per_node"}
        named[name if known else f"slurm_{name}"] = int(value) if value.isdigit() else value
    if cluster == "slurm":
        named.setdefault("slurm_exclusive", True)
    # Where other nodes find it, too, which a folder for temporary files is not.
    submitit = require("submitit", "machines")
    folder = Path(tempfile.mkdtemp(prefix=".coldwarm-jobs-", dir=Path.cwd()))
    try:
        executor = submitit.AutoExecutor(folder, cluster=cluster)
        executor.update_parameters(**named)
    except (NameError, TypeError, ValueError, RuntimeError, AssertionError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        text = f"--on submitit:{given:.40}: {shorten(str(error))}"
        raise UsageError(f"{text}; write {_WRITE}") from None
    return _SubmititJobs(executor, folder, n_runs if cluster == "slurm" and n_runs else 1)
