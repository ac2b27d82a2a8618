"""Declarations of patterns and claims, read from their files as plain data; nothing here runs them.

Each is a file, found by scanning the folders. Its module imports nothing but the standard library,
so that it can be read where no framework is installed; its functions import what they need. A
pattern has constants and the two functions ``do`` and ``dont``: it is a claim that is judged by the
standard rule, that the DON'T costs more. A claim has a rule of its own, ``judge``.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import pkgutil
import textwrap
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

import coldwarm.claims
import coldwarm.patterns
from coldwarm.contracts.catalogue import point_name
from coldwarm.errors import PluginError
from coldwarm.registry import Source, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

    Facts = Mapping[str, bool | int | float | str | None]

_Side = Literal["do", "dont"]
SIDES: tuple[_Side, ...] = get_args(_Side)
_Timed = Literal["first_result_s", "first_call_s", "warm_call_s"]
_Counted = Literal[
    "programs", "equations", "instructions", "peak_rss_bytes", "kernels", "signatures"
]
TIMED: tuple[_Timed, ...] = get_args(_Timed)
_COUNTED: tuple[_Counted, ...] = get_args(_Counted)
FACTS = "facts"
"""Measure of a pattern whose sides are not timed: they run once, and return what they have seen."""
_NOISE: dict[str, Literal["memory", "none"]] = {
    **dict.fromkeys(_COUNTED, "none"),
    "peak_rss_bytes": "memory",
}
"""How what is counted scatters."""


SITE = "https://coldwarm.github.io/coldwarm"
"""Where the documentation is published; ``.github/workflows/pages.yml`` does it."""
ARTICLES = {
    "000": "benchmarks of compiling against executing",
    "001": "JAX against PyTorch",
    "002": "patterns for JAX",
}
"""Titles of the sources by their numbers."""


@dataclass(frozen=True)
class Article:
    """Where a pattern or a claim comes from, and the figure that is given there."""

    article: str
    """One of ``ARTICLES``."""
    place: str
    """The heading under which it stands."""
    figure: str = ""
    """The source's own figure, such as ``2–10×``; empty: it gives none."""
    low: float | None = None
    high: float | None = None
    """The figure as a ratio of DON'T over DO, where it is one."""


@dataclass(frozen=True)
class Bench:
    """A bench of functions, each a factory."""

    name: str
    """Empty: it is the only one."""
    candidates: tuple[str, ...]
    """The first is what the others are compared with.

    Functions by name, or methods of an object such as ``on_gpu.eager``, which is called ``eager``.
    """
    file: str | None = None
    """The name of a file beside the claim's, which several claims share; ``None``: its own."""
    regime: Literal["empty_caches", "cold", "warm", "both"] = "both"
    """``empty_caches``: of cold starts those with empty caches alone."""
    seconds: float = 20.0
    """Its time budget."""
    checks: bool = True
    """Whether all must give the same answer."""
    tolerance: float | None = None
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    given: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Numbers that the factories are given, by name."""
    noise: Literal["time", "memory", "none"] = "time"
    """How what decides scatters: it says how many processes are needed."""


@dataclass(frozen=True)
class Calls:
    """Functions that are called once, each in a fresh process."""

    functions: tuple[str, ...]
    """Named as the candidates of a bench are."""
    file: str | None = None
    """As of a bench."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    processes: int = 1
    """How many processes call each function: several where it tells durations."""


@dataclass(frozen=True, kw_only=True)
class _Spec:
    """Fields that patterns and claims both declare."""

    kind: ClassVar[Literal["patterns", "claims"]]
    id: str
    """The name of its file, with hyphens."""
    title: str
    """The first line of its documentation; of a claim the statement, in this project's words."""
    source: Source
    docs: tuple[str, ...] = ()
    """Pages of a framework's documentation."""
    needs: Literal["gpu", "gpus", "tpu"] | None = None

    @property
    def page(self) -> str:
        """The address of its page on the site."""
        return f"{SITE}/reference/{self.kind}/{self.id}.html"

    @property
    def sha256(self) -> str:
        """The hash of its file, with those that it shares."""
        return hashlib.sha256(self.source.read()).hexdigest()

    def file_of(self, one: Bench | Calls) -> Path:
        """Return the file that functions are in."""
        return self.source.path if one.file is None else self.source.path.with_name(one.file)


