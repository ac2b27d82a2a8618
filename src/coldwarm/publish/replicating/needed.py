"""What of a snapshot's environment is installed: what coldwarm and the measured backends need.

Not all that its maker had. The names that one begins with are the reader's own: what this coldwarm
requires, and what its backends declare. From there on each wheel says what it requires; each is
taken by the hash of the lock, and none is asked for anything else than names.
"""

from __future__ import annotations

import io
import zipfile
from importlib import metadata
from typing import TYPE_CHECKING, NamedTuple

from packaging.markers import default_environment
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from coldwarm import registry
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.publish.replicating.locked import OWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.measured import Measured
    from coldwarm.publish.replicating.locked import Pinned

_MOST_BYTES = 2**22
"""Of what a wheel says of itself."""


class Asked(NamedTuple):
    """A distribution with its extras."""

    name: str
    extras: frozenset[str] = frozenset()


def of_runs(runs: Iterable[Measured], *, known: bool = True) -> set[str]:
    """Return the distributions of the backends and workloads that were measured, as known here.

    Args:
        runs: What was measured.
        known: Whether every backend has to be one that is known here.

    Raises:
        UsageError: there is no such backend here.
    """
    cases = [case for run in runs for case in run.cases.values() if case.protocol.own is None]
    names = {case.protocol.backend for case in cases}
    backends = registry.backends()
    for name in sorted(names - backends.keys()) if known else ():
        raise registry.unknown("backend", name, backends)
    found = {one for name in names & backends.keys() for one in backends[name].distributions}
    used = {registry.BACKENDS: names, registry.WORKLOADS: {one.protocol.workload for one in cases}}
    for group, wanted in used.items():
        for point in metadata.entry_points(group=group):
            if point.name in wanted and point.dist is not None:
                found.add(point.dist.name)
    normalised: set[str] = {canonicalize_name(one) for one in found}
    return normalised - {OWN}


def required(wheel: bytes, environment: Mapping[str, str], name: str = OWN) -> set[Asked]:
    """Return what a wheel requires, without its extras.

    Raises:
        RefusedError: it is no wheel of that name.
    """
    return _applying(_requirements(wheel, name), frozenset(), environment)


def _applying(
    requirements: Iterable[Requirement], extras: frozenset[str], environment: Mapping[str, str]
) -> set[Asked]:
    return {
        Asked(canonicalize_name(one.name), frozenset(one.extras))
        for one in requirements
        if one.marker is None
        or any(one.marker.evaluate({**environment, "extra": each}) for each in ("", *extras))
    }


def _requirements(wheel: bytes, name: str) -> list[Requirement]:
    try:
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            [entry] = [
                one
                for one in archive.infolist()
                if one.filename.count("/") == 1 and one.filename.endswith(".dist-info/METADATA")
            ]
            with archive.open(entry) as file:
                told = Metadata.from_email(file.read(_MOST_BYTES), validate=False)
        if canonicalize_name(told.name) == name:
            return list(told.requires_dist or ())
    except Exception as error:  # noqa: BLE001 - bytes of a stranger, read by two libraries
        text = f"{type(error).__name__}: {error}"
        raise RefusedError(because("no_such_wheel", name=name, text=text[:200])) from None
    raise RefusedError(because("no_such_wheel", name=name, text=f"it says {told.name!r}"))


def fetched(
    first: Iterable[Asked],
    packages: Mapping[str, Pinned],
    environment: Mapping[str, str],
    folder: Path,
    fetch: Callable[[Sequence[Pinned]], None],
) -> list[Pinned]:
    """Fetch what is needed into a folder; return it, in order of its names.

    What a wheel requires and the maker of the lock did not have is left out: it was measured
    without that.

    Args:
        first: What one begins with.
        packages: The lock, by name.
        environment: The values of markers in the interpreter that is to have it.
        folder: Where the wheels come to lie.
        fetch: Lays the wheels of distributions there, by their hashes.

    Raises:
        RefusedError: one has no hash, or its wheel is another's.
    """
    chosen: dict[str, list[Requirement]] = {}
    seen: set[Asked] = set()
    waiting = set(first)
    while waiting:
        seen |= waiting
        level = sorted({one.name for one in waiting} & packages.keys() - chosen.keys())
        refuse_unhashed(packages[name] for name in level)
        if level:
            fetch([packages[name] for name in level])
        chosen |= {name: _requirements(_wheel(folder, packages[name]), name) for name in level}
        waiting = {
            one
            for asked in waiting
            for one in _applying(chosen.get(asked.name, ()), asked.extras, environment)
        } - seen
    return [packages[name] for name in sorted(chosen)]


def of_pins(roots: Iterable[str], pins: Mapping[str, str]) -> dict[str, str]:
    """Return the pins that coldwarm and others need, as what is installed here says it.

    All of them, where one that is needed is not installed here as it is pinned: then nothing tells
    what it requires.

    Args:
        roots: Normalised names that are needed besides what coldwarm requires.
        pins: Normalised names with their versions.
    """
    environment = {name: str(value) for name, value in default_environment().items()}
    seen: set[Asked] = set()
    waiting = {Asked(name) for name in (OWN, *roots) if name == OWN or name in pins}
    while waiting:
        seen |= waiting
        found: set[Asked] = set()
        for asked in waiting:
            try:
                installed = metadata.distribution(asked.name)
            except metadata.PackageNotFoundError:
                return dict(pins)
            if pins.get(asked.name, installed.version) != installed.version:
                return dict(pins)
            requires = map(Requirement, installed.requires or ())
            found |= _applying(requires, asked.extras, environment)
        # What was not there when it was measured is not needed.
        waiting = {one for one in found - seen if one.name in pins}
    names = {one.name for one in seen}
    return {name: version for name, version in pins.items() if name in names}


def refuse_unhashed(packages: Iterable[Pinned]) -> None:
    """Refuse distributions of which the lock has no hash.

    Raises:
        RefusedError: one has none.
    """
    without = [str(one) for one in packages if not one.sha256s]
    if without:
        raise RefusedError(because("not_hashed", package_names=without))


def _wheel(folder: Path, package: Pinned) -> bytes:
    """Return the wheel of a distribution that was fetched.

    Raises:
        RefusedError: there is none.
    """
    for file in sorted(folder.glob("*.whl")):
        try:
            name, version, _, _ = parse_wheel_filename(file.name)
        except InvalidWheelFilename:
            continue
        if (name, version) == (package.name, package.version):
            return file.read_bytes()
    text = "no wheel of that name and version was fetched"
    raise RefusedError(because("no_such_wheel", name=package.name, text=text))
