"""Wheels: those that an index knows, the one of this coldwarm, and what each requires."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from packaging.metadata import Metadata
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from coldwarm import __version__, installing
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import UsageError
from coldwarm.publish.lock import OWN, Pinned, Required, Wheel, _applying, refuse_unhashed
from coldwarm.runner.harness import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from packaging.requirements import Requirement


_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check")
_ASK = ("install", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:")
_QUIETLY = ("--quiet", "--retries", "1", "--timeout", "20", "--report", "-")
_TIMEOUT_S = 1800.0
_BROKEN = "connection broken by"
"""What pip says of an index that gives no answer."""
_SHOWN = 200


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


def find_wheels(pins: Mapping[str, str], python: str, sources: Sources) -> dict[str, Wheel]:
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


def hosts_in(lock: str) -> list[str]:
    """Return the hosts of the addresses in a lock."""
    return sorted(set(re.findall(r'url = "https?://([^/"]+)/', lock)))


OWN_WHEEL = f"coldwarm-{__version__}-py3-none-any.whl"
_INFO = f"coldwarm-{__version__}.dist-info"
_KEPT = {".py", ".json", ".typed", ".js", ".css", ".j2", ".typ"}
"""By suffix: other files in the folder of a checkout are none of the package's."""
_WHEEL = "Wheel-Version: 1.0\nGenerator: coldwarm\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def build_own_wheel() -> bytes:
    """Return the wheel.

    Raises:
        UsageError: this coldwarm is not installed, so that nothing says what it needs.
    """
    files = {
        f"coldwarm/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes()
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in _KEPT and not path.name.startswith(".") and path.is_file()
    }
    try:
        installed = metadata.distribution("coldwarm")
    except metadata.PackageNotFoundError:
        text = f"--with-wheel needs an installed coldwarm: {installing.advice()}"
        raise UsageError(text) from None
    for name in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        held = installed.read_text(name)
        if held:
            files[f"{_INFO}/{name}"] = held.encode()
    files[f"{_INFO}/WHEEL"] = _WHEEL.encode()
    record = f"{_INFO}/RECORD"
    rows = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in sorted(files.items())]
    files[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    return _zipped(files)


def _zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


_MOST_OF_METADATA = 2**22
"""Of what a wheel says of itself."""


def required(wheel: bytes, environment: Mapping[str, str], name: str = OWN) -> set[Required]:
    """Return what a wheel requires, without its extras.

    Raises:
        RefusedError: it is no wheel of that name.
    """
    return _applying(_requirements(wheel, name), frozenset(), environment)


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


def fetch_needed(
    first: Iterable[Required],
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
    seen: set[Required] = set()
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