@dataclass(frozen=True, kw_only=True)
class PatternSpec(_Spec):
    """Declaration of a pattern."""

    kind = "patterns"
    patterns: ClassVar[tuple[str, ...]] = ()
    topic: str
    """Its folder's name."""
    framework: Literal["jax", "torch", "numba"]
    measures: str
    """What decides: one of ``TIMED`` or ``_COUNTED``, or ``facts``."""
    mechanism: str
    """Why, in two sentences."""
    exception: str
    """When the DON'T is right after all."""
    code: Mapping[_Side, str] = field(hash=False)
    """The text of each side."""
    articles: tuple[Article, ...] = ()
    """Empty: taught by practice alone."""
    symptom: str = ""
    """Symptom that is seen while a program runs."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables to set in the environment of both sides."""
    seconds: float = 25.0
    """The time budget of its measuring."""
    checks: bool = True
    """Whether both sides must give the same answer."""
    tolerance: float | None = None
    grid: Mapping[str, tuple[int, ...]] = field(default_factory=dict, hash=False)
    """Numbers at which it is measured, by the name of the one argument of ``do`` and ``dont``;
    empty: they have none. They were declared before anything was measured."""
    stated: str = ""
    """Statement of the pattern about its facts, in words."""
    holds: Callable[[Facts, Facts], bool] | None = None
    """Whether the facts of DO and DON'T are as stated; pure."""

    @property
    def benches(self) -> tuple[Bench, ...]:
        """The benches of both sides, one for each point, with the DO as the reference.

        There is none where facts decide.
        """
        if self.measures == FACTS:
            return ()
        return _over_grid(self._bench, self.grid)

    @property
    def _bench(self) -> Bench:
        return Bench(
            name="",
            candidates=SIDES,
            # Nothing is judged by starts with filled caches: the budget is for the others.
            regime="warm" if self.measures == "warm_call_s" else "empty_caches",
            seconds=self.seconds,
            checks=self.checks,
            tolerance=self.tolerance,
            variables=self.variables,
            noise=_NOISE.get(self.measures, "time"),
        )

    @property
    def calls(self) -> tuple[Calls, ...]:
        """The calls of both sides, where facts decide."""
        return (Calls(SIDES, variables=self.variables),) if self.measures == FACTS else ()


@dataclass(frozen=True, kw_only=True)
class ClaimSpec(_Spec):
    """Declaration of a claim."""

    kind = "claims"
    article: Article
    quantity: str
    """Measured quantity."""
    protocol: str
    """How."""
    rule: str
    """Deciding rule, written down before measuring."""
    judge: Callable[[Any], str] = field(hash=False)
    """Gives the verdict for a ``catalogue.judge.Evidence``; pure."""
    benches: tuple[Bench, ...] = ()
    """Of a bench with a grid, one for each of its points."""
    calls: tuple[Calls, ...] = ()
    patterns: tuple[str, ...] = ()
    """Patterns whose results it rests on."""
    made_for: Literal["gpu"] | None = None
    """The device that the source speaks of, where it is tested on another one."""
    withdrawn: str = ""
    """Why its rule does not decide on the claim, which was found after measuring; it stays as a
    record, and has no verdict."""
    note: str = ""
    """Remark on the verdict, such as what has changed since the source was written."""

    def functions(self) -> set[str]:
        """Return the names of what it measures and calls, in its own file and in shared ones."""
        named = [name for one in self.calls for name in one.functions]
        named += [name for one in self.benches for name in one.candidates]
        return {name.partition(".")[0] for name in named}

    def code(self) -> str:
        """Return what its file defines, and below it what it uses of those that it shares."""
        parts = [defined(self.source.path)]
        parts += [
            f"# {path.name}\n{defined(path, self.functions())}" for path in self.source.shared
        ]
        return "\n\n\n".join(parts)


