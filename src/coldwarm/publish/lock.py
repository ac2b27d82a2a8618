"""The measured environment as ``pylock.toml`` (PEP 751) and plain pins, and its wheels."""

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
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

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

from coldwarm import __version__, installing, registry
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import UsageError
from coldwarm.publish import layout
from coldwarm.publish.storage import read_limited, sha256_of
from coldwarm.runner.harness import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from packaging.pylock import Package

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import Measured
    from coldwarm.publish.content import Content


_OWN = "coldwarm"
_NOT_LOCKED = {"pip"}
"""Installs the others, and is no part of what was measured."""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")


class _Wheel(NamedTuple):
    """A file that an index offers."""

    name: str
    """Name of the file."""
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
    lines = [f"{name}=={version}" for name, version in pinned.items() if name != _OWN]
    if wheel is not None:
        lines.append(f"./{wheel}")
    elif _OWN in pinned:
        lines.append(f"# and coldwarm {pinned[_OWN]}, which is in no index")
    return "\n".join(lines) + "\n"


def build_lock(
    content: Content,
    requires: Sequence[str],
    sources: Sources | None,
    wheel: tuple[str, bytes] | None,
) -> tuple[str | None, list[str], Reason | None]:
    """Return the lock of a snapshot, what has no wheel in it, and why there is no lock if so.

    Args:
        content: What was measured.
        requires: What functions in the snapshot import.
        sources: Where wheels are looked for; ``None``: nowhere.
        wheel: Path in the snapshot and bytes of the harness's own wheel, if it is there.

    Raises:
        UsageError: two runs had different versions.
    """
    pinned = pins(content)
    if sources is None:
        return None, sorted(pinned), because("no_index_asked")
    measured = [run.measured for run in content.all_runs]
    cases = [case for run in measured for case in run.cases.values()]
    loaded = {name for case in cases for one in case.observations for name in one.versions}
    roots = {canonicalize_name(name) for name in (*loaded, *requires)}
    locked = _needed_pins(required_by_runs(measured, known=False) | roots, pinned)
    asked = {name: version for name, version in locked.items() if name != _OWN}
    environment = content.environments[0]
    try:
        python = ".".join(environment.python.version.split(".")[:2])
        found = _find_wheels(asked, python, sources)
    except _UnreachableError as error:
        return None, sorted(pinned), error.reason
    locked |= {name: pinned[name] for name in pinned.keys() & {_OWN}}
    text, missing = _pylock(locked, environment, found, wheel, requires)
    return text, missing, None


def _pylock(
    pinned: Mapping[str, str],
    environment: Environment,
    found: Mapping[str, _Wheel],
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
        if name == _OWN and wheel is not None:
            lines += _package(name, version, _own_wheel(*wheel))
        elif name == _OWN or wheel_ is None or not _fits(wheel_.name, environment):
            missing.append(name)
        else:
            lines += _package(name, version, [_wheel_entry(wheel_)])
    if requires:
        lines += ["", "[tool.coldwarm]", f"code-requires = {json.dumps(list(requires))}"]
    return "\n".join(lines) + "\n", missing


def _marker(environment: Environment, python: str) -> str:
    machine = environment.cpu.architecture
    system = "sys_platform == 'linux'" if "glibc" in (environment.system.libc or "") else ""
    parts = (system, f"platform_machine == '{machine}'", f"python_version == '{python}'")
    return " and ".join(part for part in parts if part)


def _fits(file: str, environment: Environment) -> bool:
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


def _wheel_entry(wheel: _Wheel) -> str:
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
    """Hashes of its wheels; empty where the lock has none."""

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
        if name != _OWN:
            found[name] = Pinned(name, version, hashes.pop((name, version), ()))
    hashes = {key: value for key, value in hashes.items() if key[0] != _OWN}
    if hashes:
        name, version = min(hashes)
        raise _not_plain(f"{name} {version}, which is not in {layout.PINS}")
    return found


def code_requires(folder: Path) -> set[str]:
    """Return the distributions that functions in the snapshot import, as its lock says it."""
    tool = (_read_lock(folder).tool or {}) if (folder / layout.LOCK).is_file() else {}
    own = tool.get(_OWN)
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
    return normalised - {_OWN}


def _applying(
    requirements: Iterable[Requirement], extras: frozenset[str], environment: Mapping[str, str]
) -> set[Required]:
    return {
        Required(canonicalize_name(one.name), frozenset(one.extras))
        for one in requirements
        if one.marker is None
        or any(one.marker.evaluate({**environment, "extra": each}) for each in ("", *extras))
    }


def _needed_pins(roots: Iterable[str], pins: Mapping[str, str]) -> dict[str, str]:
    """Return the pins that coldwarm and others need, as what is installed here says it.

    All of them, where one that is needed is not installed here as it is pinned: then nothing tells
    what it requires.

    Args:
        roots: Normalised names that are needed besides what coldwarm requires.
        pins: Normalised names with their versions.
    """
    environment = {name: str(value) for name, value in default_environment().items()}
    seen: set[Required] = set()
    waiting = {Required(name) for name in (_OWN, *roots) if name == _OWN or name in pins}
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


_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check")
_ASK = ("install", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:")
_QUIETLY = ("--quiet", "--retries", "1", "--timeout", "20", "--report", "-")
_TIMEOUT_S = 1800.0
_BROKEN = "connection broken by"
"""Words of pip about an index that gives no answer."""


class _UnreachableError(Exception):
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


def _find_wheels(pins: Mapping[str, str], python: str, sources: Sources) -> dict[str, _Wheel]:
    """Return the wheel of each distribution at its version, as far as there is one.

    Args:
        pins: Normalised names with their versions.
        python: The version of the interpreter that is to have them, such as ``3.11``.
        sources: Where they are looked for.

    Raises:
        _UnreachableError: pip is not there, or no index can be asked.
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
        _UnreachableError: it cannot be started, or gives no answer in time.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    line = [sys.executable, *_PIP, *command]
    try:
        return subprocess.run(  # noqa: S603 - pip, from a list
            line, capture_output=True, check=False, text=True, timeout=_TIMEOUT_S, env=kept
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise _UnreachableError(f"{type(error).__name__}: {error}") from None


def _unknown(told: str, asked: Mapping[str, str]) -> list[str]:
    """Return which of the distributions pip has no wheel of, as what it wrote names them.

    Raises:
        _UnreachableError: it failed otherwise.
    """
    lines = told.strip().splitlines() or ["pip ended without a word"]
    broken = next((line for line in lines if _BROKEN in line), None)
    errors = [line for line in lines if line.startswith("ERROR")]
    words = {word.strip(".,;()'") for line in errors for word in line.split()}
    found = [name for name, version in asked.items() if f"{name}=={version}" in words]
    if broken is not None or not found:
        raise _UnreachableError(broken or (errors or lines)[-1])
    return found


def _reported(document: Any) -> dict[str, _Wheel]:  # noqa: ANN401 - any JSON value
    found = {}
    for one in document["install"]:
        told = one["download_info"]
        sha256 = told.get("archive_info", {}).get("hashes", {}).get("sha256")
        name = unquote(urlsplit(told["url"]).path.rpartition("/")[2])
        if sha256 and name.endswith(".whl"):
            wheel = _Wheel(name, _plain_address(told["url"]), sha256)
            found[str(canonicalize_name(one["metadata"]["name"]))] = wheel
    return found


def _plain_address(url: str) -> str:
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
    except _UnreachableError:
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
"""Largest size of a wheel's metadata."""


def required(wheel: bytes, environment: Mapping[str, str], name: str = _OWN) -> set[Required]:
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
