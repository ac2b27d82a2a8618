"""``coldwarm schema``: the JSON Schema of a contract."""

from __future__ import annotations

import rich_click as click


@click.command(name="schema")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the JSON Schema of the contract NAME; without one, list the names.

    NAME is the schema_version that stands in an artifact, such as
    coldwarm.case_result.v1, or a part of it, such as case_result.
    """
    from coldwarm.contracts.files.schema import schema_names, schema_text

    click.echo("\n".join(schema_names()) if name is None else schema_text(name).rstrip())
