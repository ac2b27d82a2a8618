"""The measured environment as ``pylock.toml`` (PEP 751) and plain pins: written, and read again."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import metadata
from typing import TYPE_CHECKING, NamedTuple

from packaging.markers import default_environment
from packaging.pylock import Pylock, PylockUnsupportedVersionError, PylockValidationError
from packaging.requirements import Requirement
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from coldwarm import registry
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import UsageError
from coldwarm.publish import layout
from coldwarm.publish.storage import read_limited, sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from packaging.pylock import Package

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import Measured
    from coldwarm.publish.content import Content


OWN = "coldwarm"
_NOT_LOCKED = {"pip"}
"""Installs the others, and is no part of what was measured."""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")


class Wheel(NamedTuple):
    """A file that an index offers."""

    name: str
    """Of the file."""
    url: str
    """Without user information, query and fragment; empty for a file of a folder here."""
    sha256: str


def pins(content: Content) -> dict[str, str]:
    """Return the distributions that all measured processes saw, with their versions.

    What a measured process says of a framework goes before what is installed beside the harness,
    since a function may have an interpreter of its own.

    Raises:
        UsageError: two runs had different versions, so no one environment is all of theirs.
    """
    found: dict[str, str] = {}
    told = [
        (r.environment, [o.versions for c in r.cases for o in c.observations])
        for r in content.all_runs
    ]
    told += [
        (one.environment, [result.versions for result in one.index.results])
        for one in content.verdicts
        if one.environment is not None
    ]
    for environment, versions in told:
        for name, version in _distributions_of(environment, versions).items():
            if found.setdefault(name, version) != version:
                text = f"the runs were measured with {name} {found[name]} and {version}"
                raise UsageError(f"{text}: make a snapshot for each of them")
    return dict(sorted(found.items()))


def _distributions_of(
    environment: Environment, told: Iterable[Mapping[str, str]]
) -> dict[str, str]:
    installed = {canonicalize_name(n): v for n, v in environment.distributions.items()}
    for versions in told:
        for name, version in versions.items():
            # A framework tells its version without the part that says which build it is.
            known = installed.get(canonicalize_name(name), "")
            if name != "python" and known.partition("+")[0] != version.partition("+")[0]:
                installed[canonicalize_name(name)] = version
    return {
        name: version
        for name, version in installed.items()
        if name not in _NOT_LOCKED and version != "unknown"
        # What was masked names nothing that could be installed.
        if _NAME.fullmatch(name) and _VERSION.fullmatch(version)
    }


def requirements(pinned: Mapping[str, str], wheel: str | None) -> str:
    """Return the distributions as ``pip install -r`` takes them, without hashes."""
    lines = [f"{name}=={version}" for name, version in pinned.items() if name != OWN]
    if wheel is not None:
        lines.append(f"./{wheel}")
    elif OWN in pinned:
        lines.append(f"# and coldwarm {pinned[OWN]}, which is in no index")
    return "\n".join(lines) + "\n"


def pylock(
    pinned: Mapping[str, str],
    environment: Environment,
    found: Mapping[str, Wheel],
    wheel: tuple[str, bytes] | None,
    requires: Sequence[str] = (),
) -> tuple[str, list[str]]:
    """Return the lock, and the names of distributions of which it has no wheel.

    It has the wheels that fit the measured interpreter.

    Args:
        pinned: Normalised names with their versions.
        environment: Where the runs were measured.
        found: The wheel of each distribution, as the user's index has it.
        wheel: Path in the snapshot and bytes of the harness's own wheel, if it is there.
        requires: What functions in the snapshot import.
    """
    python = ".".join(environment.python.version.split(".")[:2])
    lines = [
        "# The environment that the figures of this snapshot were measured in. Whoever installs",
        "# it, or replicates the snapshot, runs code that its maker has chosen.",
        'lock-version = "1.0"',
        f"environments = [{_quoted(_marker(environment, python))}]",
        f"requires-python = {_quoted(f'=={python}.*')}",
        'created-by = "coldwarm"',
    ]
    missing = []
    for name, version in pinned.items():
        wheel_ = found.get(name)
        if name == OWN and wheel is not None:
            lines += _package(name, version, _own_wheel(*wheel))
        elif name == OWN or wheel_ is None or not fits(wheel_.name, environment):
            missing.append(name)
        else:
            lines += _package(name, version, [_wheel(wheel_)])
    if requires:
        lines += ["", "[tool.coldwarm]", f"code-requires = {json.dumps(list(requires))}"]
    return "\n".join(lines) + "\n", missing


def _marker(environment: Environment, python: str) -> str:
    machine = environment.cpu.architecture
    system = "sys_platform == 'linux'" if "glibc" in (environment.system.libc or "") else ""
    parts = (system, f"platform_machine == '{machine}'", f"python_version == '{python}'")
    return " and ".join(part for part in parts if part)


def fits(file: str, environment: Environment) -> bool:
    """Say whether a wheel can be installed where a run was measured, as far as its name tells."""
    parts = file.removesuffix(".whl").split("-")
    if len(parts) < 5:  # noqa: PLR2004 - name, version, Python, ABI, platform
        return False
    pythons, abis, platforms = (part.split(".") for part in parts[-3:])
    major, minor = (int(part) for part in environment.python.version.split(".")[:2])
    threads = "t" if environment.python.free_threaded else ""
    own = f"cp{major}{minor}"
    fitting = any(
        (python == own and abi in {f"{own}{threads}", "none"})
        or (abi == "abi3" and not threads and _is_older(python, major, minor))
        or (abi == "none" and python in {f"py{major}", f"py{major}{minor}"})
        for python in pythons
        for abi in abis
    )
    machine = environment.cpu.architecture
    return fitting and any(
        one == "any" or (one.startswith(("manylinux", "linux")) and one.endswith(f"_{machine}"))
        for one in platforms
    )


def _is_older(python: str, major: int, minor: int) -> bool:
    found = re.fullmatch(r"cp(\d)(\d+)", python)
    return found is not None and int(found[1]) == major and int(found[2]) <= minor


def _package(name: str, version: str, wheels: Iterable[str]) -> Iterator[str]:
    yield ""
    yield "[[packages]]"
    yield f"name = {_quoted(name)}"
    yield f"version = {_quoted(version)}"
    yield "wheels = ["
    yield from (f"    {one}," for one in wheels)
    yield "]"


def _wheel(wheel: Wheel) -> str:
    hashes = f"hashes = {{sha256 = {_quoted(wheel.sha256)}}}"
    place = f"url = {_quoted(wheel.url)}" if wheel.url else f"path = {_quoted(wheel.name)}"
    return f"{{name = {_quoted(wheel.name)}, {place}, {hashes}}}"


def _own_wheel(path: str, data: bytes) -> list[str]:
    name, sha256 = path.rpartition("/")[2], sha256_of(data)
    hashes = f"hashes = {{sha256 = {_quoted(sha256)}}}"
    return [f"{{name = {_quoted(name)}, path = {_quoted(path)}, size = {len(data)}, {hashes}}}"]


def _quoted(text: str) -> str:
    """Return a text as TOML has it: as in JSON, with one control character more escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


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


