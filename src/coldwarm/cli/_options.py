"""Options that several commands share, and how a record is printed.

Limits of counts stand in ``--fail-on`` beside those of figures: ``programs:+1``, ``equations:5%``.
"""

from __future__ import annotations

import functools
import json
import math
import re
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click
from click import get_current_context

from coldwarm.contracts.base import MOST_S
from coldwarm.errors import ColdwarmError, UsageError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from coldwarm.contracts.answer import CountVerdict
    from coldwarm.contracts.policy import CountLimit

    Command = Callable[..., Any]


GZIP = b"\x1f\x8b"
"""Beginning of a packed file."""
_Verdict = TypeVar("_Verdict", bound=str)
_Kind = TypeVar("_Kind", bound=str)
_MOST_RUNS = 10_000
_MOST_THREADS = 65_536
_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0}


def _seconds(text: str) -> float:
    """Return a duration such as ``90``, ``90s``, ``2.5m`` or ``1h`` in seconds.

    Raises:
        BadParameter: it is no duration, or not above zero.
    """
    unit = _UNITS_S.get(text[-1:])
    try:
        value = float(text[:-1] if unit else text) * (unit or 1.0)
    except ValueError:
        value = 0.0
    if not 0 < value < MOST_S:
        message = f"{text!r:.40} is no duration; write 90, 90s, 2.5m or 1h: a time above 0"
        raise click.BadParameter(message)
    return value


class Duration(click.ParamType[float]):
    """A length of time."""

    name = "duration"

    def convert(self, value: str | float, *_: object) -> float:
        """Return seconds."""
        return _seconds(str(value))


class Whole(click.IntRange):
    """A whole number within bounds, which an error says with an example."""

    def __init__(self, least: int, most: int | None = None, *, example: int) -> None:
        """Take the numbers from ``least`` on, up to ``most``."""
        super().__init__(least, most)
        self._wanted = _wanted("a whole number", least, most, example)

    def convert(self, value: int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number.

        Raises:
            BadParameter: it is none, or out of bounds.
        """
        try:
            return int(super().convert(_plain(value), param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r:.40}: {self._wanted}", param, ctx)


def _plain(value: int) -> int:
    """Return a number as ``int`` takes it, from ``1,226`` as tables have it, or from ``1e6``."""
    written = str(value)
    if re.fullmatch(r"\d{1,3}(,\d{3})+", written):
        return int(written.replace(",", ""))
    whole = re.fullmatch(r"(\d)e\+?(\d{1,2})", written)
    return int(whole[1]) * 10 ** int(whole[2]) if whole else value


class Finite(click.FloatRange):
    """A number within bounds, which ``nan`` and ``inf`` are not."""

    def __init__(self, least: float, most: float | None = None, *, example: float) -> None:
        """Take the numbers from ``least`` on, up to ``most``."""
        super().__init__(least, most)
        self._wanted = _wanted("a number", least, most, example)

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number.

        Raises:
            BadParameter: it is none, or out of bounds.
        """
        number = math.nan
        with suppress(click.BadParameter):
            number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r:.40}: {self._wanted}", param, ctx)
        return number


def _wanted(kind: str, least: float, most: float | None, example: float) -> str:
    bounds = f"of {least:g} or more" if most is None else f"from {least:g} to {most:,}"
    return f"write {kind} {bounds}, such as {example}"


