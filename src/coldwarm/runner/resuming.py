"""What an earlier part of a run has left, and whether it may be gone on with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.environment import differences
from coldwarm.contracts.files import codec
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.result import Making
from coldwarm.errors import ResumeError
from coldwarm.runner.schedule.ledger import Ledger, earlier_order, used_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.files.journal import Entry
    from coldwarm.runner.schedule.case import Case


@dataclass(frozen=True)
class Earlier:
    """What the journal of an earlier part holds."""

    header: dict[str, Any]
    ledger: Ledger
    order: list[str]
    """Every process and block in the order in which it ran."""
    events: list[dict[str, Any]]

    def used_s(self, cases: Iterable[Case]) -> float:
        """Return the seconds in which a process of one of these cases ran."""
        return sum(
            sum(used_s(one) for one in self.ledger.of(case))
            + sum(making.wall_s for making in self.ledger.made(case))
            for case in cases
        )


def read(entries: Sequence[Entry], path: Path) -> Earlier:
    """Return what the entries of a journal in ``path`` say.

    Raises:
        ResumeError: they do not say what the run was asked for.
    """
    header = next((entry.record for entry in entries if entry.kind == "header"), None)
    if not isinstance(header, dict):
        text = f"{path} has a journal without a header; start a new run"
        raise ResumeError(text)
    seen = [entry.record for entry in entries if isinstance(entry.record, Observation)]
    makings = [entry.record for entry in entries if isinstance(entry.record, Making)]
    ledger = Ledger(seen)
    for making in makings:
        ledger.add_making(making)
    events = [e.record for e in entries if e.kind == "event" and isinstance(e.record, dict)]
    return Earlier(header, ledger, earlier_order(seen, makings), events)


def refuse_changes(first: dict[str, Any], now: dict[str, Any], machine: Environment) -> None:
    """Refuse to go on where the parts of a run would not belong together.

    How long it may go on, and where a value was written, is no part of what it was begun with.

    Raises:
        ResumeError: the options, the environment or a source changed since.
    """
    changed = [
        f"option {name}: {first['options'].get(name)!r} is now {value!r}"
        for name, value in now["options"].items()
        if first["options"].get(name) != value and name not in {"time_budget_s", "option_origins"}
    ]
    if first["harness_sha256"] != now["harness_sha256"]:
        changed.append("the harness's own source")
    changed += [
        f"the source of {name}"
        for name, sha256 in now["sources"].items()
        if first["sources"].get(name) != sha256
    ]
    if first["fingerprint"] != now["fingerprint"]:
        before = codec.decode(
            msgspec.json.encode(first["environment"]), "the journal's environment"
        )
        differing = differences(before, machine) if isinstance(before, type(machine)) else []
        changed += [f"{d.name}: {d.a} became {d.b}" for d in differing] or ["the environment"]
    if changed:
        text = (
            f"this run cannot be resumed: {'; '.join(changed[:4])} changed since it started;"
            " put it back, or start a new run in another --out-dir"
        )
        raise ResumeError(text)
