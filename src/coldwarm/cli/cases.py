"""``coldwarm cases``: what can be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._commands import Command

if TYPE_CHECKING:
    from coldwarm.runner.case_list import Case


@click.command("cases", cls=Command, example="coldwarm cases --suite quick")
@click.option(
    "--suite", metavar="NAME", help="Only the cases of this suite: quick, ml, scenarios or full."
)
@_options.output("json")
def _command(suite: str | None, form: str) -> None:
    """List the cases that `coldwarm run` can measure.

    `coldwarm run --case` takes an id, or the name of a group, such as `matmul_512_f32`, which
    stands for every candidate of it.
    """
    from coldwarm.runner import case_list

    chosen = case_list.choose(case_list.Options(suite=suite)) if suite else case_list.every_case()
    if form == "json":
        rows = [
            {
                "case": case.id,
                "group": case.group,
                "workload": case.workload.name,
                "candidate": case.candidate,
                "size": case.size,
                "dtype": case.dtype,
            }
            for case in chosen
        ]
        _options.print_rows(rows)
    else:
        _print(case_list.groups(chosen))


def _print(grouped: dict[str, list[Case]]) -> None:
    from rich.padding import Padding

    from coldwarm.report.shown import PlainConsole, line, told

    console = PlainConsole()
    for group, members in grouped.items():
        workload = members[0].workload
        console.print(line(group, "bold"))
        names = "  ".join(case.candidate for case in members)
        for text, style in ((workload.title, ""), (names, "dim")):
            console.print(Padding(line(told(text)), (0, 0, 0, 2)), style=style)
    console.print(f"\n{sum(map(len, grouped.values()))} cases in {len(grouped)} groups")
