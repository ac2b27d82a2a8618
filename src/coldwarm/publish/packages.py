"""What the user's own package index knows of distributions: their wheels with their hashes.

pip is asked, as the user has set it up, with its indexes, mirrors, proxies and credentials. It
installs nothing and builds nothing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from packaging.utils import canonicalize_name

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check")
_ASK = ("install", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:")
_QUIETLY = ("--quiet", "--retries", "1", "--timeout", "20", "--report", "-")
_TIMEOUT_S = 1800.0
_BROKEN = "connection broken by"
"""What pip says of an index that gives no answer."""
_SHOWN = 200


class Wheel(NamedTuple):
    """A file that an index offers."""

    name: str
    """Of the file."""
    url: str
    """Without user information, query and fragment; empty for a file of a folder here."""
    sha256: str


class UnreachableError(Exception):
    """No index gave an answer; ``reason`` says why."""

    def __init__(self, text: str) -> None:
        """Keep the reason."""
        super().__init__(text)
        self.reason = because("index_silent", text=text[:_SHOWN])


class Sources(NamedTuple):
    """Where wheels are looked for, besides where pip looks by itself."""

    indexes: Sequence[str] = ()
    """In place of pip's own; empty: pip's own."""
    folders: Sequence[Path] = ()


def wheels(pins: Mapping[str, str], python: str, sources: Sources) -> dict[str, Wheel]:
    """Return the wheel of each distribution at its version, as far as there is one.

    Args:
        pins: Normalised names with their versions.
        python: The version of the interpreter that is to have them, such as ``3.11``.
        sources: Where they are looked for.

    Raises:
        UnreachableError: pip is not there, or no index can be asked.
    """
    left = dict(pins)
    with tempfile.TemporaryDirectory(prefix="coldwarm-") as folder:
        file = Path(folder, "requirements.txt")
        while left:
            file.write_text("".join(f"{name}=={left[name]}\n" for name in left), encoding="utf-8")
            done = _asked([*_ASK, *_QUIETLY, *_options(python, sources), "-r", str(file)])
            if done.returncode == 0:
                return _reported(json.loads(done.stdout))
            for name in _unknown(done.stderr, left):
                del left[name]
    return {}


def _options(python: str, sources: Sources) -> list[str]:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    # Older versions of pip want a folder for another Python, though nothing is installed.
    given = (
        [] if python == here else ["--python-version", python, "--target", tempfile.gettempdir()]
    )
    for number, address in enumerate(sources.indexes):
        given += ["--extra-index-url" if number else "--index-url", address]
    for folder in sources.folders:
        given += ["--find-links", str(folder.absolute())]
    return given


def _asked(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Let pip answer.

    Raises:
        UnreachableError: it cannot be started, or gives no answer in time.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    line = [sys.executable, *_PIP, *command]
    try:
        return subprocess.run(  # noqa: S603 - pip, from a list
            line, capture_output=True, check=False, text=True, timeout=_TIMEOUT_S, env=kept
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise UnreachableError(f"{type(error).__name__}: {error}") from None


def _unknown(told: str, asked: Mapping[str, str]) -> list[str]:
    """Return which of the distributions pip has no wheel of, as what it wrote names them.

    Raises:
        UnreachableError: it failed otherwise.
    """
    lines = told.strip().splitlines() or ["pip ended without a word"]
    broken = next((line for line in lines if _BROKEN in line), None)
    errors = [line for line in lines if line.startswith("ERROR")]
    words = {word.strip(".,;()'") for line in errors for word in line.split()}
    found = [name for name, version in asked.items() if f"{name}=={version}" in words]
    if broken is not None or not found:
        raise UnreachableError(broken or (errors or lines)[-1])
    return found


def _reported(document: Any) -> dict[str, Wheel]:  # noqa: ANN401 - any JSON value
    found = {}
    for one in document["install"]:
        told = one["download_info"]
        sha256 = told.get("archive_info", {}).get("hashes", {}).get("sha256")
        name = unquote(urlsplit(told["url"]).path.rpartition("/")[2])
        if sha256 and name.endswith(".whl"):
            wheel = Wheel(name, _plain(told["url"]), sha256)
            found[str(canonicalize_name(one["metadata"]["name"]))] = wheel
    return found


def _plain(url: str) -> str:
    """Return the address of a file without what could be a secret; of one here, none."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_web(address: str) -> bool:
    """Say whether an address is one of the web, which alone is asked."""
    return urlsplit(address).scheme in {"http", "https"}


def is_set_up(sources: Sources | None) -> bool:
    """Say whether wheels are looked for at an index of the user's own choice."""
    if sources is None or sources.indexes:
        return sources is not None
    if any(name in os.environ for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")):
        return True
    try:
        return "index-url" in _asked(["config", "list"]).stdout
    except UnreachableError:
        return False


def hosts(lock: str) -> list[str]:
    """Return the hosts of the addresses in a lock."""
    return sorted(set(re.findall(r'url = "https?://([^/"]+)/', lock)))
