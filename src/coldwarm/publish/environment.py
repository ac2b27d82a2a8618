"""The environment of a snapshot, made again from its lock: only what is needed, by its hashes."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from typing import TYPE_CHECKING, Literal, NamedTuple

from packaging.markers import default_environment
from packaging.metadata import Metadata
from packaging.pylock import Pylock, PylockUnsupportedVersionError, PylockValidationError
from packaging.requirements import Requirement
from packaging.utils import (
    InvalidName,
    InvalidWheelFilename,
    canonicalize_name,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from coldwarm import registry
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.snapshot import RebuiltEnvironment
from coldwarm.publish import layout, wheel
from coldwarm.publish.opening import read_limited
from coldwarm.runner.harness import harness_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from packaging.pylock import Package

    from coldwarm.contracts.result import Measured


OWN = "coldwarm"
_MOST_OF_LOCK = 2**24
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PIN = re.compile(r"(?P<name>[^=\s]+)==(?P<version>\S+)")
_SHOWN = 200


class Pinned(NamedTuple):
    """One distribution."""

    name: str
    """Normalised."""
    version: Version
    sha256s: tuple[str, ...]
    """Of its wheels; empty where the lock has none."""

    @property
    def requirement(self) -> str:
        """The line that pip takes."""
        hashes = "".join(f" --hash=sha256:{one}" for one in self.sha256s)
        return f"{self.name}=={self.version}{hashes}"

    def __str__(self) -> str:
        """Return name and version, as they are shown."""
        return f"{self.name} {self.version}"


def pinned(folder: Path) -> dict[str, Pinned]:
    """Return the distributions of a snapshot's environment by name, but its harness.

    Raises:
        RefusedError: the lock or the pins say anything else than such.
    """
    hashes = _hashes(folder) if (folder / layout.LOCK).is_file() else {}
    found: dict[str, Pinned] = {}
    for row in read_limited(folder, layout.PINS, _MOST_OF_LOCK).decode().splitlines():
        if not row.strip() or row.startswith(("#", f"./{layout.HARNESS}/")):
            continue
        pin = _PIN.fullmatch(row.strip())
        if pin is None:
            raise _not_plain(row)
        name, version = _plain(pin["name"], pin["version"])
        if name in found:
            raise _not_plain(f"{name} twice")
        if name != OWN:
            found[name] = Pinned(name, version, hashes.pop((name, version), ()))
    hashes = {key: value for key, value in hashes.items() if key[0] != OWN}
    if hashes:
        name, version = min(hashes)
        raise _not_plain(f"{name} {version}, which is not in {layout.PINS}")
    return found


def code_requires(folder: Path) -> set[str]:
    """Return the distributions that functions in the snapshot import, as its lock says it."""
    tool = (_lock(folder).tool or {}) if (folder / layout.LOCK).is_file() else {}
    own = tool.get(OWN)
    named = own.get("code-requires") if isinstance(own, dict) else None
    try:
        return {canonicalize_name(one, validate=True) for one in named or ()}
    except (InvalidName, TypeError):
        raise _not_plain(f"code-requires = {named}") from None


def _not_plain(text: str) -> RefusedError:
    return RefusedError(because("lock_not_plain", text=text[:_SHOWN]))


def _plain(name: str, version: str) -> tuple[str, Version]:
    try:
        return canonicalize_name(name, validate=True), Version(version)
    except (InvalidName, InvalidVersion):
        raise _not_plain(f"{name}=={version}") from None


def _hashes(folder: Path) -> dict[tuple[str, Version], tuple[str, ...]]:
    """Return the hashes of the wheels of each name and version in the lock."""
    lock = _lock(folder)
    found: dict[tuple[str, Version], tuple[str, ...]] = {}
    for package in lock.packages:
        key, sha256s = _of(package)
        if any(key[0] == other for other, _ in found):
            raise _not_plain(f"{package.name} twice")
        found[key] = sha256s
    return found


def _lock(folder: Path) -> Pylock:
    try:
        document = tomllib.loads(read_limited(folder, layout.LOCK, _MOST_OF_LOCK).decode())
        return Pylock.from_dict(document)
    except (ValueError, PylockValidationError, PylockUnsupportedVersionError) as error:
        raise _not_plain(f"{type(error).__name__}: {error}") from None


def _of(package: Package) -> tuple[tuple[str, Version], tuple[str, ...]]:
    """Return what is taken from an entry of a lock: one version, and the hashes of its wheels."""
    others = ("vcs", "directory", "archive", "sdist", "marker", "index")
    other = next((name for name in others if getattr(package, name)), None)
    sha256s = tuple(wheel.hashes.get("sha256", "") for wheel in package.wheels or ())
    if other is not None:
        raise _not_plain(f"{package.name} with {other}")
    if package.version is None or not sha256s or not all(map(_SHA256.fullmatch, sha256s)):
        raise _not_plain(f"{package.name} without a version, or a wheel without its SHA-256")
    return (package.name, package.version), sha256s


_MOST_OF_METADATA = 2**22
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
                told = Metadata.from_email(file.read(_MOST_OF_METADATA), validate=False)
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


_TIMEOUT_S = 3600.0
_SHOWN_OF_ERROR = 300
_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check")
_WHEELS = ("--no-deps", "--only-binary", ":all:", "--quiet")


def interpreter(version: str, named: str | None) -> str:
    """Return an interpreter of a version of Python, such as ``3.11.9``: its first two numbers.

    Args:
        version: What the snapshot was measured with.
        named: The one that was asked for; ``None``: this one, or one that is on the path.

    Raises:
        RefusedError: there is none.
    """
    wanted = ".".join(version.split(".")[:2])
    if named is not None:
        return named
    if wanted == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{wanted}") if wanted.replace(".", "").isdecimal() else None
    if found is None:
        raise RefusedError(because("no_such_python", version=wanted))
    return found


class Harness(NamedTuple):
    """The coldwarm that measures again."""

    name: str
    """Of its wheel."""
    data: bytes
    kind: Literal["same_sources", "wheel_of_snapshot"]


class Contents(NamedTuple):
    """What an environment is made of."""

    packages: Mapping[str, Pinned]
    """The lock, by name."""
    harness: Harness
    roots: Collection[str]
    """Names that are needed besides what the harness requires."""


def build(
    contents: Contents, folder: Path, python: str, told: Callable[[str], None]
) -> tuple[str, RebuiltEnvironment]:
    """Make the environment of a snapshot in a folder; return its interpreter and what it is.

    Every file is fetched by its hash, and read, before any is installed.

    Args:
        contents: What it is made of.
        folder: Where the environment is to lie; not there yet.
        python: The interpreter that it is made with.
        told: Is told what is being done, and the names of what is installed before it is.

    Raises:
        RefusedError: something cannot be installed.
    """
    packages, harness = contents.packages, contents.harness
    told(f"making a virtual environment in {folder}")
    _run([python, "-m", "venv", str(folder)], "venv")
    inside = str(folder.absolute() / "bin" / "python")
    markers = json.loads(_run([inside, *_PIP, "inspect", "--local"], "pip inspect"))["environment"]
    wheels = folder / "wheels"
    first = {Asked(name) for name in contents.roots}
    first |= required(harness.data, markers)
    chosen = fetched(
        first,
        packages,
        markers,
        wheels,
        lambda level: _pip(inside, folder, level, ["download", "--dest", str(wheels)]),
    )
    told(
        f"installing {len(chosen)} of the {len(packages)} distributions of its lock, by their"
        f" hash: {', '.join(map(str, chosen))}"
    )
    _pip(inside, folder, chosen, ["install", "--no-index", "--find-links", str(wheels)])
    file = folder / harness.name
    file.write_bytes(harness.data)
    install = ("install", *_WHEELS, "--no-index", str(file))
    _run([inside, *_PIP, *install], harness.name)
    rebuilt = RebuiltEnvironment(
        kind="fresh", locked=True, installed=[*map(str, chosen)], harness=harness.kind
    )
    return inside, rebuilt


def as_it_is(measured_by: Iterable[str]) -> RebuiltEnvironment:
    """Return what is known of the environment that runs this."""
    same = set(measured_by) == {harness_sha256()}
    return RebuiltEnvironment(
        kind="as_it_is", locked=False, harness="same_sources" if same else "other_sources"
    )


def harness_of(snapshot: Path, measured_by: set[str], *, with_wheel: bool) -> Harness:
    """Return the coldwarm that measured a snapshot: these sources, or what was brought.

    Args:
        snapshot: The folder of the snapshot, which was verified.
        measured_by: Hashes of the sources that measured it.
        with_wheel: Whether the wheel in the snapshot may be run.

    Raises:
        RefusedError: they are not at hand, or may not be run.
    """
    if measured_by == {harness_sha256()}:
        return Harness(wheel.NAME, wheel.build(), "same_sources")
    brought = sorted((snapshot / layout.HARNESS).glob("*.whl"))
    if not brought:
        raise RefusedError(because("harness_not_here"))
    if not with_wheel:
        raise RefusedError(because("harness_is_code", file=brought[0].name))
    path = f"{layout.HARNESS}/{brought[0].name}"
    return Harness(brought[0].name, read_limited(snapshot, path), "wheel_of_snapshot")


def _pip(python: str, folder: Path, packages: Sequence[Pinned], command: list[str]) -> None:
    """Let pip fetch or install exactly these wheels, by their hashes."""
    if not packages:
        return
    file = folder / "requirements.txt"
    file.write_text("".join(f"{one.requirement}\n" for one in packages), encoding="utf-8")
    how = (*command, *_WHEELS, "--require-hashes", "-r", str(file))
    _run([python, *_PIP, *how], f"pip {command[0]}")


def _run(command: Sequence[str], named: str) -> bytes:
    """Run a program to its end; return what it printed.

    Raises:
        RefusedError: it failed; has the last line that it wrote.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(  # noqa: S603 - programs of this machine, from a list
            command, capture_output=True, check=False, timeout=_TIMEOUT_S, env=kept
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        text = f"{type(error).__name__}: {error}"[:_SHOWN_OF_ERROR]
        raise RefusedError(because("environment_failed", program=named, text=text)) from None
    if done.returncode:
        written = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        errors = [one for one in written if one.startswith("ERROR")] or written or [""]
        text = errors[-1][:_SHOWN_OF_ERROR]
        raise RefusedError(because("environment_failed", program=named, text=text))
    return done.stdout
