"""The programs that were kept, of all processes, each once: what a warm-up compiles. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.stats.doctor.seen import Call, Line, Seen


@dataclass(frozen=True)
class Kept:
    """A program as JAX gives it to its compiler."""

    name: str
    """As JAX has it."""
    site: Line | None
    """The user's line that needs it."""
    arguments: Mapping[str, str]
    static: Mapping[str, str]
    file: str | None
    """What the names of its files begin with; ``None``: it was not kept."""
    why: str
    """Why it was not kept: ``callbacks``, ``processes``, ``size``, or the class of an error."""
    platform: str = ""
    devices: Sequence[int] = ()
    shape: Sequence[int] = ()
    n_callbacks: int = 0


@dataclass(frozen=True)
class Programs:
    """All that a program of the user's compiled with JAX, and what else it compiled."""

    kept: list[Kept]
    left_out: list[Kept]
    others: dict[str, int]
    """By framework: how often others than JAX compiled."""
    versions: Mapping[str, str]
    settings: Mapping[str, Any]
    variables: Mapping[str, str | None]
    again_s: float
    """Tracing and lowering, which no cache on disk saves."""
    compile_s: float
    """Compiling, which one does."""
    cut: bool = False
    """Whether a journal was full, so that what was compiled later is not known."""


@dataclass
class _Found:
    kept: dict[str, Kept] = field(default_factory=dict)
    left_out: dict[tuple[str, Line | None, str], Kept] = field(default_factory=dict)


def programs(processes: Iterable[Seen]) -> Programs:
    """Put together what the processes of a program have kept."""
    processes = list(processes)
    found = _Found()
    others: dict[str, int] = {}
    for seen in processes:
        for one in _of_process(seen):
            if one.file is None:
                found.left_out.setdefault((one.name, one.site, one.why), one)
            else:
                found.kept.setdefault(one.file, one)
        for call in seen.calls:
            if call.framework != "jax":
                others[call.framework] = others.get(call.framework, 0) + 1
    calls = [call for seen in processes for call in seen.calls if call.framework == "jax"]
    settings = _first(processes, "settings")
    return Programs(
        kept=list(found.kept.values()),
        left_out=list(found.left_out.values()),
        others=others,
        versions=_versions(processes),
        settings=settings.get("settings", {}),
        variables=settings.get("variables", {}),
        again_s=sum(one.own_s["trace"] + one.own_s["lower"] for one in calls),
        compile_s=sum(one.own_s["compile"] for one in calls),
        cut=any(True for seen in processes for _ in seen.of_kind("cut")),
    )


def _of_process(seen: Seen) -> Iterator[Kept]:
    calls: dict[int, Call] = {call.number: call for call in seen.calls}
    for row in seen.of_kind("kept"):
        call = calls.get(row.get("call") or 0)
        name = row["name"].removeprefix("jit(").removesuffix(")")
        whole = call is not None and call.name == name
        yield Kept(
            name=name,
            site=call.site if call is not None else None,
            arguments=call.arguments if call is not None and whole else {},
            static=call.static if call is not None and whole else {},
            file=row["file"],
            why=row["why"],
            platform=row.get("platform", ""),
            devices=row.get("devices", ()),
            shape=row.get("shape", ()),
            n_callbacks=row.get("n_callbacks", 0),
        )


def _first(processes: Iterable[Seen], kind: str) -> Mapping[str, Any]:
    return next((row for seen in processes for row in seen.of_kind(kind)), {})


def _versions(processes: Iterable[Seen]) -> Mapping[str, str]:
    rows = (row for seen in processes for row in seen.of_kind("framework"))
    return next((row["versions"] for row in rows if row["name"] == "jax"), {})