Spec = PatternSpec | ClaimSpec
_S = TypeVar("_S", PatternSpec, ClaimSpec)


@cache
def patterns() -> dict[str, PatternSpec]:
    """Return every pattern by id, topic by topic.

    Raises:
        PluginError: a file declares too little, or an id is taken twice.
    """
    return _found(coldwarm.patterns, _pattern)


@cache
def claims() -> dict[str, ClaimSpec]:
    """Return every claim by id.

    Raises:
        PluginError: a file declares too little or names one that is not there, or an id is taken
            twice.
    """
    return _found(coldwarm.claims, claim_of)


def specs(kind: Literal["patterns", "claims"]) -> Mapping[str, Spec]:
    """Return all of a kind by id."""
    return patterns() if kind == "patterns" else claims()


def spec(kind: Literal["patterns", "claims"], name: str) -> Spec:
    """Return a pattern or a claim by its id.

    Raises:
        UsageError: there is none.
    """
    found = specs(kind)
    if name not in found:
        raise unknown(kind.removesuffix("s"), name, found)
    return found[name]


def called(name: str) -> str:
    """Return what a function is called in results: of ``on_gpu.eager``, ``eager``."""
    return name.rpartition(".")[2]


def _found(package: ModuleType, read: Callable[[ModuleType], _S]) -> dict[str, _S]:
    """Return what the modules of a package's folders declare whose names begin with no ``_``."""
    found: dict[str, _S] = {}
    infos = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [info.name for info in infos if not info.ispkg]
    for name in names:
        if name.rpartition(".")[2].startswith("_"):
            continue
        one = read(importlib.import_module(name))
        if one.id in found:
            text = f"two {one.kind} are called {one.id!r}: {found[one.id].source.path}"
            raise PluginError(f"{text} and {one.source.path}")
        found[one.id] = one
    return found


def _declared(module: ModuleType, kind: str, required: Iterable[str]) -> Mapping[str, Any]:
    """Return the names of a module.

    Raises:
        PluginError: it declares too little.
    """
    declared = vars(module)
    missing = [name for name in required if name not in declared]
    if missing or not module.__doc__ or module.__file__ is None:
        text = f"{kind} {module.__name__} has no {', '.join(missing) or 'documentation'}"
        raise PluginError(text)
    return declared


