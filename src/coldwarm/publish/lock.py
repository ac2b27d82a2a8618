"""The measured environment, to be installed again: ``pylock.toml`` (PEP 751), and plain pins.

Written from what a run recorded, not from the environment that writes it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from packaging.utils import canonicalize_name

from coldwarm.errors import UsageError
from coldwarm.publish.writing import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.environment import Environment
    from coldwarm.publish.packages import Wheel
    from coldwarm.publish.runs import Content

OWN = "coldwarm"
_NOT_LOCKED = {"pip"}
"""Installs the others, and is no part of what was measured."""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")


class _Locked(NamedTuple):
    """A lock, and what it lacks."""

    text: str
    missing: list[str]
    """Names of distributions of which no wheel is known."""


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
        for name, version in _of(environment, versions).items():
            if found.setdefault(name, version) != version:
                text = f"the runs were measured with {name} {found[name]} and {version}"
                raise UsageError(f"{text}: make a snapshot for each of them")
    return dict(sorted(found.items()))


def _of(environment: Environment, told: Iterable[Mapping[str, str]]) -> dict[str, str]:
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
) -> _Locked:
    """Return the lock: every distribution with the wheels that fit the measured interpreter.

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
    return _Locked("\n".join(lines) + "\n", missing)


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
