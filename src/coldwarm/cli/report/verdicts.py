"""Results of patterns and claims, and snapshots, as a report takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from contextlib import ExitStack
    from pathlib import Path

    from coldwarm.contracts.catalogue import Kind
    from coldwarm.contracts.result import Measured
    from coldwarm.report.catalogue import Told


class _Read(NamedTuple):
    """What a report is made of."""

    runs: list[Measured]
    verdicts: list[Told]


def read(path: Path, stack: ExitStack) -> _Read:
    """Read a run, a folder of patterns or claims, or a snapshot; everything is computed again.

    ``stack`` keeps what is unpacked of an archive as long as it is needed.

    Raises:
        UsageError: there is nothing of that kind.
        ContractError: a file does not keep its contract, or says what its evidence does not say.
    """
    from coldwarm.contracts.catalogue import INDEXES
    from coldwarm.publish import layout
    from coldwarm.publish.unpacking import unpacked
    from coldwarm.runner import recompute
    from coldwarm.runner.catalogue import stored

    if path.is_file() and path.suffix != ".json":
        path = stack.enter_context(unpacked(path))
    if (path / layout.INDEX).is_file():
        runs = sorted((path / layout.RESULTS).glob("*/"))
        kinds = [kind for kind in INDEXES if stored.kind_of(path / kind) is not None]
        verdicts = [_judged(path / kind, kind) for kind in kinds]
        return _Read([recompute.read(run) for run in runs], verdicts)
    kind = stored.kind_of(path)
    if kind is not None and path.exists():
        return _Read([], [_judged(path, kind)])
    return _Read([recompute.read(path)], [])


def _judged(path: Path, kind: Kind) -> Told:
    """Return verdicts that follow from their evidence."""
    from coldwarm.cli._stored import tell
    from coldwarm.contracts.codec import load_as
    from coldwarm.contracts.environment import ENVIRONMENT, Environment
    from coldwarm.report.catalogue import told
    from coldwarm.runner.catalogue import stored

    found = stored.read(path, kind)
    for error in found.held.faults:
        raise error
    tell(path, found.held.otherwise)
    file = found.folder / ENVIRONMENT
    environments = [run.environment for run in found.runs.values() if run.environment is not None]
    environment = load_as(Environment, file) if file.is_file() else next(iter(environments), None)
    again = found.again
    return told(again.index, environment, again.reasons, len(found.held.otherwise))
