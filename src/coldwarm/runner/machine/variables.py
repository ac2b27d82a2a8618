"""Which environment variables are published, and what is taken out of their values. Pure.

Publishing is by an allow-list: a variable that is not named here does not appear, and one
whose name sounds like a secret never does, whatever the list says.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^\s,;]+@")
_ASSIGNED = re.compile(
    r"(?P<name>\b[\w-]*(?:key|token|secret|passw|credential|auth)[\w-]*\s*[=:]\s*)[^\s,;&]+",
    re.IGNORECASE,
)
WITHHELD = "***"


def allowed(variables: Mapping[str, str], home: str | None = None) -> dict[str, str]:
    """Return the variables that may be published, by name.

    Args:
        variables: All of them, such as ``os.environ``.
        home: The home directory, written ``~`` in values; the user's own by default.
    """
    home = str(Path.home()) if home is None else home
    return {
        name: redact(value, home)
        for name, value in sorted(variables.items())
        if (name in _NAMES or name.startswith(_PREFIXES)) and not _SECRET.search(name)
    }


def redact(value: str, home: str) -> str:
    """Take user names and passwords of URLs, assigned secrets and the home folder out."""
    value = _USERINFO.sub(f"{WITHHELD}@", value)
    value = _ASSIGNED.sub(rf"\g<name>{WITHHELD}", value)
    if len(home) > 1:
        value = re.sub(rf"{re.escape(home.rstrip('/'))}(?=[/:,\s]|$)", "~", value)
    return value.encode("utf-8", "replace").decode()
