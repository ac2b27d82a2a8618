"""``coldwarm schema``: the JSON Schema of a contract."""

from __future__ import annotations

import json

import rich_click as click

from coldwarm.cli import _options


@click.command(name="schema")
@click.argument("name", required=False)
@_options.output("json", note=" A schema is always JSON.")
def _command(name: str | None, form: str) -> None:
    """Print the JSON Schema of the contract NAME; without one, list the names.

    NAME is the schema_version that stands in an artifact, such as
    coldwarm.case_result.v1, or a part of it, such as case_result.
    """
    from coldwarm.contracts.codec import schema_names, schema_text

    if name is not None:
        click.echo(schema_text(name).rstrip())
        return
    names = schema_names()
    click.echo(json.dumps(names, indent=2) if form == "json" else "\n".join(names))
