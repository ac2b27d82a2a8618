"""``coldwarm bench --command``: its options, and what they ask for."""

from __future__ import annotations

import re
import shutil
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import is_quiet
from coldwarm.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from coldwarm.commands.measure import CommandRequest
    from coldwarm.commands.process import Ready
    from coldwarm.contracts.commands import CommandBench, ReadyKind
    from coldwarm.contracts.policy import Policy

_PANEL = "Programs, instead of functions"
_COMMAND = {"command": ("COMMAND", "Program to time to its end, or until it is ready.")}
_READY = {
    "ready-log": ("TEXT", "It is ready when it prints TEXT."),
    "ready-http": ("URL", "It is ready when this answers."),
    "ready-tcp": ("HOST:PORT", "It is ready when this port is open."),
    "ready-file": ("PATH", "It is ready when this file is there."),
    "request": ("WHAT", "URL, or a command: time it when it is ready."),
    "stop": ("SIGNAL", "Signal that ends it. Default: SIGTERM."),
    "prepare": ("COMMAND", "Run before each start."),
    "conclude": ("COMMAND", "Run after each start."),
}
_ALONE = {name.replace("-", "_") for name in _READY}
_OF_FUNCTIONS = {
    *("inputs", "placement", "reference", "no_check", "tolerance", "pythons", "swept", "sync"),
    *("before", "after", "cold_only", "warm_only", "max_rounds", "policy"),
    *("no_control", "threads", "leave_out_private", "reports"),
}
_LABEL = re.compile(r"[A-Za-z_][\w.@+-]*")
_ROUNDS = 5


def options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of programs, in a panel of their own."""
    for name, (metavar, text) in reversed({**_COMMAND, **_READY}.items()):
        function = click.option(
            f"--{name}", multiple=name in _COMMAND, metavar=metavar, help=text, panel=_PANEL
        )(function)
    return click.option_panel("Options")(click.option_panel(_PANEL)(function))


def ready_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of when a program is ready, and what is asked of it."""
    for name, (metavar, text) in reversed(_READY.items()):
        function = click.option(f"--{name}", metavar=metavar, help=text)(function)
    return function


def refuse_others(given: dict[str, Any], typed: Mapping[str, str]) -> None:
    """Refuse options that go with functions alone, or with programs alone.

    Args:
        given: The values of all arguments and options.
        typed: The options that were typed, by the name of their value.

    Raises:
        UsageError: there is one, or neither a function nor a program.
    """
    if not given["command"]:
        alone = next((option for name, option in typed.items() if name in _ALONE), None)
        if alone is not None:
            raise UsageError(f"{alone} goes with a program; name it with --command")
        if not given["targets"]:
            text = "name a function, such as a.py:f, or a program, such as --command"
            raise UsageError(f"{text} 'python a.py'")
        return
    if given["targets"]:
        text = "functions and programs are not measured together; remove --command, or"
        raise UsageError(f"{text} {given['targets'][0]}")
    other = next((one for name, one in typed.items() if name in _OF_FUNCTIONS), None)
    if other is not None:
        raise UsageError(f"{other} does not go with --command; remove one of them")


def run(given: dict[str, Any], policy: Policy) -> int:
    """Measure programs, and print how long they took, and which verdicts are beyond a limit.

    Raises:
        UsageError: a program, or what it is ready by, is not what it should be.
        ProgramFailedError: one of them fails.
        StorageError: a file could not be written.
    """
    from coldwarm.commands import commands_document, figures, measure, result
    from coldwarm.contracts import codec
    from coldwarm.report.progress import open_progress
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.directory import refuse_content

    request = request_of(given)
    guards = bool(given["failures"])
    if guards and len(request.commands) == 1:
        raise UsageError("--fail-on compares programs with the first one; name a second --command")
    out_dir = given["out"] or _options.new_directory("bench")
    refuse_content(out_dir)  # before anything is measured in vain
    with open_progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
        made, ended = measure.measure(request, progress)
    report: CommandBench = codec.without_secrets(made)
    result.write(report, out_dir)
    failing = figures.failing(report.verdicts, policy)
    document = partial(
        commands_document.document, report, verbose=given["verbose"], failing=failing
    )
    _output.emit(given["form"], report, document)
    if given["form"] == "text":
        _output.print_place(out_dir, verbose=given["verbose"])
    if ended is not None:
        raise ended
    code = _code(report)
    if code != ExitCode.FINE or not guards:
        return code
    judged = {(one.command, one.cache_mode) for one in report.verdicts}
    if len(judged) < len(figures.MODES) * (len(request.commands) - 1):
        return ExitCode.NOTHING_VALID
    return ExitCode.REGRESSION if failing else code