def _shared(module: ModuleType, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is read alike of both kinds."""
    return {
        "id": module.__name__.rpartition(".")[2].replace("_", "-"),
        "title": str(module.__doc__).strip().splitlines()[0],
        "source": Source(module.__name__, Path(str(module.__file__))),
        "docs": tuple(declared.get("DOCS", ())),
        "needs": declared.get("NEEDS"),
    }


_OF_PATTERN = ("FRAMEWORK", "MEASURES", "MECHANISM", "EXCEPTION", "DOCS", *SIDES)
_OPTIONAL = ("SYMPTOM", "VARIABLES", "SECONDS", "CHECKS", "TOLERANCE", "GRID", "STATED")
_OF_CLAIM = ("ARTICLE", "QUANTITY", "PROTOCOL", "RULE", "judge")


def _pattern(module: ModuleType) -> PatternSpec:
    declared = _declared(module, "pattern", _OF_PATTERN)
    shared = _shared(module, declared)
    optional = {name.lower(): declared[name] for name in (*_OPTIONAL, "holds") if name in declared}
    return PatternSpec(
        **shared,
        topic=module.__name__.split(".")[-2],
        framework=declared["FRAMEWORK"],
        measures=declared["MEASURES"],
        mechanism=_one_line(declared["MECHANISM"]),
        exception=_one_line(declared["EXCEPTION"]),
        code=_code_of(shared["source"].path, SIDES),
        articles=tuple(Article(**one) for one in declared.get("ARTICLES", ())),
        **optional,
    )


def claim_of(module: ModuleType) -> ClaimSpec:
    """Return what a claim's module declares.

    Raises:
        PluginError: it declares too little, or names a file that is not there.
    """
    declared = _declared(module, "claim", _OF_CLAIM)
    shared = _shared(module, declared)
    benches = tuple(each for one in declared.get("BENCHES", ()) for each in _benches(**one))
    calls = tuple(Calls(**one) for one in declared.get("FACTS", ()))
    shared["source"] = _with_shared_files(shared["source"], (*benches, *calls))
    return ClaimSpec(
        **shared,
        article=Article(**declared["ARTICLE"]),
        quantity=_one_line(declared["QUANTITY"]),
        protocol=_one_line(declared["PROTOCOL"]),
        rule=_one_line(declared["RULE"]),
        judge=declared["judge"],
        benches=benches,
        calls=calls,
        patterns=tuple(declared.get("PATTERNS", ())),
        made_for=declared.get("MADE_FOR"),
        withdrawn=_one_line(declared.get("WITHDRAWN", "")),
        note=_one_line(declared.get("NOTE", "")),
    )


def _benches(*, grid: Mapping[str, Sequence[int]] | None = None, **fields: Any) -> Iterable[Bench]:  # noqa: ANN401 - the fields of a bench
    """Return the bench of a claim, or those of each point of its grid."""
    return _over_grid(Bench(**fields), grid or {})


def _over_grid(bench: Bench, grid: Mapping[str, Sequence[int]]) -> tuple[Bench, ...]:
    """Return a bench for each point of a grid, of which every number is tried with every other."""
    points = [dict(zip(grid, one, strict=True)) for one in product(*grid.values())]
    return tuple(
        replace(bench, name=point_name(one, bench.name), given=one) if one else bench
        for one in points
    )


def _with_shared_files(source: Source, named: Iterable[Bench | Calls]) -> Source:
    """Return a claim's file, with those that it shares with others."""
    names = sorted({one.file for one in named if one.file})
    shared = [source.path.with_name(name) for name in names]
    for file in shared:
        if not file.is_file():
            text = f"claim {source.module} names {file.name}, which is not there: {file}"
            raise PluginError(text)
    return Source(source.module, source.path, tuple(shared))


def _one_line(paragraph: str) -> str:
    """Return a text of several lines as one."""
    return " ".join(paragraph.split())


def _code_of(path: Path, names: Sequence[_Side]) -> dict[_Side, str]:
    """Return the text of functions of a file, as it stands there."""
    text = path.read_text(encoding="utf-8")
    found = {
        node.name: textwrap.dedent(ast.get_source_segment(text, node, padded=True) or "")
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    return {name: found[name] for name in names}


_IN_WORDS = {
    "ARTICLE",
    "BENCHES",
    "DOCS",
    "FACTS",
    "GRID",
    "MADE_FOR",
    "NEEDS",
    "NOTE",
    "PATTERNS",
    "PROTOCOL",
    "QUANTITY",
    "RULE",
    "WITHDRAWN",
}
"""Constants of a claim: it stands in words above its code."""


def defined(path: Path, wanted: set[str] | None = None) -> str:
    """Return the definitions of a file; of those that are wanted, with all that they refer to."""
    text = path.read_text(encoding="utf-8")
    body = ast.parse(text).body
    chosen = _needed(body, wanted) if wanted else {name for one in body for name in _names(one)}
    lines, parts, last = text.splitlines(), [], 0
    for statement in body:
        if chosen & (_names(statement) - _IN_WORDS):
            parts.append("\n".join(lines[last : statement.end_lineno]))
        last = statement.end_lineno or last
    return "\n".join(parts).strip("\n")


def _names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement at module level defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            every = (node for target in targets for node in ast.walk(target))
            return {node.id for node in every if isinstance(node, ast.Name)}
    return set()


def _needed(body: Sequence[ast.stmt], wanted: set[str]) -> set[str]:
    """Return wanted names and those that their definitions use, however far away."""
    by_name = {name: statement for statement in body for name in _names(statement)}
    found: set[str] = set()
    open_ = wanted & set(by_name)
    while open_:
        name = open_.pop()
        found.add(name)
        used = {node.id for node in ast.walk(by_name[name]) if isinstance(node, ast.Name)}
        open_ |= (used & set(by_name)) - found
    return found
