"""Wheels made for a test, and a package index of a reader's own that offers them."""

from __future__ import annotations

import hashlib
import io
import zipfile
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def wheel(
    name: str, version: str = "1.0", requires: Sequence[str] = (), *, says: str = "", pth: str = ""
) -> bytes:
    """Return a wheel that has one module, and perhaps a file that runs code at every start."""
    info = f"{name}-{version}.dist-info"
    rows = [f"Name: {says or name}", f"Version: {version}"]
    rows += [f"Requires-Dist: {one}" for one in requires]
    files = {
        f"{name}.py": "",
        f"{info}/METADATA": "\n".join(["Metadata-Version: 2.1", *rows, ""]),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **({f"{name}.pth": pth} if pth else {}),
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return buffer.getvalue()


class Quiet(SimpleHTTPRequestHandler):
    """A folder as an index."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


WHEELS = {
    f"{name}-{version}-py3-none-any.whl": wheel(name, version)
    for name, version in (("numpy", "2.4.6"), ("numpy", "2.4.5"), ("idna", "3.20"))
}


class Index(BaseHTTPRequestHandler):
    """An index with two distributions, whose addresses hold what must not be told."""

    def do_GET(self) -> None:
        """Answer as an index does."""
        name = self.path.partition("?")[0].strip("/").rpartition("/")[2]
        if name in WHEELS:
            self._send("application/octet-stream", WHEELS[name])
            return
        files = {one: data for one, data in WHEELS.items() if one.startswith(f"{name}-")}
        links = "".join(
            f'<a href="/files/{one}?token=abcdefgh12345678#sha256={sha256_of(one)}">{one}</a>'
            for one in files
        )
        if links:
            self._send("text/html", f"<!doctype html><body>{links}</body>".encode())
        else:
            self.send_error(404)

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def sha256_of(file: str) -> str:
    """Return the hash of a wheel."""
    return hashlib.sha256(WHEELS[file]).hexdigest()
