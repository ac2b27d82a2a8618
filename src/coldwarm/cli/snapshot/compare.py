"""``coldwarm snapshot compare``: what differs between two snapshots."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from coldwarm.cli import _options, _output, _stored


@click.command("compare")
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@_options.output(*_output.EVERY_FORM, note=_output.NOTE)
def command(a: Path, b: Path, form: str) -> None:
    """Compare snapshot B with snapshot A: inputs, gates, protocol, environment and timings.

    Of patterns and claims, the verdicts that changed are listed. Both are verified first. Timings
    get verdicts as in `coldwarm compare`, whatever else differs; that is listed before them.

    Exit status: 0 compared, 2 there is no snapshot; 3, 5 and 6 as of `coldwarm snapshot verify`.
    """
    from contextlib import ExitStack

    from coldwarm.catalogue import stored
    from coldwarm.publish import compare, verify
    from coldwarm.publish.unpacking import unpacked
    from coldwarm.report import checked

    with ExitStack() as stack:
        sides = [verify.require(stack.enter_context(unpacked(path)), path) for path in (a, b)]
        first, second = (side.content() for side in sides)
        verdicts = [
            {str(one.kind): stored.judged(one).index.verdicts for one in side.judged}
            for side in sides
        ]
        for path, side in zip((a, b), sides, strict=True):
            for name, run in side.runs.items():
                _stored.tell(f"{path}: {name}", run.otherwise)
        found = compare.compare(first, second, *verdicts)
    _output.emit(form, found, lambda: checked.comparison(found))
