"""Input from the user's world, as it may be told: variables, command lines, values.

The value of a variable is recorded by an allow-list of those that change a measurement, and only
where it looks like a setting. Of one whose name sounds like a secret, or whose value looks like
none, the name is told alone; what is not on the list does not appear.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.masking import (
    MASK,
    cleaned,
    current,
    is_secret_name,
    is_secret_option,
    masked,
    withhold,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PREFIXES = (
    "BLIS_",
    "CUBLAS_",
    "CUDA_",
    "CUDNN_",
    "GOMP_",
    "GOTO_",
    "HIP_",
    "INDUCTOR_",
    "JAX_",
    "KMP_",
    "MKL_",
    "MALLOC_",
    "NPY_",
    "NUMBA_",
    "NVIDIA_TF32_",
    "OMP_",
    "OPENBLAS_",
    "PYTORCH_",
    "ROCR_",
    "TBB_",
    "TORCH",
    "TRITON_",
    "VECLIB_",
    "XLA_",
)
_NAMES = frozenset(
    {
        "CC",
        "CFLAGS",
        "CPPFLAGS",
        "CXX",
        "CXXFLAGS",
        "DYLD_INSERT_LIBRARIES",
        "GLIBC_TUNABLES",
        "LDFLAGS",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "LIBTPU_INIT_ARGS",
        "PYTHONDEVMODE",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONFAULTHANDLER",
        "PYTHONHASHSEED",
        "PYTHONHOME",
        "PYTHONMALLOC",
        "PYTHONNOUSERSITE",
        "PYTHONOPTIMIZE",
        "PYTHONPATH",
        "PYTHONPERFSUPPORT",
        "PYTHONPROFILEIMPORTTIME",
        "PYTHONPYCACHEPREFIX",
        "PYTHONSAFEPATH",
        "PYTHONTRACEMALLOC",
        "PYTHONUNBUFFERED",
        "PYTHONWARNINGS",
        "PYTHON_CPU_COUNT",
        "PYTHON_GIL",
        "PYTHON_JIT",
        "TF_CPP_MIN_LOG_LEVEL",
        "TF_CUDNN_DETERMINISTIC",
        "TF_XLA_FLAGS",
    }
)
_SETTINGS = re.compile(
    r"""[\w.:/+-]{0,60}?=|                      # the name of a flag; its value comes after it
    [+-]?(?:\d+(?:\.\d+)*|\.\d+)(?:e[+-]?\d+)?[A-Za-z%]{0,3}(?:\+PTX)?|
    [+-]?\*?[A-Za-z]+(?:[_-][A-Za-z]+){0,4}_?\d{0,4}[a-z]?(?:_\d?x)?|
    (?:c|gnu)\+\+\w{2}|[a-z_]+(?:\.[a-z_]+){1,6}|\*\*\*|
    --?[A-Za-z][\w-]{0,80}|
    (?:~|\.{0,2})/[\w./@+~-]*""",
    re.VERBOSE,
)
"""Contents of a setting's value: numbers, words, flags, paths."""
_PARTS = re.compile(r"(?<==)|[\s,;:|{}()\[\]]+")
_CHUNKS = re.compile(r"[^\s,;:|{}()\[\]=]+=?")
_SHORT_SECRET = re.compile(r"-[pP](?=.)(?!=?\d{1,5}$)(?!(?:r|a|l|o|e|i)[a-z-]+=?)")
"""``-pX``, as some tools take a password: no number of a port, and no long option."""
_LONGEST = 32
"""Characters of a word; flags and paths may be longer."""
_FREE = frozenset(
    {"CC", "CFLAGS", "CPPFLAGS", "CXX", "CXXFLAGS", "LDFLAGS", "LIBTPU_INIT_ARGS"}
    | {"PYTHONWARNINGS", "TF_XLA_FLAGS", "XLA_FLAGS"}
)
"""Lists of flags: told without the parts that are no settings, instead of withheld as a whole."""
_WITHHELD = "withheld"


class _Told(NamedTuple):
    """Variables as they may be written."""

    values: dict[str, str]
    """By name, of those that change a measurement, masked."""
    withheld: list[str]
    """Names of those whose value is not told."""


def allowed(variables: Mapping[str, str]) -> _Told:
    """Return the variables of a process that concern a measurement; of others not even the name."""
    mine = {name: value for name, value in variables.items() if _concerns(name)}
    return told(mine)


def told(variables: Mapping[str, str]) -> _Told:
    """Return variables with the values that may be told, and the names of the others."""
    values, withheld = {}, []
    for name, value in sorted(variables.items()):
        if is_told(name, value):
            shown = masked(_readable(value))
            values[_readable(name)] = _CHUNKS.sub(_kept, shown) if name in _FREE else shown
        else:
            withheld.append(masked(_readable(name)))
    return _Told(values, withheld)


def _concerns(name: str) -> bool:
    """Say whether a variable is one of those that may change a measurement."""
    return name in _NAMES or name.startswith(_PREFIXES)


def is_told(name: str, value: str) -> bool:
    """Say whether the value of a variable may be told."""
    if not _concerns(name) or is_secret_name(name):
        return False
    return name in _FREE or all(map(_is_setting, filter(None, _PARTS.split(value))))


def _is_setting(part: str) -> bool:
    whole = _SETTINGS.fullmatch(part) is not None
    return whole and (len(part) <= _LONGEST or part.startswith(("-", "/", "~", ".")) or "=" in part)


def _kept(chunk: re.Match[str]) -> str:
    """Return a part of a list of flags, or a mask for one that is no setting."""
    return chunk[0] if chunk[0].endswith("=") or _is_setting(chunk[0]) else MASK


def _readable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def command_line(arguments: Sequence[str]) -> list[str]:
    """Return a command line without the values of secret options, which are told nowhere else.

    ``--token X``, ``--api-key=X``, ``-p X`` and ``-pX``, and whatever ``masked`` knows.
    """
    found: list[str] = []
    hidden = False
    for one in arguments:
        name, equals, value = one.partition("=")
        if hidden and not (one.startswith("-") and is_secret_option(name)):
            withhold([one])
            found.append(MASK)
            hidden = False
        elif is_secret_option(name):
            withhold([value])
            found.append(f"{name}={MASK}" if equals else name)
            hidden = not equals
        elif _SHORT_SECRET.match(one):
            withhold([one[2:].lstrip("=")])
            found.append(one[:2] + MASK)
            hidden = False
        else:
            found.append(one)
            hidden = one in {"-p", "-P"}
    return [masked(one) for one in found]


def withhold_input(name: str, value: object) -> None:
    """Keep an argument of a function out of every text, where its name says that it is secret."""
    if isinstance(value, str) and is_secret_name(name):
        withhold([value])


def withhold_variable(name: str, value: str) -> None:
    """Keep the value of a variable that is no setting out of every text."""
    if not is_told(name, value):
        withhold([value])


def is_private(text: str) -> bool:
    """Say whether a text, such as a label or an id, would not be written as it is."""
    return masked(text) != text


def of_program(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return plain values from a user's program without secrets.

    Names of folders stay, as files are found by them: they are taken out when it is written.
    """
    return cleaned(value, places=False)


def secret_values() -> list[bytes]:
    """Return the secrets that this process knows, as they may stand in a file."""
    return [value.encode("utf-8", "surrogateescape") for value in current().values]
