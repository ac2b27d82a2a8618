"""The way out of every command: what it has found, printed or written in the form asked for."""

from __future__ import annotations

import gc
import re
import shlex
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._commands import is_quiet
from coldwarm.cli._options import say
from coldwarm.errors import StorageError, storage_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from coldwarm.errors import ContractError
    from coldwarm.report.document import Document
    from coldwarm.report.formats import Format


def tell(path: Path | str, otherwise: Sequence[ContractError]) -> None:
    """Say, beside what is shown, how many stored values are not shown and not proved."""
    if not otherwise:
        return
    from coldwarm.report.provenance import sentence

    text = f"coldwarm: {path}: {sentence(len(otherwise))}; the first is {otherwise[0]}"
    say(text, err=True)


_PICTURE_COLUMNS = 80
_FORMS = ("json", "markdown", "github")
"""Forms of a result that are text alone."""
EVERY_FORM = (*_FORMS, "svg")


def emit(form: str, record: Any, document: Callable[[], Document]) -> None:  # noqa: ANN401 - every record of the contracts
    """Print a result: its record as JSON, or its document as a table, text or picture.

    Args:
        form: One of ``EVERY_FORM``, or ``table``.
        record: What JSON holds.
        document: Makes the document, for the other forms.
    """
    if form in _FORMS:
        click.echo(text_of(form, record, document), nl=False)
        return
    from coldwarm.report import terminal
    from coldwarm.report.shown import PlainConsole, without_secrets

    found = without_secrets(_shortened(document()) if is_quiet() else document())
    if form != "svg":
        terminal.show(found, PlainConsole())
        return
    console = PlainConsole(
        record=True, width=_PICTURE_COLUMNS, file=StringIO(), force_terminal=True
    )
    terminal.show(found, console)
    # A picture must be whole without a network: the viewer's own font serves.
    picture = console.export_svg(title=found.title)
    click.echo(re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL))


def _shortened(document: Document) -> Document:
    """Return the answer and what failed; where there is no answer, all but remarks."""
    from coldwarm.report.document import Document, Terms

    roles = [one.role if isinstance(one, Terms) else None for one in document.blocks]
    answers = {"answer", "failure"}
    kept = answers if "answer" in roles else {*roles} - {"care", "brief", "note", "legend"}
    named = zip(document.blocks, roles, strict=True)
    return Document(document.title, tuple(block for block, role in named if role in kept))


def text_of(form: str, record: Any, document: Callable[[], Document]) -> str:  # noqa: ANN401 - every record of the contracts
    """Return a result in one of ``_FORMS``."""
    if form == "json":
        return _options.record_text(record)
    from coldwarm.report import github, markdown
    from coldwarm.report.shown import without_secrets

    found = without_secrets(document())
    return github.text(found) if form == "github" else markdown.text(found)


def files_by_form(values: Iterable[str]) -> dict[str, Path]:
    """Return the files that a result is written to, by its form.

    Raises:
        BadParameter: there is no such form, one is given twice, or no file can be there.
    """
    files: dict[str, Path] = {}
    for value in values:
        form, _, name = value.partition("=")
        if form not in _FORMS or not name:
            told = " or ".join(f"{one}={name or 'FILE'}" for one in _FORMS)
            raise _options.wrong("--report", f"{value!r:.60}: write {told}")
        if form in files:
            raise _options.wrong("--report", f"{form} is given twice; give one file of each form")
        files[form] = Path(name)
        if files[form].is_dir() or not files[form].absolute().parent.is_dir():
            raise _options.wrong(
                "--report", f"{name!r:.200}: no file can be made there; make its folder"
            )
        _options.require_writable(files[form], "--report")
    return files


def write_text(path: Path, text: str) -> None:
    """Write a text to a file of the user's, in place of what it held.

    Raises:
        StorageError: the disk is full, or the write failed otherwise.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise storage_error(path, error) from error


def print_place(path: Path, *, verbose: bool) -> None:
    """Say where the artifacts lie, and what shows more of them."""
    if is_quiet():
        return
    more = f"More: coldwarm show {shlex.quote(str(path))} --verbose"
    say(f"Artifacts: {path}" if verbose else more, before="\n")


def write_page(folder: Path) -> Path:
    """Write the page of a run into its folder, and return its path.

    Raises:
        StorageError: it cannot be written.
    """
    from coldwarm.report.formats import load
    from coldwarm.runner import recompute

    made = load("html")
    place = beside(folder, made, "html")
    with uncollected():
        files = made.files([recompute.read(folder)], place.name)
    for name, data in files.items():
        write(folder / name, data)
    return place


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep Python from looking for what is no longer needed: of a large result that takes long."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def beside(result: Path, made: Format, name: str) -> Path:
    """Return where a report in a format lies that no other place was named for.

    That of a snapshot lies beside its folder, to which nothing may be added.
    """
    from coldwarm.publish import layout
    from coldwarm.publish.storage import next_to

    file = f"report{made.suffix}" if made.suffix else f"report-{name}"
    if (result / layout.INDEX).is_file():
        return next_to(result) / f"{result.absolute().name}-{file}"
    return (result if result.is_dir() else result.parent) / file


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        StorageError: it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        text = f"cannot write {path}: {error.strerror or error}; name another place with --out"
        raise StorageError(text) from None
