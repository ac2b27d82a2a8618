"""What is private of this user and machine: values of secret variables, names, home folders."""

from __future__ import annotations

import base64
import html
import json
import os
import platform
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, quote_plus, unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SECRET_NAME = re.compile(
    r"PASS(?:W|P|C|$|\d)|SECRET|TOKEN(?![A-Z])|CREDENTIAL|COOKIE|BEARER|WEBHOOK|MNEMONIC|"
    r"(?:API|AUTH|ACCESS|ACCOUNT|ENCRYPTION|MASTER|PRIVATE|SHARED|SIGNING|STORAGE)KEY|"
    r"(?:^|[_.-])(?:(?:[A-Z]+_)*KEY|KEYS|PASS|PWD|PW|PAT|PIN|AUTH|AUTHORIZATION|SIG|SIGNATURE|OTP|"
    r"SAS|DSN|JWT|CREDS?|LICEN[CS]E)(?:$|[_.-]|\d)|CONN(?:ECTION)?_?STR|(?:DATABASE|DB|REDIS|"
    r"MONGO|MONGODB|BROKER|SENTRY)_UR[IL]",
    re.IGNORECASE,
)
_NOT_SECRET = {"PWD", "OLDPWD"}
_GENERIC = frozenset(
    {
        *("root", "user", "users", "admin", "administrator", "runner", "worker", "ubuntu"),
        *("debian", "fedora", "centos", "docker", "container", "localhost", "local", "host"),
        *("server", "node", "machine", "vm", "dev", "devel", "test", "tests", "tester"),
        *("testing", "build", "builder", "ci", "jovyan", "nobody", "guest", "vscode"),
        *("coder", "codespace", "ec2-user", "app", "agent", "home", "work", "default"),
        *("python", "coldwarm", "numpy", "jax", "torch", "numba", "scipy", "triton", "cpu"),
        *("gpu", "cuda", "case", "cases", "cold", "warm", "cache", "caches", "process"),
        *("bench", "run", "main", "first", "second", "call", "import", "setup", "start"),
        *("steady", "none", "ok", "failed", "function", "reference", "candidate", "vagrant"),
        *("circleci", "gitpod", "kaggle", "colab", "daemon", "bin", "git", "www-data"),
    }
)
"""Names that identify nobody, and that stand in ordinary texts."""
FEWEST, LONG = 6, 8
"""Characters of a value that is searched for, and of one that is found inside words too."""
LONG_CUT = 12
"""Characters of a cut secret that alone are none of an ordinary word's."""
_USER = re.compile(r"://([^\s/?#@:\"'<>]*)(?::([^\s/?#@\"'<>]*))?@")
"""Of a URL the user and the password; a user alone is a token."""
_PART = re.compile(r"(?=[^\W_]*\d)(?=\d*[^\W\d_])[\w+.~-]{12,}")
"""A word with letters and digits, inside a secret of several parts."""
_FEWEST_OF_A_NAME = 3
_FEWEST_CODED = 12
_URL_SAFE = str.maketrans("+/", "-_")


class Known(NamedTuple):
    """What is searched for as it stands."""

    values: tuple[str, ...]
    """Secrets and their encodings, the longest first."""
    homes: tuple[str, ...]
    names: tuple[str, ...]
    """Of the user and the machine."""
    folders: bool = True
    """Whether home folders are searched for, whoever's they are."""
    begins: frozenset[str] = frozenset()
    """``FEWEST`` characters with which each value begins, or the end of one that was cut."""


_told: set[str] = set()


def is_secret_name(name: str) -> bool:
    """Say whether a variable's name sounds as if its value were a secret."""
    return name.upper() not in _NOT_SECRET and _SECRET_NAME.search(name) is not None


def is_secret_option(name: str) -> bool:
    """Say whether what stands behind an option on a command line is a secret by its name."""
    if not name.startswith("-") or len(name) < len("-pw"):
        return False
    plain = name.strip("-")
    return is_secret_name(plain) or plain.casefold().endswith(("key", "passwd", "auth"))


def withhold(values: Iterable[str]) -> None:
    """Keep values out of every text that this process writes from now on."""
    _told.update(values)


