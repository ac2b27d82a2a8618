"""The folder of results that are measured one after the other: each is written as it ends."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar, cast

from coldwarm import __version__
from coldwarm.clock import Clock
from coldwarm.contracts import codec
from coldwarm.contracts.catalogue import ClaimResults, PatternResults
from coldwarm.contracts.environment import ENVIRONMENT, Environment, differences
from coldwarm.errors import ResumeError, RunDirectoryError, storage_error
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.machine import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path


class Result(Protocol):
    """What both kinds of results have."""

    @property
    def measured_at(self) -> str:
        """When it was measured."""


class Wanted(NamedTuple):
    """A pattern or a claim that is to be measured."""

    sha256: str
    """Of its file: what was measured of another is missing."""
    planned_s: float
    """What measuring it takes, as far as that is known before."""


class Begun(NamedTuple):
    """What is measured now."""

    name: str
    number: int
    """Its place among all, from 1."""
    of: int
    left_s: float
    """Of all that is missing, this one included: an estimate."""


_R = TypeVar("_R", bound=Result)
_K = TypeVar("_K", PatternResults, ClaimResults)


@dataclass
class _Pace:
    """How long measuring takes, compared with what was planned."""

    planned_s: float = 0.0
    took_s: float = 0.0

    @contextmanager
    def timed(self, planned_s: float) -> Iterator[None]:
        """Take the time of what was planned to take so long."""
        began_s = time.perf_counter()
        yield
        self.planned_s += planned_s
        self.took_s += time.perf_counter() - began_s

    def left_s(self, planned_s: Iterable[float]) -> float:
        """Return how long the rest takes, if it goes on as so far."""
        return sum(planned_s) * (self.took_s / self.planned_s if self.planned_s else 1.0)


@dataclass
class Kept(Generic[_R, _K]):
    """The results of a folder, by id."""

    folder: Path
    index: str
    kind: type[_K]
    begun: Callable[[Begun], None] = lambda _: None
    """Is told what is measured next."""
    clock: Clock = field(default_factory=Clock)
    results: dict[str, _R] = field(default_factory=dict)
    started_at: str = ""
    _before_s: float = 0.0
    _began_s: float = field(default_factory=time.perf_counter)

    def begin(self, name_of: Callable[[_R], str], *, resume: bool) -> None:
        """Take up what is there, or begin.

        Raises:
            RunDirectoryError: the folder holds something else, or has results and is not resumed.
            ResumeError: it was begun on another machine, or with other packages.
            ContractError: the index does not keep its contract.
        """
        index = self.folder / self.index
        self.started_at = self.clock.date()
        if index.exists():
            if not resume:
                text = f"{self.folder} holds results; give --resume, or another folder"
                raise RunDirectoryError(text)
            self._refuse_elsewhere()
            earlier = codec.load_as(self.kind, index)
            self.started_at, self._before_s = earlier.started_at, earlier.wall_s
            self.results = {name_of(one): one for one in cast("list[_R]", earlier.results)}
        elif not resume and self.folder.exists() and any(self.folder.iterdir()):
            text = f"{self.folder} is not empty; give another folder"
            raise RunDirectoryError(text)

    def _refuse_elsewhere(self) -> None:
        """Refuse to go on where results would be of two environments.

        Raises:
            ResumeError: this one is another than that of the results.
        """
        file = self.folder / ENVIRONMENT
        if not file.exists():
            return
        before = codec.load_as(Environment, file)
        changed = [
            f"{d.name}: {d.a} became {d.b}" for d in differences(before, environment.collect())
        ]
        if changed:
            text = f"this cannot be resumed: {'; '.join(changed[:4])} since it was begun;"
            raise ResumeError(f"{text} put it back, or begin in another --out-dir")

    def fill(
        self,
        wanted: Mapping[str, Wanted],
        sha256_of: Callable[[_R], str],
        one: Callable[[str], _R],
        told: Callable[[_R], None],
    ) -> tuple[_K, bool]:
        """Measure what is missing, and write the index after each.

        Returns all that there is now, and whether measuring was interrupted.

        Raises:
            StorageError: a file could not be written.
        """
        finished = False
        missing = {
            name: what.planned_s
            for name, what in wanted.items()
            if name not in self.results or sha256_of(self.results[name]) != what.sha256
        }
        pace = _Pace()
        try:
            for number, name in enumerate(wanted, start=1):
                if name in missing:
                    left_s = pace.left_s(missing.values())
                    self.begun(Begun(name, number, len(wanted), left_s))
                    with pace.timed(missing.pop(name)):
                        self.results[name] = one(name)
                    self.write(finished=False)
                told(self.results[name])
            finished = True
        except KeyboardInterrupt:
            pass
        return self.write(finished=finished), not finished

    def write(self, *, finished: bool) -> _K:
        """Write the index and return it.

        Raises:
            StorageError: it could not be written.
        """
        results: Iterable[_R] = self.results.values()
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
