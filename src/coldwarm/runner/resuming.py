"""What an earlier part of a run has left, and whether it may be gone on with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts import codec
from coldwarm.contracts.base import MOST_S
from coldwarm.contracts.environment import differences
from coldwarm.contracts.journal import Fault, Header, JournalEntry
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.result import CaseResult, Making
from coldwarm.errors import ContractError, ResumeError, printable
from coldwarm.runner.schedule import killed
from coldwarm.runner.schedule.ledger import Ledger, in_order, places_of, used_s

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from coldwarm.contracts.environment import Environment
    from coldwarm.runner.schedule.suites import Case


_MOST_EVENTS = 10_000


@dataclass
class _Earlier:
    """What the journal of an earlier part holds."""

    header: Header
    ledger: Ledger = field(default_factory=Ledger)
    places: dict[int, str] = field(default_factory=dict)
    """Every process and block by its place in the order in which they ran."""
    events: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    """Lines that cannot be used."""

    def add(self, seen: Observation) -> None:
        """Add a process; one that was killed from outside may be tried again."""
        self.ledger.add(killed.tried(seen))
        self.places.update(places_of(seen))

    def order(self, path: Path) -> list[str]:
        """Return the processes and blocks in their order.

        Raises:
            ResumeError: nothing is known of most of them.
        """
        return _order(self.places, path)

    def used_s(self, cases: Iterable[Case]) -> float:
        """Return the seconds in which a process of one of these cases ran."""
        return sum(
            sum(used_s(one) for one in self.ledger.of(case))
            + sum(making.wall_s for making in self.ledger.made(case))
            for case in cases
        )


def read(lines: Iterable[JournalEntry | Fault], header: Header, path: Path) -> _Earlier:
    """Return what the lines of a journal in ``path`` say, which began with ``header``.

    What was killed from outside counts as tried and not as failed: it may be tried again.

    Raises:
        ResumeError: they say what no run has written.
    """
    earlier = _Earlier(header)
    _event({"total_s": header.options.get("time_budget_s")}, path)
    for line in lines:
        if isinstance(line, Fault):
            earlier.faults.append(line)
            continue
        record = line.record
        if isinstance(record, Observation):
            earlier.add(record)
        elif isinstance(record, Making):
            earlier.ledger.add_making(record)
            earlier.places[record.order] = f"{record.case} make"
        elif line.kind == "event":
            earlier.events.append(_event(record, path))
            if len(earlier.events) > _MOST_EVENTS:
                raise ResumeError(f"{path}: the journal has more events than any run; {_ADVICE}")
    earlier.order(path)
    return earlier


_ADVICE = "restore the journal, or start a new run in another --out-dir"
_MOST_MISSING = 1000
"""Processes of which there is no record, each in flight when a part of the run ended."""


def _event(record: dict[str, Any], path: Path) -> dict[str, Any]:
    total_s = record.get("total_s")
    if total_s is None or (isinstance(total_s, int | float) and 0 <= total_s < MOST_S):
        return record
    raise ResumeError(
        printable(f"{path}: the journal gives a budget of {total_s!r:.40}; {_ADVICE}")
    )


def _order(places: dict[int, str], path: Path) -> list[str]:
    """Return the processes and blocks of an earlier part of a run in their order."""
    last = max(places, default=-1)
    if last >= len(places) + _MOST_MISSING:
        text = f"{path}: the journal says that something ran as number {last}, of {len(places)}"
        raise ResumeError(f"{text}; {_ADVICE}")
    return in_order(places)


def restored(ledger: Ledger, folder: Path, *, trusted: bool) -> list[Observation]:
    """Return observations of the case files in ``folder`` that a journal has lost.

    ``trusted``: the index agrees with the files.

    Raises:
        ResumeError: there are some, and no index that vouches for them.
    """
    lost: list[Observation] = []
    for file in sorted(folder.glob("*.json")):
        try:
            record = codec.decode(codec.read_bytes(file), str(file))
        except ContractError:  # what cannot be read is no loss
            continue
        held = record.observations if isinstance(record, CaseResult) else []
        missing = [seen for seen in held if not ledger.holds(seen)]
        if missing and not trusted:
            what = f"{file} has {len(missing)} observations that the journal lacks"
            text = f"{what}, and would be overwritten by less; {_ADVICE}"
            raise ResumeError(printable(text))
        lost += missing
    return lost


def refuse_changes(first: Header, now: dict[str, Any], machine: Environment) -> None:
    """Refuse to go on where the parts of a run would not belong together.

    How long it may go on, and where a value was written, is no part of what it was begun with.

    Raises:
        ResumeError: the options, the environment or a source changed since.
    """
    changed = [
        f"option {name}: {first.options.get(name)!r} is now {value!r}"
        for name, value in now["options"].items()
        if first.options.get(name) != value and name not in {"time_budget_s", "option_origins"}
    ]
    if first.harness_sha256 != now["harness_sha256"]:
        changed.append("the harness's own source")
    changed += [
        f"the source of {name}"
        for name, sha256 in now["sources"].items()
        if first.sources.get(name) != sha256
    ]
    if first.fingerprint != now["fingerprint"]:
        told = first.environment
        document = told.encode() if isinstance(told, str) else msgspec.json.encode(told)
        before = codec.decode(document, "the journal's environment")
        differing = differences(before, machine) if isinstance(before, type(machine)) else []
        changed += [f"{d.name}: {d.a} became {d.b}" for d in differing] or ["the environment"]
    if changed:
        text = (
            f"this run cannot be resumed: {'; '.join(changed[:4])} changed since it started;"
            " put it back, or start a new run in another --out-dir"
        )
        raise ResumeError(text)
