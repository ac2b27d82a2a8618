"""The folder of results that are measured one after the other: each is written as it ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from coldwarm import __version__
from coldwarm.clock import Clock
from coldwarm.contracts.catalogue import ClaimResults, PatternResults
from coldwarm.contracts.files import codec
from coldwarm.errors import RunDirectoryError, storage_error
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.machine import environment
from coldwarm.runner.results import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path


class Result(Protocol):
    """What both kinds of results have."""

    @property
    def measured_at(self) -> str:
        """When it was measured."""


R = TypeVar("R", bound=Result)
K = TypeVar("K", PatternResults, ClaimResults)


@dataclass
class Kept(Generic[R, K]):
    """The results of a folder, by id."""

    folder: Path
    index: str
    kind: type[K]
    clock: Clock = field(default_factory=Clock)
    results: dict[str, R] = field(default_factory=dict)
    started_at: str = ""
    _before_s: float = 0.0
    _began_s: float = field(default_factory=time.perf_counter)

    def begin(self, name_of: Callable[[R], str], *, resume: bool) -> None:
        """Take up what is there, or begin.

        Raises:
            RunDirectoryError: the folder holds something else, or has results and is not resumed.
            ContractError: the index does not keep its contract.
        """
        index = self.folder / self.index
        self.started_at = self.clock.date()
        if index.exists():
            if not resume:
                text = f"{self.folder} holds results; give --resume, or another folder"
                raise RunDirectoryError(text)
            earlier = codec.load_as(self.kind, index)
            self.started_at, self._before_s = earlier.started_at, earlier.wall_s
            self.results = {name_of(one): one for one in cast("list[R]", earlier.results)}
        elif not resume and self.folder.exists() and any(self.folder.iterdir()):
            text = f"{self.folder} is not empty; give another folder"
            raise RunDirectoryError(text)

    def fill(
        self,
        wanted: Mapping[str, str],
        sha256_of: Callable[[R], str],
        one: Callable[[str], R],
        told: Callable[[R], None],
    ) -> tuple[K, bool]:
        """Measure what is missing, and write the index after each.

        ``wanted`` has the hash of the file of each id: what was measured of another is missing.
        Returns all that there is now, and whether measuring was interrupted.

        Raises:
            StorageError: a file could not be written.
        """
        finished = False
        try:
            for name, sha256 in wanted.items():
                known = self.results.get(name)
                if known is None or sha256_of(known) != sha256:
                    self.results[name] = one(name)
                    self.write(finished=False)
                told(self.results[name])
            finished = True
        except KeyboardInterrupt:
            pass
        return self.write(finished=finished), not finished

    def write(self, *, finished: bool) -> K:
        """Write the index and return it.

        Raises:
            StorageError: it could not be written.
        """
        results: Iterable[R] = self.results.values()
        made = self.kind(
            started_at=self.started_at,
            finished_at=self.clock.date() if finished else None,
            complete=finished,
            harness_version=__version__,
            harness_sha256=harness_sha256(),
            results=list(results),  # type: ignore[arg-type]
            wall_s=self._before_s + time.perf_counter() - self._began_s,
        )
        path = self.folder / self.index
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_bytes(codec.encode(made))
            path.with_suffix(".part").replace(path)
            surroundings = self.folder / ENVIRONMENT
            if not surroundings.exists():
                surroundings.write_bytes(codec.encode(environment.collect()))
        except OSError as error:
            raise storage_error(path, error) from error
        return made
