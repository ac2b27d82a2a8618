"""``coldwarm snapshot registry``: an index of many snapshots."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._options import say

_PATH = click.Path(path_type=Path)


@click.group(name="registry")
def command() -> None:
    """Keep an index of many snapshots, each id once, with the hashes of their content."""


@command.command(name="add")
@click.argument("directories", metavar="DIR...", nargs=-1, required=True, type=_PATH)
@click.option("--registry", type=_PATH, help="Its file; default snapshot_registry.json beside DIR.")
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="NAME=URL",
    help="Where more of it is, such as archive=https://…; may be repeated.",
)
def add(directories: tuple[Path, ...], registry: Path | None, links: tuple[str, ...]) -> None:
    """Add snapshots, by the hashes of their index and manifest.

    An id that is there with another content is refused: exit status 2.
    """
    from coldwarm.publish import registry as registries

    told = dict(_link(text) for text in links)
    for folder in directories:
        path = registry or registries.beside(folder)
        entry = registries.add(folder, path, told)
        sha256 = entry.artifacts.snapshot_index_sha256
        say(f"{entry.snapshot_id}: {sha256} in {path}")


@command.command(name="list")
@click.option(
    "--registry",
    type=_PATH,
    default=Path("snapshot_registry.json"),
    show_default=True,
    help="Its file.",
)
@_options.output("json", note=" JSON: the registry.")
def list_(registry: Path, form: str) -> None:
    """List the snapshots of a registry, the oldest first."""
    from coldwarm.publish import registry as registries
    from coldwarm.report import snapshot

    record = registries.load(registry)
    if form == "json":
        _options.print_record(record)
        return
    for line in snapshot.registered(record):
        say(line)


def _link(given: str) -> tuple[str, str]:
    name, equals, url = given.partition("=")
    if not equals or not name or not url.startswith(("https://", "http://")):
        raise _options.wrong("--link", f"{given!r:.60}: write NAME=https://…")
    return name, url
