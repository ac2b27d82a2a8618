"""Masking: what is private of this user and machine is taken out of texts.

It is applied where texts and values come in from the user's world (``runner.user_input``), where
records are encoded, for files, the journal and JSON output alike, and where texts are shown.
Masking the same text twice changes nothing more.

What was unpacked or sent lies in a temporary folder for a while: there a text names the archive
instead, or standard input (``name_path``).
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import os
import platform
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


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
_FEWEST, _LONG = 6, 8
"""Characters of a value that is searched for, and of one that is found inside words too."""
_LONG_CUT = 12
"""Characters of a cut secret that alone are none of an ordinary word's."""
_USER = re.compile(r"://([^\s/?#@:\"'<>]*)(?::([^\s/?#@\"'<>]*))?@")
"""The user and the password of a URL; a user alone is a token."""
_PART = re.compile(r"(?=[^\W_]*\d)(?=\d*[^\W\d_])[\w+.~-]{12,}")
"""A word with letters and digits, inside a secret of several parts."""
_FEWEST_OF_A_NAME = 3
_FEWEST_CODED = 12
_URL_SAFE = str.maketrans("+/", "-_")


class _Known(NamedTuple):
    """Texts that are searched for as they stand."""

    values: tuple[str, ...]
    """Secrets and their encodings, the longest first."""
    homes: tuple[str, ...]
    names: tuple[str, ...]
    """Names of the user and the machine."""
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


def current() -> _Known:
    """Return what is private in this process."""
    return _current(frozenset(os.environ.items()), frozenset(_told), platform.node())


