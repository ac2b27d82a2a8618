"""What a snapshot's lock asks to be installed, read as data.

Names, versions and hashes are taken from it and nothing else: no address, no path, no source that
would be built. So a lock can name no code that is not a wheel of the reader's own package index.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.publish import layout
from coldwarm.publish.opening import read_limited

if TYPE_CHECKING:
    from pathlib import Path

OWN = "coldwarm"
_MOST_BYTES = 2**24
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?", re.IGNORECASE)
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PIN = re.compile(r"(?P<name>[^=\s]+)==(?P<version>\S+)")


class Pinned(NamedTuple):
    """One distribution."""

    name: str
    version: str
    sha256s: tuple[str, ...]
    """Of its wheels; empty where the lock has none."""

    @property
    def requirement(self) -> str:
        """The line that pip takes."""
        hashes = "".join(f" --hash=sha256:{one}" for one in self.sha256s)
        return f"{self.name}=={self.version}{hashes}"


def pinned(folder: Path) -> list[Pinned]:
    """Return the distributions of a snapshot's environment, but its harness.

    Raises:
        RefusedError: the lock or the pins say anything else than such.
    """
    hashes = _hashes(folder) if (folder / layout.LOCK).is_file() else {}
    found = []
    for row in read_limited(folder, layout.PINS, _MOST_BYTES).decode().splitlines():
        if not row.strip() or row.startswith(("#", f"./{layout.HARNESS}/")):
            continue
        pin = _PIN.fullmatch(row.strip())
        if pin is None or not _is_plain(pin["name"], pin["version"]):
            raise RefusedError(because("lock_not_plain", text=row[:200]))
        if pin["name"] != OWN:
            key = pin["name"], pin["version"]
            found.append(Pinned(*key, hashes.get(key, ())))
    return found


def _hashes(folder: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the hashes of the wheels of each name and version in the lock."""
    document = tomllib.loads(read_limited(folder, layout.LOCK, _MOST_BYTES).decode())
    found = {}
    packages: Any = document.get("packages", [])
    try:
        for one in packages:
            key = str(one["name"]), str(one["version"])
            hashes = tuple(str(wheel["hashes"]["sha256"]) for wheel in one["wheels"])
            if not _is_plain(*key) or not all(map(_SHA256.fullmatch, hashes)):
                raise RefusedError(because("lock_not_plain", text=f"{key[0]} {key[1]}"))
            found[key] = hashes
    except (LookupError, TypeError) as error:
        text = f"{type(error).__name__}: {error}"
        raise RefusedError(because("lock_not_plain", text=text)) from None
    return found


def _is_plain(name: str, version: str) -> bool:
    return bool(_NAME.fullmatch(name) and _VERSION.fullmatch(version))
