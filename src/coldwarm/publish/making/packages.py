"""What a package index knows of a distribution: its wheels with their hashes.

The simple repository API is asked: as JSON (PEP 691), or as the older HTML.
"""

from __future__ import annotations

import hashlib
import json
import re
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit, urlunsplit

from coldwarm.contracts.reasons import because
from coldwarm.private.masking import masked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PYPI = "https://pypi.org/simple"
_PYTORCH = "https://download.pytorch.org/whl"
"""Its index holds one build for each kind of processor, in a folder named as its versions end."""
_PYTORCH_BUILD = re.compile(r"cpu|cu\d+|rocm[\d.]+|xpu")
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
_TIMEOUT_S = 20.0
_MOST_BYTES = 2**26
_AT_ONCE = 8


class Wheel(NamedTuple):
    """A file that an index offers."""

    name: str
    """Of the file."""
    url: str
    """Without user information, query and fragment."""
    sha256: str
    size_bytes: int | None


class UnreachableError(Exception):
    """An index gave no answer; ``reason`` says which and why."""

    def __init__(self, index: str, text: str) -> None:
        """Keep the reason; of an address, the host alone is told."""
        super().__init__(text)
        self.reason = because("index_silent", host=urlsplit(index).hostname or "?", text=text)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the address of a link."""
        href = dict(attrs).get("href")
        if tag == "a" and href:
            self.found.append(href)


def wheels(
    pins: Mapping[str, str], indexes: Sequence[str], folders: Sequence[Path] = ()
) -> dict[str, list[Wheel]]:
    """Return the wheels of each distribution at its version; none where no index has any.

    Args:
        pins: Normalised names with their versions.
        indexes: Addresses of simple repositories, asked in this order.
        folders: Where wheels lie whose index cannot be asked, but whose address is known.

    Raises:
        UnreachableError: an index cannot be asked at all.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda name: _of(name, pins[name], indexes, folders), pins)
        try:
            return dict(zip(pins, found, strict=True))
        except UnreachableError:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _of(name: str, version: str, indexes: Sequence[str], folders: Sequence[Path]) -> list[Wheel]:
    for index in indexes:
        if kept := [one for one in _asked(index, name) if _is_of(one.name, version)]:
            return kept
    local = version.partition("+")[2]
    if not _PYTORCH_BUILD.fullmatch(local):
        return []
    index = f"{_PYTORCH}/{local}"
    try:
        found = _asked(index, name)
    except UnreachableError:
        found = _lying(name, index, folders)
    return [one for one in found if _is_of(one.name, version)]


def _lying(name: str, index: str, folders: Sequence[Path]) -> list[Wheel]:
    """Return wheels of folders, with the addresses that files have in an index of PyTorch."""
    found = []
    for folder in folders:
        for file in sorted(folder.glob("*.whl")):
            if normalised(file.name.partition("-")[0]) == name:
                with file.open("rb") as opened:
                    sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
                url = f"{index}/{quote(file.name)}"
                found.append(Wheel(file.name, url, sha256, file.stat().st_size))
    return found


def normalised(name: str) -> str:
    """Return a distribution's name as indexes and lock files have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _asked(index: str, name: str) -> list[Wheel]:
    base = f"{index.rstrip('/')}/{name}/"
    try:
        request = urllib.request.Request(base, headers={"Accept": _ACCEPT})  # noqa: S310 - see ``is_web``
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - likewise
            data = answer.read(_MOST_BYTES)
            is_json = "json" in answer.headers.get("Content-Type", "")
    except urllib.error.HTTPError as error:
        if error.code in {403, 404}:
            return []
        raise UnreachableError(index, f"status {error.code}") from None
    except (OSError, ValueError) as error:
        raise UnreachableError(index, masked(str(getattr(error, "reason", error)))) from None
    try:
        return _from_json(base, json.loads(data)) if is_json else _from_html(base, data.decode())
    except (ValueError, LookupError, TypeError, AttributeError):
        raise UnreachableError(index, f"no list of files for {name}") from None


def is_web(address: str) -> bool:
    """Say whether an address is one of the web, which alone is asked."""
    return urlsplit(address).scheme in {"http", "https"}


def _from_json(base: str, document: Any) -> list[Wheel]:  # noqa: ANN401 - any JSON value
    return [
        Wheel(one["filename"], _plain(base, one["url"]), one["hashes"]["sha256"], one.get("size"))
        for one in document["files"]
        if one["filename"].endswith(".whl") and one["hashes"].get("sha256")
    ]


def _from_html(base: str, text: str) -> list[Wheel]:
    links = _Links()
    links.feed(text)
    found = []
    for link in links.found:
        address, fragment = urldefrag(link)
        name = unquote(address.rpartition("/")[2])
        hashed = re.fullmatch(r"sha256=([0-9a-f]{64})", fragment)
        if name.endswith(".whl") and hashed:
            found.append(Wheel(name, _plain(base, address), hashed[1], None))
    return found


def _plain(base: str, url: str) -> str:
    """Return the whole address of a file, without what could be a secret."""
    parts = urlsplit(urljoin(base, url))
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _is_of(file: str, version: str) -> bool:
    """Say whether a wheel is of a version; both as they are written, but for ``_`` and ``-``."""
    parts = unquote(file).split("-")
    return len(parts) > 1 and parts[1].replace("_", "-") == version.replace("_", "-")
