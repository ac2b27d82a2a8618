"""Where in the user's own code something happens: a walk up the stack, past what is not theirs."""

import os
import sys
import sysconfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType

    Site = tuple[str, int, str]
    """A file, a line, and the name of the function."""

MOST = 5
"""Of the user's frames that are kept of a stack."""
_INTERACTIVE = ("<ipython-input", "<stdin>", *(("<string>",) if "-c" in sys.orig_argv else ()))
"""Code without a file that is the user's; other texts are compiled by Python itself."""
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_FRAMEWORKS = ("jax", "jaxlib", "torch", "numba", "numpy")
_LIBRARY = tuple(
    {
        os.path.join(path, "")
        for key in ("stdlib", "platstdlib")
        if (path := sysconfig.get_paths().get(key))
    }
)
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_kinds: dict[str, int] = {}
_paths: dict[str, str] = {}
USERS, INSTALLED, NOBODYS = 0, 1, 2
"""Whose a file is: the user's, that of an installed package, or of Python, a framework and us."""
WHOSE = ("user", "package", "framework")
"""The same in words of the journal."""


def kind(filename: str) -> int:
    """Return whose a file is."""
    found = _kinds.get(filename)
    if found is None:
        found = _kinds[filename] = _kind(filename)
    return found


def _kind(filename: str) -> int:
    if f"{os.sep}torchinductor_" in filename:
        return NOBODYS
    if filename.startswith("<"):
        return USERS if filename.startswith(_INTERACTIVE) else NOBODYS
    if filename.startswith((_OURS, *_framework_folders())):
        return NOBODYS
    if any(part in filename for part in _INSTALLED):
        return INSTALLED
    return NOBODYS if filename.startswith(_LIBRARY) else USERS


def _framework_folders() -> "tuple[str, ...]":
    """Return the folders of frameworks that are loaded, wherever they are installed."""
    files = (getattr(sys.modules.get(name), "__file__", None) for name in _FRAMEWORKS)
    return tuple(os.path.dirname(file) + os.sep for file in files if file)


def is_users(code: "CodeType") -> bool:
    """Say whether code is the user's own."""
    return kind(code.co_filename) == USERS


def stack(frame: "FrameType | None") -> "list[Site]":
    """Return the user's frames of a stack, the innermost first.

    The first one may be in an installed package: where no frame is the user's.
    """
    found: list[Site] = []
    other: Site | None = None
    while frame is not None and len(found) < MOST:
        code = frame.f_code
        whose = kind(code.co_filename)
        if whose == USERS:
            found.append(_site(frame))
        elif whose == INSTALLED and other is None:
            other = _site(frame)
        frame = frame.f_back
    return found or ([other] if other else [])


def _site(frame: "FrameType") -> "Site":
    code = frame.f_code
    return path_of(code.co_filename), frame.f_lineno or 0, code.co_qualname


def path_of(filename: str) -> str:
    """Return the whole path of a file; what is no file stays as it is."""
    found = _paths.get(filename)
    if found is None:
        whole = filename if filename.startswith("<") else os.path.abspath(filename)
        found = _paths[filename] = sys.intern(whole)
    return found