class Share(click.ParamType[float]):
    """A relative difference, written ``5%`` or ``0.05``."""

    name = "share"
    in_toml = (float, str), "a share such as '5%' or 0.05"
    """The types that it may have in a file of defaults, and their name."""

    def __init__(self, least: float = 0.0, most: float = 10.0) -> None:
        """Take the shares from ``least`` on, up to ``most``."""
        self._least, self._most = least, most

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return it as a number, such as 0.05.

        Raises:
            BadParameter: it is none.
        """
        from coldwarm.contracts.policy import share

        try:
            found = value if isinstance(value, float) else share(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not self._least <= found <= self._most:
            bounds = f"from {self._least:.3g} to {self._most:.3g}"
            self.fail(f"{value!r:.40}: write a share {bounds}, such as 5% or 0.05", param, ctx)
        return found


def require_writable(path: Path, option: str = "--out") -> None:
    """Refuse a place that nothing can be written to, before anything is measured in vain.

    Raises:
        UsageError: it is so; the option would name another.
    """
    import tempfile

    place = path.absolute()
    if place.is_file():
        place = place.parent
    while not place.exists():
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return
    except OSError as error:
        text = f"cannot write to {path}: {error.strerror}; name another place with {option}"
        raise UsageError(text) from None


class Output(click.Path):
    """A path that is written to; it need not be there yet."""

    def __init__(self, *, dir_okay: bool = True, file_okay: bool = True) -> None:
        """Take a file, a folder, or both."""
        super().__init__(path_type=Path, dir_okay=dir_okay)
        self._file_okay = file_okay

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """Return the path.

        Raises:
            UsageError: nothing can be written there.
        """
        option = "--out" if param is None else param.opts[-1]
        path = Path(str(super().convert(value, param, ctx)))
        if str(value) == "-":
            text = (
                f"{option} - would not go to standard output; name a file or folder ({option} ./-)"
            )
            raise UsageError(text)
        if not self._file_okay and path.is_file():
            raise UsageError(f"{option}: {path} is a file; name a folder")
        require_writable(path, option)
        return path


class Input(click.Path):
    """A path that is read; ``-`` is standard input, a JSON file or an archive."""

    def __init__(self) -> None:
        """Take a file or a folder."""
        super().__init__(path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """Return the path."""
        return input_path(str(super().convert(value, param, ctx)))


def input_path(named: str) -> Path:
    """Return a path; of ``-``, that of a file with standard input, which goes with the command.

    Raises:
        UsageError: standard input is a terminal.
    """
    if named != "-":
        return Path(named)
    import tempfile

    from coldwarm import masking

    if sys.stdin.isatty():
        message = "- reads standard input, which is a terminal; name a file, or send one: < FILE"
        raise UsageError(message)
    data = sys.stdin.buffer.read()
    folder = tempfile.TemporaryDirectory(prefix="coldwarm-")
    get_current_context().call_on_close(folder.cleanup)
    path = Path(folder.name) / ("stdin.tar.gz" if data.startswith(GZIP) else "stdin.json")
    path.write_bytes(data)
    masking.name_path(path, "-")
    return path


cold_only = click.option("--cold-only", is_flag=True, help="Measure only first results.")
warm_only = click.option("--warm-only", is_flag=True, help="Measure only later calls.")
results = click.option(
    "--results",
    type=click.Path(path_type=Path),
    metavar="RESULT",
    help="Show also the verdict in this result, a folder of `run`.",
)
seed = click.option(
    "--seed",
    type=Whole(0, example=7),
    metavar="N",
    default=0,
    show_default=True,
    help="Seed of inputs and order.",
)
sync = click.option(
    "--sync",
    metavar="MODULE:NAME",
    help="Function that waits for a result: dask:compute.",
)
threads = click.option(
    "--threads",
    type=Whole(1, _MOST_THREADS, example=2),
    metavar="N",
    help="Most threads of a process. Default: all.",
)
timeout = click.option(
    "--timeout",
    type=Duration(),
    metavar="TIME",
    default=300.0,
    help="End a process that takes longer. Default: 300s.",
)
python = click.option(
    "--python",
    default=None,
    metavar="PATH",
    help="Python to run it with. Default: the one of coldwarm.",
)
leave_out_private = click.option(
    "--leave-out-private",
    is_flag=True,
    help="Store nothing private; see `env --private`.",
)


def rounds(fewest: str, most: str) -> Callable[[Command], Command]:
    """Return the options of how many rounds are measured, with what they are by default."""
    kind = Whole(1, _MOST_RUNS, example=5)
    least = click.option(
        "--rounds",
        type=kind,
        metavar="N",
        help=f"Fewest rounds. Default: {fewest}.",
    )
    largest = click.option(
        "--max-rounds", type=kind, metavar="N", help=f"Most rounds. Default: {most}."
    )
    return lambda command: least(largest(command))


def time_budget(default: str) -> Callable[[Command], Command]:
    """Return the option that bounds a command."""
    return click.option(
        "--time-budget",
        type=Duration(),
        metavar="TIME",
        help=f"Time for all of it: 15s, 4m or 1h. Default: {default}.",
    )


def out(default: str) -> Callable[[Command], Command]:
    """Return the option that names the folder of what is measured."""
    return click.option(
        "-o",
        "--out",
        type=Output(file_okay=False),
        metavar="FOLDER",
        help=f"Folder of the results. Default: {default}.",
    )


threshold = click.option(
    "--threshold",
    type=Share(),
    default="2%",
    metavar="SHARE",
    help="Smallest difference that matters. Default: 2%.",
)

verbose = click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Print all details, not only the summary.",
)
policy = click.option(
    "--policy",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML file of limits; see docs/how-to/compare.md.",
)


def fail_on(example: str) -> Callable[[Command], Command]:
    """Return the option that lets a verdict end a command with 1."""
    return click.option(
        "--fail-on",
        "failures",
        multiple=True,
        metavar="LIMIT,...",
        help=f"End with 1 beyond {example}.",
    )


def output(*forms: str) -> Callable[[Command], Command]:
    """Return ``--format`` with the given forms besides ``text``, and ``--json``, its short form.

    The command gets the form as its argument ``form``.
    """
    choice = click.option(
        "--format",
        "form",
        type=click.Choice(["text", *forms]),
        metavar="FORM",
        default="text",
        help=f"text (the default), {', '.join(forms)}.",
    )
    short = click.option("--json", "as_json", is_flag=True, help="Short for --format json.")

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_form(*given: Any, as_json: bool, form: str, **named: Any) -> Any:  # noqa: ANN401 - of any command
            source = get_current_context().get_parameter_source("form")
            if as_json and form != "json" and source and source.name == "COMMANDLINE":
                text = f"--json and --format {form} exclude each other; give one of them"
                raise click.UsageError(text)
            try:
                return command(*given, form="json" if as_json else form, **named)
            except ColdwarmError as error:
                if form == "github":  # a job's log is long: what ended it stands at the top, too
                    _annotate(error)
                raise

        return choice(short(with_form))

    return decorate


def words(error: ColdwarmError) -> tuple[str, ...]:
    """Return the lines that say what went wrong."""
    from coldwarm.contracts.reasons import RefusedError

    if not isinstance(error, RefusedError):
        return error.lines
    from coldwarm.report.sentences import with_advice

    return (with_advice(error.reason),)


def _annotate(error: ColdwarmError) -> None:
    from coldwarm.report import github
    from coldwarm.report.shown import told

    lines = "\n".join(told(one) for one in words(error))
    annotation = github.annotation("error", "coldwarm", lines)
    click.echo(annotation)


def regimes(*, cold_only: bool, warm_only: bool) -> tuple[bool, bool]:
    """Return whether to measure cold and whether to measure warm.

    Raises:
        UsageError: neither would be measured.
    """
    if cold_only and warm_only:
        text = "--cold-only and --warm-only leave nothing to measure; give one of them"
        raise click.UsageError(text)
    return not warm_only, not cold_only


def require_out(out: Path | None, *, resume: bool) -> None:
    """Refuse to go on with nothing that is named.

    Raises:
        UsageError: it is so.
    """
    if resume and out is None:
        text = "--resume needs --out: the folder of what is to go on"
        raise click.UsageError(text)


def require_order(fewest: int | None, most: int | None) -> None:
    """Refuse fewer processes at most than at least.

    Raises:
        UsageError: it is so.
    """
    if most and fewest and most < fewest:
        raise click.UsageError(f"--max-rounds {most} is below --rounds {fewest}")


def relative(option: str, text: str, *, zero: bool = False) -> float:
    """Return the relative difference that an option gives, such as ``2%``.

    Raises:
        BadParameter: it gives none, or 0 where that makes no sense.
    """
    from coldwarm.contracts.policy import share

    try:
        return share(text, zero=zero)
    except ValueError as error:
        raise wrong(option, str(error)) from None


def parts(values: Iterable[str], option: str) -> list[str]:
    """Let an option be given several times or with commas.

    Raises:
        BadParameter: a part says nothing.
    """
    split = [part.strip() for value in values for part in value.split(",")]
    if not all(split):
        raise wrong(option, "is empty: is a variable not set?")
    return split


def failures(
    values: Iterable[str], known: Sequence[_Verdict], *, counts: bool = True
) -> dict[_Verdict, float]:
    """Return the verdicts that fail, with the differences that they must exceed.

    ``counts``: whether the command takes limits of counts, too, which an error then names.

    Raises:
        BadParameter: no such verdict can fail, one is given twice, or a difference is none.
    """
    from coldwarm.contracts.answer import COUNT_NAMES

    limits: dict[_Verdict, float] = {}
    for part in parts(values, "--fail-on"):
        name, colon, share = part.partition(":")
        direction = next((verdict for verdict in known if verdict == name), None)
        if direction is None:
            text = f"{name!r} is no verdict that can fail: {', '.join(known)}"
            text += f"; nor a count: {', '.join(COUNT_NAMES)}" if counts else ""
            raise wrong("--fail-on", text)
        if direction in limits:
            raise wrong("--fail-on", f"{name} is given twice; give one limit")
        limits[direction] = relative("--fail-on", share, zero=True) if colon else 0.0
    return limits


def failures_by_kind(
    values: Iterable[str], known: Sequence[_Verdict], kinds: Sequence[_Kind]
) -> tuple[dict[_Verdict, float], dict[_Kind, dict[_Verdict, float]]]:
    """Return as ``failures`` does what is for all figures, and what is for one kind of them.

    Raises:
        BadParameter: as ``failures``.
    """
    of_all: list[str] = []
    of_kind: dict[_Kind, list[str]] = {}
    for part in parts(values, "--fail-on"):
        name, _, rest = part.partition(":")
        kind = next((one for one in kinds if one == name), None)
        if kind is None:
            of_all.append(part)
        else:
            of_kind.setdefault(kind, []).append(rest)
    limits = failures(of_all, known) if of_all else {}
    return limits, {kind: failures(given, known) for kind, given in of_kind.items()}


def wrong(option: str, text: str) -> click.BadParameter:
    """Return the error of an option's value."""
    return click.BadParameter(text, param_hint=option)