def _code(report: CommandBench) -> int:
    if not report.complete:
        return ExitCode.INTERRUPTED
    if any(one.status == "failed" for one in report.starts):
        return ExitCode.FAILED
    return ExitCode.FINE if report.figures else ExitCode.NOTHING_VALID


def request_of(given: Mapping[str, Any]) -> CommandRequest:
    """Return what options ask for.

    Raises:
        UsageError: a program, or what it is ready by, is not what it should be.
    """
    from coldwarm.commands import measure

    commands = _labelled(given["command"])
    ready = _ready(given)
    asks, asked = None, given["request"] or ""
    if asked and ready.kind == "end":
        raise UsageError("a request needs a program that is ready before it ends; add --ready-http")
    if asked:
        asks = measure.request_by(asked)
    budget_s = given.get("time_budget")
    return measure.CommandRequest(
        commands=commands,
        ready=ready,
        stop=_signal(given["stop"] or "SIGTERM"),
        variables=_variables(given.get("variables", ()), commands),
        asks=asks,
        asked=asked,
        prepare=given["prepare"] or "",
        conclude=given["conclude"] or "",
        rounds=given["rounds"] or (_ROUNDS if budget_s is None else 1000),
        time_budget_s=budget_s,
        timeout_s=given["timeout"],
        threshold=given.get("threshold", 0.0),
        seed=given["seed"],
    )


def _ready(given: Mapping[str, Any]) -> Ready:
    from coldwarm.commands.process import Ready

    kinds: tuple[ReadyKind, ...] = ("log", "http", "tcp", "file")
    named = [Ready(kind, given[f"ready_{kind}"]) for kind in kinds if given[f"ready_{kind}"]]
    if len(named) > 1:
        text = " and ".join(f"--ready-{one.kind}" for one in named)
        raise UsageError(f"{text}: a program is ready by one of them; leave one")
    ready = named[0] if named else Ready()
    if ready.kind in {"http", "tcp"}:
        ready.place()
    return ready


def _signal(name: str) -> signal.Signals:
    try:
        return signal.Signals[name if name.startswith("SIG") else f"SIG{name}"]
    except KeyError:
        raise UsageError(f"--stop {name!r:.40} is no signal; write SIGINT or SIGTERM") from None


def _labelled(given: Sequence[str]) -> dict[str, str]:
    """Return the commands by label: the one given, or the name of the program or file.

    Raises:
        UsageError: two have one label, or one is no command.
    """
    from coldwarm.commands.process import argv

    found: dict[str, str] = {}
    for one in given:
        head, equals, rest = one.partition("=")
        # In capitals it is a variable, as in a shell.
        labelled = bool(equals) and _LABEL.fullmatch(head) is not None and not head.isupper()
        labelled = labelled and _begins(rest)
        command = rest if labelled else one
        parts = argv(command)
        name = _name(parts)
        label = head if labelled else re.sub(r"[^\w.@+-]", "_", name)
        if label in found and labelled:
            raise UsageError(f"two programs are called {label!r}; give each a label of its own")
        number = 2
        while label in found:
            label, number = f"{name}_{number}", number + 1
        found[label] = command
    return found


def _begins(command: str) -> bool:
    """Say whether it begins with a program, and not with the value of a variable."""
    word = next(iter(command.split()), "")
    return bool(word) and shutil.which(word.strip("'\"")) is not None


def _name(parts: Sequence[str]) -> str:
    """Return the name of a command: that of its file, its module, or its program."""
    if "-m" in parts[:-1]:
        return parts[parts.index("-m") + 1]
    return next((Path(one).stem for one in parts if one.endswith(".py")), Path(parts[0]).name)


def _variables(given: Iterable[str], labels: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return variables by label: ``LABEL:NAME=VALUE``, or ``NAME=VALUE`` for all."""
    from coldwarm.registry import unknown
    from coldwarm.runner.user_input import withhold_variable

    found: dict[str, dict[str, str]] = {label: {} for label in labels}
    for number, one in enumerate(given, start=1):
        head, equals, value = one.partition("=")
        label, colon, name = head.rpartition(":")
        if not equals or not name:
            raise UsageError(f"--env number {number} names no variable; write NAME=VALUE")
        if colon and label not in found:
            raise unknown("candidate", label, found)
        withhold_variable(name, value)
        for which in [label] if colon else list(found):
            found[which][name] = value
    return found
