"""One page for each command, walked from the command tree as the program builds it."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import TYPE_CHECKING

import click

from _generate.rst import code, definition, heading, indent, literal, plain, title_of, toctree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = "coldwarm"


def tree() -> Iterator[tuple[str, click.Context]]:
    """Yield the path (``run``) and the context of every command that is not hidden."""
    group = importlib.import_module("coldwarm.cli.main").cli
    yield from _walk(group, _context(group, PROGRAM, None), "")


def pages(package: Path) -> dict[str, str]:
    """Return a page for each command, and the page above them."""
    del package  # the tree is built by the program, whatever its files are called
    found = {_page_name(path): _page(path, context) for path, context in tree()}
    names = [name for name in found if name != "index"]
    return {**found, "index": found["index"] + toctree(names)}


def _walk(
    command: click.Command, context: click.Context, path: str
) -> Iterator[tuple[str, click.Context]]:
    """Yield a command and all below it."""
    yield path, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child and not child.hidden:
                yield from _walk(child, _context(child, name, context), f"{path} {name}".strip())


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    """Return the context that the command would run in."""
    return command.context_class(command, parent=parent, info_name=name, **command.context_settings)


def _page_name(path: str) -> str:
    """Return the page of a command; the program itself is the section's index."""
    return path.replace(" ", "-") or "index"


def _page(path: str, context: click.Context) -> str:
    """Return the page of one command."""
    command = context.command
    usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
    options = [p for p in command.get_params(context) if isinstance(p, click.Option)]
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    return "".join(
        (
            heading(
                context.command_path if path else "Commands", label=f"command-{path or PROGRAM}"
            ),
            code(usage, "text"),
            _prose(command.help or ""),
            *(definition(literal(p.make_metavar(context)), _argument(p)) for p in arguments),
            f".. program:: {context.command_path}\n\n",
            *(_option(p, context) for p in options if not p.hidden),
        )
    )


def _prose(text: str) -> str:
    """Return a help text, with paragraphs that may not be rewrapped kept as they are."""
    done = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        kept = paragraph.removeprefix("\b\n")
        done.append(plain(paragraph) + "\n\n" if kept == paragraph else code(kept, "text"))
    return "".join(done)


def _argument(parameter: click.Argument) -> str:
    """Return what an argument takes."""
    # rich-click lets arguments have a help text, click itself does not.
    text = getattr(parameter, "help", None)
    return plain(text) if text else f"{title_of(parameter.human_readable_name)}."


def _option(parameter: click.Option, context: click.Context) -> str:
    """Return the entry of one option, linkable as ``{option}`coldwarm run --suite```."""
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    takes = "" if parameter.is_flag else f" <{parameter.make_metavar(context).strip('[]<>')}>"
    facts = [plain(" ".join((parameter.help or "").split()))]
    if parameter.multiple and "repeat" not in facts[0]:
        facts.append("May be given more than once.")
    default = parameter.get_default(context, call=False)
    if isinstance(default, (int, float, str)) and not parameter.is_flag:
        facts.append(f"Default: {literal(str(default))}.")
    return f".. option:: {names}{takes}\n\n{indent(' '.join(filter(None, facts)) or '–')}\n\n"