@lru_cache(maxsize=8)
def _current(variables: frozenset[tuple[str, str]], told: frozenset[str], node: str) -> _Known:
    named = dict(variables)
    secret = {value for name, value in named.items() if is_secret_name(name)} | told
    parts = {part for value in secret for part in _parts(value)}
    parts |= {part for value in named.values() for part in _of_urls(value)}
    homes = {*_homes(named)}
    forms = {form for value in secret | parts for form in _forms(value) if form not in homes}
    names = {*_names(named, homes, node)}
    return _Known(
        tuple(sorted(forms, key=lambda form: (-len(form), form))),
        tuple(sorted(homes, key=lambda home: (-len(home), home))),
        tuple(sorted(names, key=lambda name: (-len(name), name))),
        begins=frozenset(
            part for form in forms for part in (form[:_FEWEST], form[-_LONG_CUT:][:_FEWEST])
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
    if len(value) < _FEWEST or value.casefold() in _GENERIC:
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


MASK = "***"
_PASSES = 4
_ORDINARY = re.compile(r"[a-z][a-z_]*|[0-9a-f]{12,64}|[\d.:+TZ-]+")
"""A word of small letters, a hash, a version, a date."""
_MASKED = re.compile(r"(?:\*{3,}|~)")
_FILE = re.compile(r"(?:cases/)?[\w.@+-]+\.json")
"""A file of a run, named from its index."""
_CUT = re.compile(r"(?=.*\d)[\w+/=.~-]+")
"""A value that is one word: each part of it tells, as no sentence or URL begins so."""
_PLAIN_KEY = re.compile(r"[a-z_]+(?:\.[a-z_]+)*")
_COMPOSED = frozenset(
    {
        *("schema_version", "suite", "case", "workload", "candidate", "backend", "device", "size"),
        *("dtype", "dataset_id", "cache_mode", "cache_modes", "also_modes", "status", "code"),
        *("kind", "metric", "baseline", "worst_case", "environment_path", "order", "owner"),
        *("group", "verdict", "caches", "cache_policy", "windows", "sync_policy"),
        *("warmup_policy", "interleaving", "data_layout", "answers_path", "provenance"),
        *("mode", "reading", "among", "cheapest", "fastest", "candidate_names"),
    }
)
"""Fields of records that the harness composes, of which readers hold one against another: a user
who is called as one of its words is not meant there."""
_PROBE = "Abc1xYz9q"
_NOBODY = _Known((), (), (), folders=False)
_TELLS_NOTHING = re.compile(
    r"|None|True|False|\*\*\*|\d{1,4}|v?\d+(?:\.\w+)+(?:[+.-]\w+)*|[A-Za-z_.]+ ?#[0-9a-f]{4,8}|"
    r"(?:u?int|b?float|complex|bool|str|bytes|[a-z]{1,3})\d*(?:\[[\d, ]*\])?"
)
"""Values that are told under any name: constants, versions, types, and hashes of texts."""
_LONG_WORD = re.compile(r"[\w+/=.:-]{16,}")


_names_of: dict[str, str] = {}
"""Temporary path to what texts call it."""
_MOST_NAMED = 16


def name_path(path: Path, name: str) -> None:
    """Let texts call a temporary path by this name, errors after its end too."""
    _names_of[str(path)] = _by_name(name)
    while len(_names_of) > _MOST_NAMED:
        del _names_of[next(iter(_names_of))]


def _by_name(text: str) -> str:
    for path, name in _names_of.items():
        text = text.replace(path, name)
    return text


def masked(text: str) -> str:
    """Return a text with secrets as ``***`` and home folders as ``~``."""
    return _masked(_by_name(text), current())


def cleaned(value: Any, *, places: bool = True) -> Any:  # noqa: ANN401 - any JSON value
    """Return plain values with every text masked, keys of mappings too.

    Without ``places``, secrets alone: home folders and names stay, as files are found by them.
    """
    private = current()
    if not places:
        private = private._replace(homes=(), names=(), folders=False)
    return _cleaned(value, private)


def _cleaned(value: Any, private: _Known) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, str):
        return _masked(_by_name(value) if private.folders else value, private)
    if isinstance(value, dict):
        value = _unlabelled(value)
        unnamed = private._replace(names=())
        found: dict[Any, Any] = {}
        for key, one in value.items():
            plain = isinstance(key, str) and _PLAIN_KEY.fullmatch(key)
            name = _cleaned(key, unnamed if plain else private)
            while name in found:  # two secrets must not become one entry
                name += "*"
            found[name] = _cleaned(one, unnamed if _is_composed(key, one) else private)
        return found
    if isinstance(value, list | tuple):
        return [_cleaned(one, private) for one in _without_options(value)]
    return value


def _unlabelled(record: dict[Any, Any]) -> dict[Any, Any]:
    """Return a mapping without the values whose names say that they are secret.

    A name is a key, or stands under ``name`` beside its ``value``.
    """
    secret = {
        key
        for key, one in record.items()
        if isinstance(one, str)
        and isinstance(key, str)
        and _is_label(key)
        and not _TELLS_NOTHING.fullmatch(one)
    }
    if "value" in record and isinstance(record.get("name"), str) and _is_label(record["name"]):
        secret |= {"value"} if not isinstance(record["value"], bool | None) else set()
    return {key: MASK if key in secret else one for key, one in record.items()}


def _without_options(values: Sequence[Any]) -> Sequence[Any]:
    """Return a command line in a record without the values of secret options."""
    return [
        MASK
        if isinstance(one, str)
        and isinstance(before, str)
        and is_secret_option(before)
        and not one.startswith("-")
        else one
        for before, one in zip([None, *values], values, strict=False)
    ]


@lru_cache(maxsize=8192)
def _is_label(name: str) -> bool:
    """Say whether what stands behind a name and a colon would be masked in a text."""
    text = f"{name}: {_PROBE}"
    return _once(text, _NOBODY) != text


def _is_composed(key: object, value: object) -> bool:
    named_file = key == "path" and isinstance(value, str) and _FILE.fullmatch(value)
    if key == "candidates" and isinstance(value, list):  # or records, with fields of their own
        return all(isinstance(one, str) for one in value)
    return key in _COMPOSED or bool(named_file)


def alike(one: str, other: str) -> bool:
    """Say whether two texts are the same, apart from what was masked in either of them.

    What is private differs between users and days, so the same text may be masked differently.
    """
    return one == other or _fits(one, other) or _fits(other, one)


def _fits(shown: str, text: str) -> bool:
    parts = _MASKED.split(shown)
    pattern = ".*".join(re.escape(part) for part in parts)
    return len(parts) > 1 and re.fullmatch(pattern, text, re.DOTALL) is not None


@lru_cache(maxsize=8192)
def _masked(text: str, private: _Known) -> str:
    if _ORDINARY.fullmatch(text):  # it has the shape of no secret, and may still be a known one
        return _without_values(text, private, _LONG_CUT)
    for _ in range(_PASSES):  # what one secret hid of another's label stands free afterwards
        found = _once(text, private)
        if found == text:
            break
        text = found
    return text


def _once(text: str, private: _Known) -> str:
    # Its patterns take some 20 ms to compile, which no command is to wait for at its start.
    from coldwarm import secret_patterns  # noqa: PLC0415

    text = _without_known(text, private)
    if "PRIVATE KEY" in text or "PuTTY" in text:
        text = secret_patterns.KEY_END.sub(MASK, secret_patterns.KEY_BLOCK.sub(MASK, text))
    if secret_patterns.SUSPECT.search(text):
        for pattern in secret_patterns.LABELLED:
            text = pattern.sub(_label_kept, text)
        text = secret_patterns.BASIC.sub(_basic, text)
    if "@" in text:
        for pattern in secret_patterns.USER_INFO:
            text = pattern.sub(rf"\g<name>{MASK}@", text)
        text = secret_patterns.EMAIL.sub(MASK, text)
    text = secret_patterns.TOKEN.sub(MASK, text)
    if _LONG_WORD.search(text):
        for pattern in secret_patterns.tokens():
            text = pattern.sub(MASK, text)
    for pattern in secret_patterns.HOMES if private.folders else ():
        text = pattern.sub("~", text)
    for name in private.names if text not in private.names else ():
        text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", MASK, text)
    return text


def _without_known(text: str, private: _Known) -> str:
    text = _without_values(text, private, _FEWEST)
    for home in private.homes:
        if home in text:
            text = re.sub(rf"(?<![\w.~-]){re.escape(home)}(?![\w.-])", "~", text)
    return text


def _without_values(text: str, private: _Known, fewest: int) -> str:
    """Mask secrets that are known, and at the end ``fewest`` or more characters of one."""
    parts = (text[at : at + _FEWEST] for at in range(len(text) - _FEWEST + 1))
    if private.begins.isdisjoint(parts):
        return text
    for value in private.values:
        if value in text:
            inside = len(value) >= _LONG
            bounded = rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])"
            text = text.replace(value, MASK) if inside else re.sub(bounded, MASK, text)
    return _without_cut(text, private.values, fewest)


