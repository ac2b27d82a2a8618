"""Whether two results may be held against each other, field by field.

What decides what was measured (the job, its data, how it is called and waited for, the machine)
must be the same. What is being compared (libraries, interpreter, kernel, variables) may differ,
and is listed. The harness itself may differ too: its source changes with every release, while its
measuring rules are declared in the protocol and compared there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.base import Difference
from coldwarm.contracts.comparison import SideDifference
from coldwarm.contracts.environment import differences
from coldwarm.contracts.reasons import because
from coldwarm.errors import NothingComparableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult

FAILED = "failed"
FIELDS = (
    "workload",
    "backend",
    "identity",
    "dataset",
    "seed",
    "data_layout",
    "windows",
    "sync_policy",
    "warmup_policy",
    "allocator",
    "cache_settings",
    "interleaving",
    "process",
    "threads",
    "affinity",
    "environment_variables",
    "own",
    "machine",
    FAILED,
)
"""What must agree and may be allowed to differ, in the order in which it is listed."""

_HASHES = {"workload": "workload_sha256", "backend": "backend_sha256"}
_IDENTITY = ("workload", "candidate", "backend", "size", "dtype")
_DECLARED = (
    "data_layout",
    "windows",
    "sync_policy",
    "warmup_policy",
    "allocator",
    "cache_settings",
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
    differing = [field for field in fields if getattr(one, field) != getattr(other, field)]
    return differing[0] if len(differing) == 1 else None


def disagreements(a: Measured, b: Measured, cases: Iterable[str]) -> list[SideDifference]:
    """Return what must agree and does not, each difference once, for the cases named."""
    concerned: dict[tuple[str, str, str, str], list[str]] = {}
    for case in cases:
        for field, it in _of_case(a.cases[case], b.cases[case]):
            concerned.setdefault((field, it.name, it.a, it.b), []).append(case)
    for it in machine_differences(a, b):
        concerned["machine", it.name, it.a, it.b] = []
    listed = [
        SideDifference(field=field, name=name, a=one, b=other, cases=names)
        for (field, name, one, other), names in concerned.items()
    ]
    return sorted(listed, key=lambda item: FIELDS.index(item.field))


def _of_case(one: CaseResult, other: CaseResult) -> list[tuple[str, Difference]]:
    """Return what must agree in a case and does not, each with the field that it belongs to."""
    first, second = one.protocol, other.protocol
    paired: list[tuple[str, str, object, object]] = [
        *(("identity", name, one, other) for name in _IDENTITY),
        *((name, name, first, second) for name in _DECLARED),
    ]
    if first.own is not None and second.own is not None:
        paired += [("own", name, first.own, second.own) for name in _OWN_CALLS]
    listed = [(field, item) for field, name, *sides in paired for item in _attribute(name, *sides)]
    for field, hashed in _HASHES.items():
        listed += [
            (field, Difference(name=hashed, a=it.a[:12], b=it.b[:12]))
            for it in _attribute(hashed, first, second)
        ]
    modes = [mode for mode in first.process if mode in second.process]
    processes = ({mode: side.process[mode] for mode in modes} for side in (first, second))
    listed += [("process", difference) for difference in _values("process", *processes)]
    # Another source need not mean other inputs, and to allow the one is not to allow the other.
    explained = {"seed", "identity"} & {field for field, _ in listed}
    if one.dataset_sha256 and other.dataset_sha256 and not explained:
        hashes = one.dataset_sha256[:12], other.dataset_sha256[:12]
        listed += [("dataset", difference) for difference in _values("dataset_sha256", *hashes)]
    return listed


def _attribute(name: str, one: object, other: object) -> Iterator[Difference]:
    return _values(name, getattr(one, name), getattr(other, name))


def _values(name: str, one: Any, other: Any) -> Iterator[Difference]:  # noqa: ANN401 - any value
    """Yield what each side has where it differs; of mappings only the entries that differ."""
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from _values(key, one.get(key), other.get(key))
    else:
        yield Difference(name=name, a=_short(one), b=_short(other))


def _short(value: Any) -> str:  # noqa: ANN401 - as above
    text = "absent" if value is None else value
    text = text if isinstance(text, str) else msgspec.json.encode(text).decode()
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def machine_differences(a: Measured, b: Measured) -> list[Difference]:
    """Return what differs between the machines, or that one of the two is not known."""
    if a.environment_sha256 == b.environment_sha256:
        return []
    if a.environment is None or b.environment is None:
        known = ("absent" if side.environment is None else side.path for side in (a, b))
        return [Difference(name="environment", a=next(known), b=next(known))]
    found = differences(a.environment, b.environment)
    return [difference for difference in found if _is_machine(difference.name)]


def software_differences(a: Measured, b: Measured, cases: Sequence[str]) -> list[Difference]:
    """Return what else differs in the environments, what the cases loaded first."""
    listed: dict[str, Difference] = {}
    if a.environment is not None and b.environment is not None:
        for difference in differences(a.environment, b.environment):
            if not _is_machine(difference.name):
                name = difference.name.removeprefix("distributions.")
                listed[name] = Difference(name=name, a=difference.a, b=difference.b)
    one, other = (_versions(side, cases) for side in (a, b))
    found = list(listed.values())
    for name in sorted(one.keys() & other.keys() - listed.keys()):
        found += _values(name, one[name], other[name])
    for case in cases:
        found += _settings(a.cases[case], b.cases[case])
    loaded = one.keys() | other.keys()
    return sorted(found, key=lambda difference: difference.name not in loaded)


def _settings(one: CaseResult, other: CaseResult) -> Iterator[Difference]:
    """Yield what differs in how a user's own function was started."""
    first, second = one.protocol.own, other.protocol.own
    if first is not None and second is not None:
        for name in _OWN_SETTINGS:
            for item in _attribute(name, first, second):
                yield Difference(name=f"{item.name} ({one.case})", a=item.a, b=item.b)


def _is_machine(name: str) -> bool:
    return name.startswith(_MACHINE) and not name.endswith(_SOFTWARE_OF_GPUS)


def _versions(side: Measured, cases: Sequence[str]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for name in cases:
        for observation in side.cases[name].observations:
            versions |= observation.versions
    return versions


def failure(case: CaseResult) -> Reason | None:
    """Say why a case has no valid answer, or ``None``."""
    if case.status == "failed":
        return case.reason or because("unstated")
    wrong = [o.gate.reason for o in case.observations if o.gate is not None and not o.gate.passed]
    return wrong[0] or because("correctness_gate") if wrong else None


def cautions(a: Measured, b: Measured, cases: Sequence[str]) -> list[Reason]:
    """Return what makes the comparison weaker, without forbidding it."""
    reasons = [because("sides_apart")]
    for label, side in (("A", a), ("B", b)):
        if side.suite is not None and not side.suite.complete:
            reasons.append(because("incomplete", side=label))
        processes = [o for name in cases for o in side.cases[name].observations]
        noisy = sum(o.telemetry is not None and bool(o.telemetry.flags) for o in processes)
        if noisy:
            counts = {"n_disturbed": noisy, "n_processes": len(processes)}
            reasons.append(because("disturbed", side=label, **counts))
    for one, other in ((a.cases[name].protocol, b.cases[name].protocol) for name in cases):
        if one.harness_sha256 != other.harness_sha256:
            versions = {"a": one.harness_version, "b": other.harness_version}
            return [*reasons, because("harness_differs", **versions)]
    return reasons
