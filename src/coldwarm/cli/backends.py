"""``coldwarm backends``: what is installed, and why not."""

from __future__ import annotations

import json

import rich_click as click


@click.command("backends")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(*, as_json: bool) -> None:
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
    if as_json:
        click.echo(json.dumps(rows, indent=2))
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
            "ready" if row["available"] else str(row["reason"]),
        )
    Console(highlight=False).print(table)
