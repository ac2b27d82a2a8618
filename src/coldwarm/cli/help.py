"""``coldwarm help``: the help of a command."""

from __future__ import annotations

import rich_click as click

from coldwarm.cli._commands import Command


@click.command("help", cls=Command, example="coldwarm help bench")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def _command(context: click.Context, names: tuple[str, ...]) -> None:
    """Print the help of a command, as its --help does."""
    found = context.find_root()
    for name in names:
        group = found.command
        if not isinstance(group, click.Group):
            text = f"{found.command_path} has no command {name!r:.40}"
            raise click.UsageError(text)
        _, command, _ = group.resolve_command(found, [name])
        if command is None:
            raise click.UsageError(f"there is no command {name!r:.40}")
        found = command.context_class(command, parent=found, info_name=name)
    click.echo(found.get_help())
