"""Every command, every format of each, every file that one writes: read from the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        one.opts[0]
        for one in command.params
        if isinstance(one, click.Option) and isinstance(one.type, click.Path)
    }