def current() -> Known:
    """Return what is private in this process."""
    return _current(frozenset(os.environ.items()), frozenset(_told), platform.node())


@lru_cache(maxsize=8)
def _current(variables: frozenset[tuple[str, str]], told: frozenset[str], node: str) -> Known:
    named = dict(variables)
    secret = {value for name, value in named.items() if is_secret_name(name)} | told
    parts = {part for value in secret for part in _parts(value)}
    parts |= {part for value in named.values() for part in _of_urls(value)}
    homes = {*_homes(named)}
    forms = {form for value in secret | parts for form in _forms(value) if form not in homes}
    names = {*_names(named, homes, node)}
    return Known(
        tuple(sorted(forms, key=lambda form: (-len(form), form))),
        tuple(sorted(homes, key=lambda home: (-len(home), home))),
        tuple(sorted(names, key=lambda name: (-len(name), name))),
        begins=frozenset(
            part for form in forms for part in (form[:FEWEST], form[-LONG_CUT:][:FEWEST])
        ),
    )


def _of_urls(value: str) -> Iterator[str]:
    """Yield what stands before the host of each URL in a value: a password, or a token."""
    for user, password in _USER.findall(value):
        yield password or user


def _parts(value: str) -> Iterator[str]:
    """Yield what a secret of several parts is made of, such as a document or a pair."""
    if not value.startswith(("/", "~")):
        yield from (part for part in _PART.findall(value) if part != value)


def _forms(value: str) -> Iterator[str]:
    """Yield a value, and how it looks in texts; none of one that ordinary texts may hold."""
    for part in {value, *value.splitlines()}:
        plain = part.strip()
        if not _is_telling(plain):
            continue
        raw = plain.encode("utf-8", "surrogateescape")
        yield plain
        yield from (repr(plain)[1:-1], json.dumps(plain)[1:-1], html.escape(plain))
        yield from (quote(raw), quote(raw, safe=""), quote_plus(raw), unquote(plain))
        yield from (raw.hex(), raw.hex().upper(), *_in_base64(raw))


def _in_base64(raw: bytes) -> Iterator[str]:
    """Yield bytes in base64: alone, and as it stands inside of other bytes."""
    for before in range(3):
        coded = base64.b64encode(bytes(before) + raw).rstrip(b"=")
        rest = (before + len(raw)) % 3
        # The first and the last digit also hold bits of what stands beside.
        text = coded[(0, 2, 3)[before] : len(coded) - (1 if rest else 0)].decode()
        if len(text) >= _FEWEST_CODED or not before:
            yield from {text, text.translate(_URL_SAFE)}


def _is_telling(value: str) -> bool:
    if len(value) < FEWEST or value.casefold() in _GENERIC:
        return False
    # One lower-case word, or a number, may stand anywhere for other reasons.
    return not re.fullmatch(r"[a-z]{,11}|[A-Z]{,11}|[a-z_]{,15}|[\d.,:+-]+", value)


@cache
def _account() -> tuple[str, str]:
    """Return the user's name and home as the system has them; empty where it has none."""
    try:
        import pwd  # noqa: PLC0415 - not on every system

        account = pwd.getpwuid(os.getuid())
    except (ImportError, KeyError):  # KeyError: a container's user without an entry
        return "", ""
    return account.pw_name, account.pw_dir


def _homes(variables: Mapping[str, str]) -> Iterator[str]:
    homes = (variables.get("HOME", ""), str(Path("~").expanduser()), _account()[1])
    for home in homes:
        for form in (home, os.path.realpath(home) if home else ""):
            if len(form.rstrip("/")) > 1 and form.startswith("/"):
                yield form.rstrip("/")


def _names(variables: Mapping[str, str], homes: Iterable[str], node: str) -> Iterator[str]:
    users = [variables.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")]
    # A path from the folder of all homes on begins with the user's.
    users += [_account()[0], *(Path(home).name for home in homes)]
    hosts = [node, variables.get("HOSTNAME", "")]
    hosts += [host.partition(".")[0] for host in hosts]
    for name in (*users, *hosts):
        if len(name) >= _FEWEST_OF_A_NAME and name.casefold() not in _GENERIC:
            yield name