def read_pins(folder: Path) -> dict[str, Pinned]:
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
    tool = (_read_lock(folder).tool or {}) if (folder / layout.LOCK).is_file() else {}
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
    lock = _read_lock(folder)
    found: dict[tuple[str, Version], tuple[str, ...]] = {}
    for package in lock.packages:
        key, sha256s = _wheel_hashes(package)
        if any(key[0] == other for other, _ in found):
            raise _not_plain(f"{package.name} twice")
        found[key] = sha256s
    return found


def _read_lock(folder: Path) -> Pylock:
    try:
        document = tomllib.loads(read_limited(folder, layout.LOCK, _MOST_OF_LOCK).decode())
        return Pylock.from_dict(document)
    except (ValueError, PylockValidationError, PylockUnsupportedVersionError) as error:
        raise _not_plain(f"{type(error).__name__}: {error}") from None


def _wheel_hashes(package: Package) -> tuple[tuple[str, Version], tuple[str, ...]]:
    """Return what is taken from an entry of a lock: one version, and the hashes of its wheels."""
    others = ("vcs", "directory", "archive", "sdist", "marker", "index")
    other = next((name for name in others if getattr(package, name)), None)
    sha256s = tuple(wheel.hashes.get("sha256", "") for wheel in package.wheels or ())
    if other is not None:
        raise _not_plain(f"{package.name} with {other}")
    if package.version is None or not sha256s or not all(map(_SHA256.fullmatch, sha256s)):
        raise _not_plain(f"{package.name} without a version, or a wheel without its SHA-256")
    return (package.name, package.version), sha256s


class Required(NamedTuple):
    """A distribution with its extras."""

    name: str
    extras: frozenset[str] = frozenset()


def required_by_runs(runs: Iterable[Measured], *, known: bool = True) -> set[str]:
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


def _applying(
    requirements: Iterable[Requirement], extras: frozenset[str], environment: Mapping[str, str]
) -> set[Required]:
    return {
        Required(canonicalize_name(one.name), frozenset(one.extras))
        for one in requirements
        if one.marker is None
        or any(one.marker.evaluate({**environment, "extra": each}) for each in ("", *extras))
    }


def needed_pins(roots: Iterable[str], pins: Mapping[str, str]) -> dict[str, str]:
    """Return the pins that coldwarm and others need, as what is installed here says it.

    All of them, where one that is needed is not installed here as it is pinned: then nothing tells
    what it requires.

    Args:
        roots: Normalised names that are needed besides what coldwarm requires.
        pins: Normalised names with their versions.
    """
    environment = {name: str(value) for name, value in default_environment().items()}
    seen: set[Required] = set()
    waiting = {Required(name) for name in (OWN, *roots) if name == OWN or name in pins}
    while waiting:
        seen |= waiting
        found: set[Required] = set()
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
