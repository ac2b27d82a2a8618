"""Every command, every format of each, every file that one writes: read from the commands."""

from __future__ import annotations

import base64
import gzip
import html
import io
import re
import shutil
import subprocess
import zipfile
import zlib
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

import rich_click as click

from coldwarm.cli import _tree

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str, ...]


def commands() -> dict[Path, click.Command]:
    """Return each command that does something, by its words."""
    return dict(_below(_tree.cli, ()))


def _below(group: click.Group, words: Path) -> Iterator[tuple[Path, click.Command]]:
    with click.Context(group, info_name="coldwarm") as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from _below(command, (*words, name))
            elif command is not None:
                yield (*words, name), command


def forms(command: click.Command) -> list[str]:
    """Return the formats that a command has; one without a name where it has none."""
    found = [one.type for one in command.params if one.name == "form"]
    return [
        str(one) for kind in found if isinstance(kind, click.Choice) for one in kind.choices
    ] or [""]


def files(command: click.Command) -> set[str]:
    """Return the options that name a file or a folder."""
    return {
        max(one.opts, key=len)
        for one in command.params
        if isinstance(one, click.Option) and isinstance(one.type, click.Path) and not one.hidden
    }


_LONG_BASE64 = re.compile(rb"[A-Za-z0-9+/]{80,}={0,2}")
_STREAM = re.compile(rb"stream\r?\n(.*?)endstream", re.DOTALL)
_UNICODE = re.compile(rb"\\u([0-9a-fA-F]{4})")


def layers(data: bytes) -> Iterator[bytes]:
    """Return what bytes hold as they stand, unescaped, unpacked and decoded, each in turn."""
    yield data
    text = data.decode("utf-8", "replace")
    for plain in {html.unescape(text), unquote_plus(text)} - {text}:
        yield plain.encode()
    if b"\\u" in data:
        yield _UNICODE.sub(lambda one: chr(int(one[1], 16)).encode("utf-8", "replace"), data)
    yield from chain.from_iterable(map(layers, _unpacked(data)))


def _unpacked(data: bytes) -> Iterator[bytes]:
    if data.startswith(b"\x1f\x8b"):
        yield gzip.decompress(data)
    elif data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from (one.filename.encode() + archive.read(one) for one in archive.infolist())
    elif b"%PDF-" in data[:2000]:
        for stream in _STREAM.findall(data):
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(stream)
        if shutil.which("pdftotext"):
            found = subprocess.run(
                ["pdftotext", "-", "-"],  # noqa: S607 - wherever it is
                input=data[data.index(b"%PDF-") :],
                capture_output=True,
                check=False,
            )
            yield found.stdout.replace(b"\n", b"")
    else:
        for one in _LONG_BASE64.findall(data):
            with suppress(ValueError):
                yield base64.b64decode(one + b"=" * (-len(one) % 4))
