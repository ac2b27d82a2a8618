"""Whether two results may be held against each other, field by field.

What decides what was measured (the job, its data, how it is called and waited for, the machine)
must be the same. What is being compared (libraries, interpreter, kernel, variables) may differ,
and is told. The harness itself may differ too: its source changes with every release, while its
measuring rules are declared in the protocol and compared there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.environment import differences
from coldwarm.errors import NothingComparableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.files.reader import Measured
    from coldwarm.contracts.result import CaseResult

WAYS_ON = {
    "workload": "its source differs, so it is another job: measure both with the same source",
    "backend": (
        "its source differs, so candidates may be built, called or waited for in another way: "
        "measure both with the same backend"
    ),
    "identity": "it is not the same job under one name: measure the same size and dtype",
    "dataset": "the inputs differ: measure both with the same NumPy, which draws them",
    "seed": "the inputs differ: measure both with the same --seed",
    "data_layout": "the inputs lie in memory differently: measure both with the same source",
    "windows": "the clock is not read at the same places: measure both with one coldwarm",
    "sync_policy": "calls are not waited for in the same way: measure both with one coldwarm",
    "warmup_policy": "warm samples are taken differently: measure both with one coldwarm",
    "interleaving": "processes take turns differently: measure both with one coldwarm",
    "process": "modes mean other processes: measure both with one coldwarm",
    "threads": "measure both with the same --threads",
    "affinity": "the processors differ: measure both on the same ones (taskset, or --threads)",
    "environment_variables": "processes are set up differently: measure both with one coldwarm",
    "own": "the function is called in another way: give both the same arguments",
    "machine": "measure both on one machine",
    "failed": "a wrong or missing answer has no time: mend it, or leave the case out",
}
"""Every field that must agree, in the order in which they are told, and what to do."""

APART = (
    "A and B share no rounds: the machine itself may have changed in between, which no interval "
    "here covers. Candidates interleaved in one run compare more strongly."
)

_HASHES = {"workload": "workload_sha256", "backend": "backend_sha256"}
_IDENTITY = ("workload", "candidate", "backend", "size", "dtype")
_DECLARED = (
    "data_layout",
    "windows",
    "sync_policy",
    "warmup_policy",
    "interleaving",
    "threads",
    "affinity",
    "environment_variables",
    "seed",
)
_OWN_CALLS = ("kind", "renewed")
_OWN_SETTINGS = ("python", "variables", "revision", "placement", "checked")
_MACHINE = ("cpu.", "limits.", "system.ram_bytes", "system.virtualization", "gpus")
_SOFTWARE_OF_GPUS = (".driver", ".cuda", ".persistence")
_SHORT = 60


@dataclass(frozen=True)
class Disagreement:
    """A field that must agree and does not; ``cases`` is empty where it concerns all."""

    field: str
    text: str
    cases: tuple[str, ...] = ()


def common_cases(a: Measured, b: Measured) -> list[str]:
    """Return the names that both results have, in A's order.

    Raises:
        NothingComparableError: there is none; says which field keeps the nearest apart.
    """
    common = [name for name in a.cases if name in b.cases]
    if common:
        return common
    apart = [
        (field, one, other)
        for one in a.cases.values()
        for other in b.cases.values()
        for field in [_only_difference(one, other)]
        if field
    ]
    if apart:
        field, one, other = apart[0]
        values = f"A has {getattr(one, field)}, B has {getattr(other, field)}"
        text = f"{field}: {values} ({one.case}, {other.case}); measure B with the {field} of A"
    else:
        names = [", ".join(list(side.cases)[:3]) or "none" for side in (a, b)]
        text = f"A has {names[0]}, B has {names[1]}; measure the same cases (--case)"
    message = f"{a.path} and {b.path} have no case in common: {text}"
    raise NothingComparableError(message)


def _only_difference(one: CaseResult, other: CaseResult) -> str | None:
    """Return the one field that keeps two cases apart, of what a case's name is made of."""
    fields = ("workload", "candidate", "size", "dtype")
    found = [field for field in fields if getattr(one, field) != getattr(other, field)]
    return found[0] if len(found) == 1 else None


