"""The workers of a Dask scheduler: ``dask:tcp://host:8786``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.errors import UsageError
from coldwarm.installing import require

if TYPE_CHECKING:
    from collections.abc import Callable

_WITHIN_S = 30


class _Task:
    """A task on its way to one worker."""

    def __init__(self, cluster: _Cluster, machine: str, future: Any) -> None:  # noqa: ANN401 - Dask has no types
        self._cluster, self._machine, self._future = cluster, machine, future

    def done(self) -> bool:
        """Say whether it has ended: Dask waits for ever for a worker that is gone."""
        return self._future.done() or self._machine not in self._cluster.machines()

    def result(self) -> Any:  # noqa: ANN401 - of any task
        """Return what it returned.

        Raises:
            ConnectionError: its worker is gone.
        """
        if not self._future.done():
            self._future.cancel(force=True)
            raise ConnectionError("the worker is gone")
        return self._future.result(timeout=_WITHIN_S)


class _Cluster:
    """The workers of a scheduler."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - as above
        self._client = client

    def machines(self) -> dict[str, str]:
        """Return the workers that are there now, by address."""
        workers = self._client.sync(self._client.scheduler.identity)["workers"]
        running = {name: told for name, told in workers.items() if told["status"] == "running"}
        return {address: told["host"] for address, told in running.items()}

    def submit(self, machine: str, task: Callable[..., Any], *given: object) -> _Task:
        """Send a task to one worker, and to no other."""
        pinned = {"workers": [machine], "allow_other_workers": False, "retries": 0}
        return _Task(self, machine, self._client.submit(task, *given, pure=False, **pinned))

    def close(self) -> None:
        """Leave the scheduler. A run that has begun goes on; the next one waits for its end."""
        self._client.close()


def opened(given: str, n_runs: int | None) -> _Cluster:
    """Return the workers of the scheduler at an address.

    Raises:
        UsageError: no scheduler answers, or it has no worker; or Dask is not there.
    """
    del n_runs
    distributed = require("distributed", "machines")
    try:
        client = distributed.Client(given, timeout=_WITHIN_S, set_as_default=False)
    except (OSError, ValueError) as error:
        text = f"--on dask:{given:.60}: no scheduler answers ({type(error).__name__})"
        raise UsageError(f"{text}; write dask:tcp://HOST:8786") from None
    cluster = _Cluster(client)
    if not cluster.machines():
        cluster.close()
        raise UsageError(f"--on dask:{given:.60}: the scheduler has no worker; start dask worker")
    return cluster
