"""``coldwarm completion``: what makes a shell complete the commands."""

from __future__ import annotations

import rich_click as click
from click.shell_completion import get_completion_class

from coldwarm.cli._commands import Command


@click.command(
    "completion",
    cls=Command,
    example='eval "$(coldwarm completion bash)"',
    epilog="Put that line into ~/.bashrc, or with zsh into ~/.zshrc. For fish, write the output"
    " into ~/.config/fish/completions/coldwarm.fish.",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
@click.pass_context
def _command(context: click.Context, shell: str) -> None:
    """Print a script that lets a shell complete commands and options.

    SHELL is bash, zsh or fish.
    """
    made = get_completion_class(shell)
    if made is not None:
        root = context.find_root().command
        click.echo(made(root, {}, "coldwarm", "_COLDWARM_COMPLETE").source())
