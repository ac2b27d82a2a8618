"""``coldwarm backends``: what is installed, and why not."""

from __future__ import annotations

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._commands import Command


@click.command("backends", cls=Command, example="coldwarm backends")
@_options.output("json")
def _command(form: str) -> None:
    """List the backends: version, and what is missing."""
    from coldwarm import registry
    from coldwarm.contracts.reasons import brief
    from coldwarm.runner import harness

    entries = registry.backends().values()
    able = harness.probe(entries, gpu=True)
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
        _options.print_rows(rows)
        return
    from rich.table import Table

    from coldwarm.report.shown import PlainConsole, line, told

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("candidate", "version", "status"):
        table.add_column(name)
    for row in rows:
        table.add_row(
            line(row["candidate"]),
            line(row["version"] or "–"),
            line("ready" if row["available"] else told(row["reason"])),
        )
    PlainConsole().print(table)
