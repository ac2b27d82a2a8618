"""``coldwarm schema``: the JSON Schema of a contract."""

from __future__ import annotations

import json

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._commands import Command


@click.command("schema", cls=Command, example="coldwarm schema case_result")
@click.argument("name", required=False)
@_options.output("json")
def _command(name: str | None, form: str) -> None:
    """Print the JSON Schema of a file that coldwarm writes.

    It says which fields the file has, and of which types. NAME is the schema_version in the file,
    such as coldwarm.case_result.v1, or only case_result. Without NAME, all names are listed.
    """
    from coldwarm.contracts.codec import schema_names, schema_text

    if name is not None:
        click.echo(schema_text(name).rstrip())
        return
    names = schema_names()
    click.echo(json.dumps(names, indent=2) if form == "json" else "\n".join(names))
