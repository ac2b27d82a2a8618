"""The claims: found by scanning their folder, and read into plain specifications."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import coldwarm.claims
from coldwarm.catalogue.definitions import defined
from coldwarm.catalogue.patterns import Article, modules, one_line
from coldwarm.errors import PluginError
from coldwarm.registry import Source, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType


@dataclass(frozen=True)
class BenchOf:
    """A bench of functions, each a factory."""

    name: str
    candidates: tuple[str, ...]
    """The first is what the others are compared with.

    Functions by name, or methods of an object such as ``on_gpu.eager``, which is called ``eager``.
    """
    file: str | None = None
    """The name of a file beside the claim's, which several claims share; ``None``: its own."""
    regime: Literal["cold", "warm", "both"] = "both"
    seconds: float = 20.0
    checks: bool = True
    tolerance: float | None = None
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class FactsOf:
    """Functions that are called once, each in a fresh process."""

    functions: tuple[str, ...]
    """Named as the candidates of a bench are."""
    file: str | None = None
    """As of a bench."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    processes: int = 1
    """How many processes call each function: several where it tells durations."""


@dataclass(frozen=True)
class ClaimSpec:
    """What a claim declares."""

    id: str
    title: str
    """The statement, in the words of this project: the first line of its documentation."""
    source: Source
    article: Article
    quantity: str
    """What is measured."""
    protocol: str
    """How."""
    rule: str
    """What decides, written down before measuring."""
    judge: Callable[[Any], str] = field(hash=False)
    """Gives the verdict for a ``stats.catalogue.claims.Seen``; pure."""
    benches: tuple[BenchOf, ...] = ()
    facts: tuple[FactsOf, ...] = ()
    patterns: tuple[str, ...] = ()
    """Patterns whose results it rests on."""
    needs: Literal["gpu", "gpus", "tpu"] | None = None
    docs: tuple[str, ...] = ()
    note: str = ""
    """What to know about the verdict, such as what has changed since the source was written."""

    def file_of(self, one: BenchOf | FactsOf) -> Path:
        """Return the file that functions are in."""
        return self.source.path if one.file is None else self.source.path.with_name(one.file)

    def functions(self) -> set[str]:
        """Return the names of what it measures and calls, in its own file and in shared ones."""
        named = [name for one in self.facts for name in one.functions]
        named += [name for one in self.benches for name in one.candidates]
        return {name.partition(".")[0] for name in named}

    def code(self) -> str:
        """Return what its file defines, and below it what it uses of those that it shares."""
        parts = [defined(self.source.path)]
        parts += [
            f"# {path.name}\n{defined(path, self.functions())}" for path in self.source.shared
        ]
        return "\n\n\n".join(parts)


_REQUIRED = ("ARTICLE", "QUANTITY", "PROTOCOL", "RULE", "judge")


@cache
def claims() -> dict[str, ClaimSpec]:
    """Return every claim by id.

    Raises:
        PluginError: a file declares too little or names one that is not there, or an id is taken
            twice.
    """
    found: dict[str, ClaimSpec] = {}
    for module in modules(coldwarm.claims):
        spec = spec_of(module)
        if spec.id in found:
            text = f"two claims are called {spec.id!r}: {found[spec.id].source.path}"
            raise PluginError(f"{text} and {spec.source.path}")
        found[spec.id] = spec
    return found


def claim(name: str) -> ClaimSpec:
    """Return a claim by its id.

    Raises:
        UsageError: there is none.
    """
    if name not in claims():
        raise unknown("claim", name, claims())
    return claims()[name]


def called(name: str) -> str:
    """Return what a function is called in results: of ``on_gpu.eager``, ``eager``."""
    return name.rpartition(".")[2]


def spec_of(module: ModuleType) -> ClaimSpec:
    """Return what a claim's module declares.

    Raises:
        PluginError: it declares too little, or names a file that is not there.
    """
    declared = vars(module)
    missing = [name for name in _REQUIRED if name not in declared]
    if missing or not module.__doc__ or module.__file__ is None:
        text = f"claim {module.__name__} has no {', '.join(missing) or 'documentation'}"
        raise PluginError(text)
    benches = tuple(BenchOf(**one) for one in declared.get("BENCHES", ()))
    facts = tuple(FactsOf(**one) for one in declared.get("FACTS", ()))
    return ClaimSpec(
        id=module.__name__.rpartition(".")[2].replace("_", "-"),
        title=module.__doc__.strip().splitlines()[0],
        source=_source(module.__name__, Path(module.__file__), (*benches, *facts)),
        article=Article(**declared["ARTICLE"]),
        quantity=one_line(declared["QUANTITY"]),
        protocol=one_line(declared["PROTOCOL"]),
        rule=one_line(declared["RULE"]),
        judge=declared["judge"],
        benches=benches,
        facts=facts,
        patterns=tuple(declared.get("PATTERNS", ())),
        needs=declared.get("NEEDS"),
        docs=tuple(declared.get("DOCS", ())),
        note=one_line(declared.get("NOTE", "")),
    )


def _source(module: str, path: Path, named: Iterable[BenchOf | FactsOf]) -> Source:
    """Return a claim's file, with those that it shares with others."""
    shared = [path.with_name(name) for name in sorted({one.file for one in named if one.file})]
    for file in shared:
        if not file.is_file():
            text = f"claim {module} names {file.name}, which is not there: {file}"
            raise PluginError(text)
    return Source(module, path, tuple(shared))