def new_directory(name: str) -> Path:
    """Return the directory of a run that was given none; no other run is given the same."""
    from datetime import UTC, datetime

    path = Path("out", f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}")
    require_writable(path)
    return path


def say(text: object, *, before: str = "", err: bool = False) -> None:
    """Print foreign text as one line with nothing private in it."""
    from coldwarm.report.shown import told

    click.echo(before + told(text), err=err)


def print_record(record: Any) -> None:  # noqa: ANN401 - every record of the contracts
    """Print a record as JSON."""
    sys.stdout.write(record_text(record))


def record_text(record: Any) -> str:  # noqa: ANN401 - every record of the contracts
    """Return a record as JSON."""
    from coldwarm.contracts import codec
    from coldwarm.report.shown import json_text

    return json_text(codec.encode(record).decode())


def print_rows(rows: Sequence[Mapping[str, object]] | Sequence[str]) -> None:
    """Print plain values as JSON."""
    from coldwarm.contracts import codec
    from coldwarm.report.shown import json_text

    click.echo(json_text(json.dumps(codec.without_secrets(rows), indent=2)))


def split_counts(values: Iterable[str]) -> tuple[list[str], dict[str, CountLimit]]:
    """Return what ``--fail-on`` says of verdicts, and the limits of counts.

    Raises:
        BadParameter: a limit is none, or one is given twice.
    """
    from coldwarm.contracts.answer import COUNT_NAMES

    limits: dict[str, CountLimit] = {}
    others = []
    for part in parts(values, "--fail-on"):
        name, colon, limit = part.partition(":")
        if name not in COUNT_NAMES:
            others.append(part)
            continue
        if name in limits:
            raise wrong("--fail-on", f"{name} is given twice; give one limit")
        limits[name] = _limit(name, limit if colon else "+0")
    return others, limits


def _limit(name: str, given: str) -> CountLimit:
    from coldwarm.contracts.policy import CountLimit

    more = given.removeprefix("+")
    if more != given and more.isdecimal() and more.isascii():
        return CountLimit(more=int(more[:9]))
    if given[-1:] == "%" or "." in given:
        return CountLimit(share=relative("--fail-on", given, zero=True))
    text = f"{given!r:.40} is no limit of {name}: write how many more are allowed, +1 or 5%"
    raise wrong("--fail-on", text)


def refuse_unheard(limits: Mapping[str, CountLimit], verdicts: Sequence[CountVerdict]) -> None:
    """Refuse to guard what nothing has counted.

    Raises:
        UsageError: a build would guard it in vain.
    """
    from coldwarm.stats.compared_figures import unheard

    names = unheard(limits, verdicts)
    if names:
        counted = dict.fromkeys(one.name for one in verdicts if one.name not in names)
        there = f"there are {', '.join(counted)}" if counted else "there is no count at all"
        message = f"--fail-on: nothing here has counted {', '.join(names)}; {there}"
        raise UsageError(message)