def _without_cut(text: str, values: tuple[str, ...], fewest: int) -> str:
    """Mask what is left of a value that was cut: much of it anywhere, a little at the end."""
    for value in values:
        if len(value) > _LONG_CUT and _CUT.fullmatch(value):
            text = _without_part(text, value)
        if value[:fewest] not in text[-len(value) :]:
            continue
        for length in range(min(len(value) - 1, len(text)), fewest - 1, -1):
            if text.endswith(value[:length]):
                text = text[:-length] + MASK
                break
    return text


def _without_part(text: str, value: str) -> str:
    """Mask the beginning and the end of a value, of at least ``LONG_CUT`` characters."""
    while (at := text.find(value[:_LONG_CUT])) >= 0:
        text = text[:at] + MASK + text[at + _same(text[at:], value) :]
    while (end := text.find(value[-_LONG_CUT:]) + _LONG_CUT) >= _LONG_CUT:
        length = _same(text[:end][::-1], value[::-1])
        text = text[: end - length] + MASK + text[end:]
    return text


def _same(one: str, other: str) -> int:
    """Return with how many of the same characters two texts begin."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _label_kept(match: re.Match[str]) -> str:
    quote = match.groupdict().get("q") or ""
    return f"{match['name']}{quote}{MASK}{quote}"


def _basic(match: re.Match[str]) -> str:
    value = match["value"]
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_")
    except (binascii.Error, ValueError):
        decoded = b""
    return f"{match['name']}{MASK}" if b":" in decoded else match[0]
