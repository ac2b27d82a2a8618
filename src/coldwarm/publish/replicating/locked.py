"""What a snapshot's lock asks to be installed, read as data.

Names, versions and hashes are taken from it and nothing else: no address, no path, no source that
would be built. So a lock can name no code that is not a wheel of the reader's own package index.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from packaging.pylock import Pylock, PylockUnsupportedVersionError, PylockValidationError
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.publish import layout
from coldwarm.publish.opening import read_limited

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.pylock import Package

OWN = "coldwarm"
_MOST_BYTES = 2**24
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
    for row in read_limited(folder, layout.PINS, _MOST_BYTES).decode().splitlines():
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
        document = tomllib.loads(read_limited(folder, layout.LOCK, _MOST_BYTES).decode())
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
