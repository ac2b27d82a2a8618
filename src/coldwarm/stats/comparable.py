"""Whether two results may be held against each other, field by field.

What decides what was measured (the job, its data, how it is called and waited for, the machine)
must be the same. What is being compared (libraries, interpreter, kernel, variables) may differ,
and is listed. The harness itself may differ too: its source changes with every release, while its
measuring rules are declared in the protocol and compared there.

How much two equal runs of a machine differ is known from its noise reports. Such a report holds the
figure of one program in each quarter of its rounds, as if each had been a run; several reports add
what changes from one hour to another. Two equal runs stay within the prediction interval of a
normal value: Student's t, times the scatter of these, times the root of 2.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.base import Difference
from coldwarm.contracts.comparison import KnownNoise, SideDifference
from coldwarm.contracts.environment import differences
from coldwarm.contracts.policy import KINDS
from coldwarm.contracts.reasons import because
from coldwarm.errors import NothingComparableError
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, FEWEST_FOR_INTERVAL, student
from coldwarm.stats.ratio import CONFIDENCE, LARGEST_EXPONENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Measured


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
"""Fields that must agree and may be allowed to differ, in the order in which it is listed."""

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


def common_cases(a: Sequence[Measured], b: Sequence[Measured]) -> list[str]:
    """Return the names that all runs have, in the order of A's first.

    Raises:
        NothingComparableError: there is none; says which field keeps the nearest apart.
    """
    first, *others = (*a, *b)
    common = list(first.cases)
    for other in others:
        left = [name for name in common if name in other.cases]
        if not left:
            raise NothingComparableError(_why_none(first, other))
        common = left
    return common


def _why_none(a: Measured, b: Measured) -> str:
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
    return f"{a.path} and {b.path} have no case in common: {text}"


def _only_difference(one: CaseResult, other: CaseResult) -> str | None:
    """Return the one field that keeps two cases apart, of what a case's name is made of."""
    fields = ("workload", "candidate", "size", "dtype")
    differing = [field for field in fields if getattr(one, field) != getattr(other, field)]
    return differing[0] if len(differing) == 1 else None


def disagreements(
    sides: Mapping[str, Sequence[Measured]], cases: Sequence[str]
) -> list[SideDifference]:
    """Return what must agree and does not, each difference once, for the cases named.

    Every run is held against the first.
    """
    (label, first), *others = labelled(sides)
    found: dict[tuple[str, ...], SideDifference] = {}
    for other, run in others:
        for item in _between(first, run, (label, other), cases):
            found.setdefault((item.field, item.name, item.a, item.b, *item.cases), item)
    return sorted(found.values(), key=lambda item: FIELDS.index(item.field))


def _between(
    a: Measured, b: Measured, of: tuple[str, str], cases: Iterable[str]
) -> Iterator[SideDifference]:
    concerned: dict[tuple[str, str, str, str], list[str]] = {}
    for case in cases:
        for field, it in _of_case(a.cases[case], b.cases[case]):
            concerned.setdefault((field, it.name, it.a, it.b), []).append(case)
    for it in machine_differences(a, b):
        concerned["machine", it.name, it.a, it.b] = []
    for (field, name, one, other), names in concerned.items():
        yield SideDifference(
            field=field, name=name, a=one, b=other, of_a=of[0], of_b=of[1], cases=names
        )


def setup(case: CaseResult) -> dict[str, Any]:
    """Return what figures of one name must have in common, but for versions of coldwarm."""
    own = case.protocol.own
    return {
        **{name: getattr(case, name) for name in ("workload", "size", "dtype", "dataset_sha256")},
        **{name: getattr(case.protocol, name) for name in _SETUP},
        **({"arguments": own.arguments, "given": own.given} if own else {}),
    }


_SETUP = ("allocator", "cache_settings", "threads", "affinity", "environment_variables", "seed")


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