def disagreements(a: Measured, b: Measured, cases: Iterable[str]) -> list[Disagreement]:
    """Return what must agree and does not, each field once, for the cases named."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in cases:
        for field, text in _of_case(a.cases[name], b.cases[name]):
            found.setdefault((field, text), []).append(name)
    listed = [Disagreement(field, text, tuple(names)) for (field, text), names in found.items()]
    machine = machine_differences(a, b)
    if machine:
        listed.append(Disagreement("machine", "; ".join(machine)))
    order = list(WAYS_ON)
    return sorted(listed, key=lambda item: order.index(item.field))


def _of_case(one: CaseResult, other: CaseResult) -> list[tuple[str, str]]:
    found = [
        ("identity", _values(field, getattr(one, field), getattr(other, field)))
        for field in _IDENTITY
        if getattr(one, field) != getattr(other, field)
    ]
    first, second = one.protocol, other.protocol
    for field, hashed in _HASHES.items():
        pair = getattr(first, hashed), getattr(second, hashed)
        if pair[0] != pair[1]:
            found.append((field, _values(hashed, *(value[:12] for value in pair))))
    for name in _DECLARED:
        pair = getattr(first, name), getattr(second, name)
        if pair[0] != pair[1]:
            found.append((name, _values("", *pair)))
    modes = [mode for mode in first.process if mode in second.process]
    if any(first.process[mode] != second.process[mode] for mode in modes):
        found.append(("process", _values("", first.process, second.process)))
    if first.own is not None and second.own is not None:
        found += [
            ("own", _values(name, getattr(first.own, name), getattr(second.own, name)))
            for name in _OWN_CALLS
            if getattr(first.own, name) != getattr(second.own, name)
        ]
    hashes = one.dataset_sha256, other.dataset_sha256
    # Another source need not mean other inputs, and to allow the one is not to allow the other.
    explained = {"seed", "identity"} & {field for field, _ in found}
    if all(hashes) and hashes[0] != hashes[1] and not explained:
        found.append(("dataset", _values("dataset_sha256", *((h or "")[:12] for h in hashes))))
    return found


def _values(name: str, one: Any, other: Any) -> str:  # noqa: ANN401 - any value of a protocol
    """Say what each side has; of mappings only the entries that differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
        return "; ".join(_values(key, one.get(key), other.get(key)) for key in keys)
    told = f"A has {_short(one)}, B has {_short(other)}"
    return f"{name}: {told}" if name else told


def _short(value: Any) -> str:  # noqa: ANN401 - as above
    text = "none" if value is None else value
    text = text if isinstance(text, str) else msgspec.json.encode(text).decode()
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def machine_differences(a: Measured, b: Measured) -> list[str]:
    """Return what differs between the machines, one short text each."""
    if a.environment_sha256 == b.environment_sha256:
        return []
    if a.environment is None or b.environment is None:
        which = a.path if a.environment is None else b.path
        return [f"environment: {which} lies in no run, so nothing tells where it was measured"]
    return [line for line in differences(a.environment, b.environment) if _is_machine(line)]


def software_differences(a: Measured, b: Measured, cases: Sequence[str]) -> list[str]:
    """Return what else differs in the environments, what the cases loaded first."""
    lines: list[str] = []
    if a.environment is not None and b.environment is not None:
        lines = differences(a.environment, b.environment)
    lines = [line.removeprefix("distributions.") for line in lines if not _is_machine(line)]
    one, other = (_versions(side, cases) for side in (a, b))
    told = {line.partition(":")[0] for line in lines}
    lines += [
        f'{name}: "{one[name]}" became "{other[name]}"'
        for name in sorted(one.keys() & other.keys())
        if one[name] != other[name] and name not in told
    ]
    loaded = one.keys() | other.keys()
    lines += _settings(a, b, cases)
    return sorted(lines, key=lambda line: line.partition(":")[0] not in loaded)


def _settings(a: Measured, b: Measured, cases: Sequence[str]) -> list[str]:
    """Return what differs in how a user's own functions were started."""
    lines = []
    for case in cases:
        one, other = (side.cases[case].protocol.own for side in (a, b))
        if one is None or other is None:
            continue
        for name in _OWN_SETTINGS:
            pair = getattr(one, name), getattr(other, name)
            if pair[0] != pair[1]:
                lines.append(f"{name}: {_values('', *pair)} ({case})")
    return lines


def _is_machine(line: str) -> bool:
    name = line.partition(":")[0]
    return name.startswith(_MACHINE) and not name.endswith(_SOFTWARE_OF_GPUS)


def _versions(side: Measured, cases: Sequence[str]) -> dict[str, str]:
    """Return the versions that the measured processes themselves named."""
    seen: dict[str, str] = {}
    for name in cases:
        for observation in side.cases[name].observations:
            seen |= observation.versions
    return seen


def failure(case: CaseResult) -> str | None:
    """Say why a case has no valid answer, or ``None``."""
    if case.status == "failed":
        return case.reason or "failed"
    wrong = [o.gate.reason for o in case.observations if o.gate is not None and not o.gate.passed]
    return f"correctness_gate: {wrong[0] or 'a wrong answer'}" if wrong else None


def cautions(a: Measured, b: Measured, cases: Sequence[str]) -> list[str]:
    """Return what makes the comparison weaker, without forbidding it."""
    told = [APART]
    for label, side in (("A", a), ("B", b)):
        if side.suite is not None and not side.suite.complete:
            told.append(f"{label} is incomplete; `coldwarm run --resume` goes on with it")
        seen = [o for name in cases for o in side.cases[name].observations]
        noisy = sum(o.telemetry is not None and bool(o.telemetry.flags) for o in seen)
        if noisy:
            told.append(f"{label}: something else disturbed {noisy} of {len(seen)} processes")
    pairs = [(a.cases[name].protocol, b.cases[name].protocol) for name in cases]
    if any(one.harness_sha256 != other.harness_sha256 for one, other in pairs):
        one, other = pairs[0]
        versions = f"{one.harness_version} and {other.harness_version}"
        told.append(f"harness: coldwarm's own source differs ({versions}), its protocol does not")
    return told
