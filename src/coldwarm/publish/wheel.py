"""The wheel of the coldwarm that is running, made from its installed files.

The same sources give the same bytes. It is no copy of what was downloaded: a checkout has a wheel
too, and one that holds exactly what measured.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from importlib import metadata

from coldwarm import __version__, installing
from coldwarm.errors import UsageError
from coldwarm.runner.harness import PACKAGE

NAME = f"coldwarm-{__version__}-py3-none-any.whl"
_INFO = f"coldwarm-{__version__}.dist-info"
_KEPT = {".py", ".json", ".typed", ".js", ".css", ".j2", ".typ"}
"""By suffix: other files in the folder of a checkout are none of the package's."""
_WHEEL = "Wheel-Version: 1.0\nGenerator: coldwarm\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def build() -> bytes:
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
