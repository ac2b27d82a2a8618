"""What the journal must not tell, and that can be told from the rest without loading anything.

Values of variables and of options whose names say that they are secret, and tokens of known
services. A journal is read by what knows many more of them (``coldwarm.masking``).
"""

import os
import sys
from _json import encode_basestring_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MASK = "***"
_NAMES = (
    *("PASS", "SECRET", "TOKEN", "CREDENTIAL", "COOKIE", "KEY", "BEARER", "AUTH", "JWT", "DSN"),
    *("PWD", "SIGNATURE", "LICENSE", "LICENCE", "WEBHOOK", "SAS", "PIN", "OTP", "PAT"),
    *("DATABASE_UR", "DB_UR", "REDIS_UR", "MONGO", "BROKER_UR", "SENTRY", "CONN_STR", "CONNECTION"),
)
"""Parts of names of what is secret: of one that is none, too, nothing is lost."""
_SHORT = ("PIN", "OTP", "PAT", "SAS", "PWD", "DSN", "JWT")
"""Parts that are words by themselves, and stand in others too."""
_FOLDERS = ("PWD", "OLDPWD", "PATH")
_TOKENS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-"),
    *("sk-", "sk_live_", "sk_test_", "pk_live_", "rk_live_", "whsec_", "hf_", "npm_", "r8_"),
    *("xoxb-", "xoxp-", "xoxa-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "GOCSPX-", "eyJ"),
    *("pypi-", "dop_v1_", "shpat_", "SG.", "dckr_", "nvapi-", "hvs.", "lin_api_", "tskey-", "dapi"),
    *("glsa_", "NRAK-", "PMAK-", "AGE-SECRET-KEY-", "Bearer ", "Basic ", "://"),
)
"""What tokens of well-known services begin with, and where a URL has a user."""
_FEWEST, _LONG_WORD = 6, 16
_OF_TOKEN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=")
_OF_USER = frozenset("/?#\"'<> \\")
"""What ends the part of a URL in which a user stands."""


def is_secret(name: str) -> bool:
    """Say whether a name of a variable, an option or an argument says that its value is secret."""
    upper = name.upper().replace("-", "_").strip("_")
    if upper in _FOLDERS:
        return False
    words = upper.split("_")
    return any(
        part in words or upper.endswith(f"_{part}") if part in _SHORT else part in upper
        for part in _NAMES
    )


def command(arguments: "Sequence[str]") -> "list[str]":
    """Return a command line with the program and the names of its options alone.

    What is given to a program is its own: no value is told.
    """
    found, given = list(arguments[:1]), False
    for at, one in enumerate(arguments[1:], 1):
        if given:
            name, equals, _ = one.partition("=")
            if not _is_option(name):
                found.append(_MASK)
            elif name.startswith("--") or len(one) == len("-x"):
                found.append(name + (equals and f"={_MASK}"))
            else:
                found.append(name[:2] + _MASK)  # ``-pX``
        elif one == "-c":
            return [*found, one, _MASK]
        else:
            found.append(one)
            given = arguments[at - 1] == "-m" or not _is_option(one)
            given = given and arguments[at - 1] not in {"-W", "-X"}
    return found


def _is_option(name: str) -> bool:
    return len(name) > 1 and name[0] == "-" and name.strip("-").replace("-", "_").isidentifier()


def _secret_values(arguments: "Sequence[str]", variables: "Mapping[str, str]") -> "Iterator[str]":
    for name, value in variables.items():
        if is_secret(name):
            yield value
    for one, following in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, value = one.partition("=")
        if one[:1] == "-" and is_secret(name):
            yield value if equals else following


def _is_telling(value: str) -> bool:
    """Say whether a text stands in others for no other reason."""
    if len(value) < _FEWEST or os.path.exists(value):
        return False
    plain = value.replace("_", "")
    is_word = plain.isalpha() and (plain.islower() or plain.isupper()) and len(value) < _LONG_WORD
    return not is_word and any(one.isalpha() for one in value)


class Withheld:
    """What is taken out of every line."""

    def __init__(self) -> None:
        """Take the secrets of this process: as it was started, before it changes anything."""
        values = {*_secret_values(sys.orig_argv, os.environ)}
        parts = {part for value in values for part in (value, *value.splitlines())}
        written = {encode_basestring_ascii(one)[1:-1] for one in parts if _is_telling(one)}
        self._values = sorted(written, key=len, reverse=True)

    def out(self, raw: str) -> str:
        """Return a line of JSON without them."""
        for value in self._values:
            if value in raw:
                raw = raw.replace(value, _MASK)
        for begin in _TOKENS:
            if begin in raw:
                raw = _without(raw, begin)
        return raw


def _without(raw: str, begin: str) -> str:
    """Return a line without the tokens that begin so."""
    head, *rest = raw.split(begin)
    done = head
    for part in rest:
        length = _user(part) if begin == "://" else _token(part, done)
        done += begin + (_MASK + part[length:] if length else part)
    return done


def _user(part: str) -> int:
    """Return how long the user of a URL is."""
    end = next((at for at, one in enumerate(part) if one in _OF_USER), len(part))
    return part[:end].rfind("@") + 1 and part[:end].rfind("@")


def _token(part: str, before: str) -> int:
    """Return how long a token is; 0 where it is none."""
    if before[-1:].isalnum():
        return 0
    end = next((at for at, one in enumerate(part) if one not in _OF_TOKEN), len(part))
    body = part[:end]
    plain = body.islower() and not any(one.isdigit() for one in body)
    return 0 if len(body) < _FEWEST or plain else end
