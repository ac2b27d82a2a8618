"""``coldwarm backends``: what is installed, and why not."""

from __future__ import annotations

import json

import rich_click as click

from coldwarm.cli import _options
from coldwarm.private.masking import cleaned, masked


@click.command("backends")
@_options.output("json")
def command(form: str) -> None:
    """List the backends: version, devices, and what is missing."""
    from coldwarm import registry
    from coldwarm.contracts.reasons import brief
    from coldwarm.runner.schedule import availability

    entries = registry.backends().values()
    able = availability.probe(entries, gpu=True)
    rows = [
        {
            "candidate": entry.candidate(device),
            "backend": entry.name,
            "device": device,
            "version": able.version(entry),
            "available": (against := able.reason_against(entry, device)) is None,
            "reason": against and brief(against),
            "title": entry.title,
        }
        for entry in entries
        for device in entry.devices
    ]
    if form == "json":
        click.echo(json.dumps(cleaned(rows), indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("candidate", "version", "status"):
        table.add_column(name)
    for row in rows:
        table.add_row(
            str(row["candidate"]),
            str(row["version"] or "–"),
            "ready" if row["available"] else masked(str(row["reason"])),
        )
    Console(highlight=False).print(table)