def cautions(
    sides: Mapping[str, Sequence[Measured]], cases: Sequence[str], noise: KnownNoise | None
) -> list[Reason]:
    """Return what makes the comparison weaker, without forbidding it.

    ``noise`` is ``None`` where the run is the unit, so that what changes between runs is known.
    """
    reasons = between_runs(*(len(runs) for runs in sides.values()), whole=noise is None)
    reasons += [] if noise is None else _known(noise)
    reasons += [
        because("incomplete", side=label)
        for label, run in labelled(sides)
        if run.suite is not None and not run.suite.complete
    ]
    for label, runs in sides.items():
        processes = [o for name in cases for run in runs for o in run.cases[name].observations]
        noisy = sum(o.telemetry is not None and bool(o.telemetry.flags) for o in processes)
        if noisy:
            counts = {"n_disturbed": noisy, "n_processes": len(processes)}
            reasons.append(because("disturbed", side=label, **counts))
    first, *others = (run for runs in sides.values() for run in runs)
    for other in others:
        for one, two in (
            (first.cases[name].protocol, other.cases[name].protocol) for name in cases
        ):
            if one.harness_sha256 != two.harness_sha256:
                versions = {"a": one.harness_version, "b": two.harness_version}
                return [*reasons, because("harness_differs", **versions)]
    return reasons


def between_runs(n_a: int, n_b: int, *, whole: bool) -> list[Reason]:
    """Return what the number of runs leaves open; ``whole``: the run is the unit."""
    if whole:
        return [alone] if (alone := lone(n_b, n_a)) is not None else []
    few = because("few_runs", n_a=n_a, n_b=n_b, n_needed=FEWEST_FOR_CONFIDENCE)
    return [because("sides_apart"), *([few] if n_a + n_b > len("AB") else [])]


def _known(noise: KnownNoise) -> list[Reason]:
    reasons = [
        because("noise_shown", kind=kind, noise_share=share, n_reports=noise.n_reports)
        for kind, share in noise.shares.items()
    ]
    unknown: list[str] = [kind for kind in KINDS if kind not in noise.shares and kind != "memory"]
    if unknown:
        reasons.append(because("noise_unknown", kind_names=unknown))
    return reasons


def labelled(sides: Mapping[str, Sequence[Measured]]) -> list[tuple[str, Measured]]:
    """Return the runs by their names: A and B, or with their numbers where a side has several."""
    several = any(len(runs) > 1 for runs in sides.values())
    return [
        (f"{label}{place}" if several else label, run)
        for label, runs in sides.items()
        for place, run in enumerate(runs, 1)
    ]


_FEWEST_OF_A_SIDE = 2
"""Runs of either side below which there is no verdict."""


def are_unit(n_a: int, n_b: int) -> bool:
    """Say whether there are so many runs that they can be the unit, five of both sides."""
    return n_a + n_b >= FEWEST_FOR_CONFIDENCE


def lone(n_ours: int, n_theirs: int) -> Reason | None:
    """Say why there is no verdict where one side has a single run, or ``None``."""
    if min(n_ours, n_theirs) >= _FEWEST_OF_A_SIDE:
        return None
    basis = because("separate_runs", n_ours=n_ours, n_baseline=n_theirs)
    return because("lone_run", basis, n_needed=_FEWEST_OF_A_SIDE)


def known_noise(reports: Iterable[NoiseReport], place: Environment | None) -> KnownNoise:
    """Return what reports of this machine say; those of another, or cut short, say nothing."""
    used = [one for one in reports if one.complete and place is not None and _is_of(one, place)]
    grouped: dict[tuple[str, str], list[float]] = {}
    for report in used:
        for figure in report.figures:
            key = (report.target, figure.comparison.metric)
            grouped.setdefault(key, []).extend(part for part in figure.parts if part > 0)
    shares: dict[MetricKind, float] = {}
    for (_, metric), parts in grouped.items():
        if len(parts) > FEWEST_FOR_INTERVAL:
            kind: MetricKind = "warm" if metric.startswith("warm.") else "cold"
            shares[kind] = max(shares.get(kind, 0.0), _within(parts))
    return KnownNoise(n_reports=len(used), shares=shares)


def _is_of(report: NoiseReport, place: Environment) -> bool:
    return (report.cpu, report.cores) == (place.cpu.model, place.cpu.usable_cores)


def _within(parts: list[float]) -> float:
    """Return the relative difference that two equal runs exceed in 3 of 100 cases."""
    scatter = statistics.stdev(map(math.log, parts))
    at_most = student(0.5 + CONFIDENCE / 2, len(parts) - 1) * scatter * math.sqrt(2)
    return math.expm1(min(at_most, LARGEST_EXPONENT))
