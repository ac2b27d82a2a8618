"""``coldwarm cache``: what lies in a compilation cache, and whether a program finds it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Running, RunningGroup, is_quiet, with_example

if TYPE_CHECKING:
    from pathlib import Path


@click.group(
    name="cache",
    cls=RunningGroup,
    help=with_example(
        "See what lies in a compilation cache, and who finds it.",
        "coldwarm cache check .jax_cache -- train.py",
    ),
)
def _command() -> None:
    """Have the commands of caches."""


_PROGRAM = click.argument(
    "program", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGUMENT]..."
)


def _given(program: tuple[str, ...]) -> tuple[str, ...]:
    """Return a program, if there is one.

    Raises:
        UsageError: there is none.
    """
    from coldwarm.errors import UsageError

    if not program:
        raise UsageError("name a program behind --, such as: -- train.py --epochs 1")
    return program


@_command.command("list", example="coldwarm cache list .jax_cache")
@click.argument("folder", metavar="FOLDER", type=_options.Input())
@_options.output("json", "markdown")
def _list(folder: Path, form: str) -> None:
    """List the programs in a compilation cache of JAX, torch.compile or Numba.

    FOLDER is what JAX_COMPILATION_CACHE_DIR, TORCHINDUCTOR_CACHE_DIR or NUMBA_CACHE_DIR names.
    Whoever loads a cache runs code of its maker; this command loads nothing: no entry is run,
    unpickled or linked, and links are not followed.
    """
    from coldwarm.cache import cache_document, check

    found = check.listed(folder)
    _output.emit(form, found, lambda: cache_document.listed(found))


@_command.command("why", example="coldwarm cache why .jax_cache other/.jax_cache")
@click.argument("a", metavar="A", type=_options.Input())
@click.argument("b", metavar="B", type=_options.Input())
@_options.output("json", "markdown")
def _why(a: Path, b: Path, form: str) -> None:
    """Compare two compilation caches: what is in one alone, and in what its key differs.

    A and B are folders, or files of `coldwarm cache check --format json`. Programs of one name are
    held against each other: options of XLA, the path of the cache, processor, version, and the
    program itself, as far as they lie in the caches.
    """
    from coldwarm.cache import cache_document, check

    found = check.compare(a, b)
    _output.emit(form, found, lambda: cache_document.compared(found))


@_command.command("key", example="coldwarm cache key --source src")
@click.option(
    "--framework",
    "frameworks",
    multiple=True,
    type=click.Choice(["jax", "torch", "numba"]),
    help="Framework whose cache it is for. Repeatable. Default: all that are installed.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    type=_options.Input(),
    metavar="PATH",
    help="File, or folder with Python files, that the cached programs are from. Repeatable.",
)
@click.option(
    "--python",
    default=None,
    metavar="PATH",
    help="Python that has the frameworks. Default: the one of coldwarm.",
)
@_options.verbose
@_options.output("json")
def _key(
    frameworks: tuple[str, ...],
    sources: tuple[Path, ...],
    python: str | None,
    form: str,
    *,
    verbose: bool,
) -> None:
    """Print one line that changes when a compilation cache is no longer found.

    It is a name for a cache in CI, or a tag for an image: a hash of the versions of the frameworks,
    their settings, and the processor as their compilers see it. --verbose shows all of it.
    """
    from coldwarm.cache import cache_document, key

    found = key.cache_key(frameworks, sources, python or sys.executable)
    if verbose or form == "json":
        _output.emit(form, found, lambda: cache_document.keyed(found))
    else:
        _options.say(found.key)


@_command.command(
    "warm", cls=Running, example="coldwarm cache warm .jax_cache -- train.py --epochs 1"
)
@click.argument("folder", metavar="FOLDER", type=_options.Output(file_okay=False))
@_options.python
@_options.output("json", "markdown", "github")
@_PROGRAM
@click.pass_context
def _warm(
    context: click.Context, folder: Path, python: str | None, program: tuple[str, ...], form: str
) -> None:
    """Run a Python program so that it fills a cache, and check that it finds all of it.

    All programs are kept, also those that compile quickly. Then the program runs once more, as
    under `coldwarm cache check`. The variables to set where the cache is used are printed. What the
    program prints goes to standard error. The exit status is 1 if anything is missed.
    """
    from coldwarm.cache import cache_document, check
    from coldwarm.errors import ExitCode

    found = check.fill(folder, _given(program), python or sys.executable)
    settings = check.for_use(folder, found.frameworks)
    _output.emit(form, found, lambda: cache_document.filled(found, settings))
    if cache_document.missed(found.lines) or found.left_out:
        context.exit(ExitCode.REGRESSION)
    if found.exit_status or cache_document.is_blind(found):
        context.exit(ExitCode.FAILED)


@_command.command("pack", example="coldwarm cache pack .jax_cache -o cache.tar.gz --key key.pem")
@click.argument("folder", metavar="FOLDER", type=_options.Input())
@click.option(
    "-o",
    "--out",
    required=True,
    type=_options.Output(dir_okay=False),
    metavar="FILE",
    help="The archive, such as cache.tar.gz.",
)
@click.option(
    "--key",
    type=_options.Input(),
    metavar="KEY.PEM",
    help="Sign it; openssl genpkey -algorithm ed25519 -out key.pem makes a key.",
)
@_options.output("json")
def _pack(folder: Path, out: Path, key: Path | None, form: str) -> None:
    """Pack a cache into one archive, with the hash of each file.

    FOLDER is a cache as for `coldwarm cache list`. Links and special files are left out.
    """
    from coldwarm.cache import cache_document, pack

    found = pack.pack(folder, out, key)
    _output.emit(form, found, lambda: cache_document.packed(found, str(out)))


@_command.command("unpack", example="coldwarm cache unpack cache.tar.gz .jax_cache --key pub.pem")
@click.argument("file", metavar="FILE", type=_options.Input())
@click.argument("folder", metavar="FOLDER", type=_options.Output(file_okay=False))
@click.option(
    "--key",
    type=_options.Input(),
    metavar="PUBLIC.PEM",
    help="Refuse an archive that is not signed by this key.",
)
@_options.output("json")
def _unpack(file: Path, folder: Path, key: Path | None, form: str) -> None:
    """Put a packed cache into a folder, if each file is as it was packed.

    Nothing is put there otherwise. A program that loads a cache runs code of whoever made it: with
    --key, an archive that is not signed by this key is refused, with exit status 6.
    """
    from coldwarm.cache import cache_document, check, pack

    found = pack.unpack(file, folder, key)
    settings = check.for_use(folder, found.frameworks)
    _output.emit(form, found, lambda: cache_document.unpacked(found, str(folder), settings))


@_command.command(
    "check", cls=Running, example="coldwarm cache check .jax_cache -- train.py --epochs 1"
)
@click.argument("folder", metavar="FOLDER", type=_options.Input())
@_options.python
@click.option(
    "--allow-miss",
    type=_options.Whole(0, example=2),
    metavar="N",
    default=0,
    show_default=True,
    help="Most programs that may be missed.",
)
@click.option(
    "--measure",
    is_flag=True,
    help="Measure what the cache saves, by five starts with empty caches and five with a copy.",
)
@click.option(
    "--min-saving",
    type=_options.Duration(),
    default=None,
    metavar="TIME",
    help="Fail unless it is shown to save this time, such as 5s. It implies --measure.",
)
@click.option(
    "--image",
    default=None,
    metavar="NAME",
    help="Image of docker or podman with the cache: run PROGRAM in a container, by its `python`.",
)
@_options.output("json", "markdown", "github")
@_PROGRAM
@click.pass_context
def _check(
    context: click.Context,
    folder: Path,
    python: str | None,
    allow_miss: int,
    min_saving: float | None,
    image: str | None,
    program: tuple[str, ...],
    form: str,
    *,
    measure: bool,
) -> None:
    """Run a Python program with a copy of a cache, and say what it found of it.

    FOLDER is a cache as for `coldwarm cache list`. The program runs in a new process with a copy of
    it at another place, as in an image or on another machine. For each line that needs something
    compiled, the table says whether that was found, and if not, why. A program that sets the folder
    itself uses that one, and the table says so. With --image, FOLDER and PROGRAM are paths in the
    image, the program uses the cache in place, and neither entrypoint nor GPU is used. What the
    program prints goes to standard error. The exit status is 1 if more is missed than --allow-miss,
    or if the interval of what it saves begins below --min-saving. A cache is code of its maker,
    which the program runs.
    """
    from coldwarm.cache import cache_document, check, saving
    from coldwarm.errors import ExitCode, UsageError
    from coldwarm.report.progress import open_progress
    from coldwarm.report.shown import PlainConsole

    line = _given(program)
    measures = measure or min_saving is not None
    if measures and image is not None:
        raise UsageError("--measure and --min-saving are not for --image; remove them")
    if measures and sys.platform != "linux":
        raise UsageError("--measure and --min-saving need Linux; remove them")
    if image is not None:
        found = check.check_image(image, folder, line, python or "python")
    else:
        found = check.check(folder, line, python or sys.executable)
    if measures:
        with open_progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
            found = saving.measured(found, folder, line, python or sys.executable, progress)
    _output.emit(form, found, lambda: cache_document.checked(found, min_saving))
    if found.measured is not None and not found.measured.complete:
        context.exit(ExitCode.INTERRUPTED)
    is_little = min_saving is not None and not cache_document.saves(found, min_saving)
    failed = found.exit_status or cache_document.is_blind(found)
    if cache_document.missed(found.lines) > allow_miss or (is_little and not failed):
        context.exit(ExitCode.REGRESSION)
    if failed:
        context.exit(ExitCode.FAILED)
