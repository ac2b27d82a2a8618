"""The patterns: found by scanning their folders, and read into plain specifications.

A pattern is a file with constants and the two functions ``do`` and ``dont``. Its module imports
nothing but the standard library, so that it can be read where no framework is installed; its
functions import what they need.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import textwrap
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import coldwarm.patterns
from coldwarm.errors import PluginError
from coldwarm.registry import Source, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    Facts = Mapping[str, bool | int | float | str | None]

Side = Literal["do", "dont"]
SIDES: tuple[Side, ...] = get_args(Side)
_Timed = Literal["first_result_s", "first_call_s", "warm_call_s"]
_Counted = Literal[
    "programs", "equations", "instructions", "peak_rss_bytes", "kernels", "signatures"
]
TIMED: tuple[_Timed, ...] = get_args(_Timed)
COUNTED: tuple[_Counted, ...] = get_args(_Counted)
FACTS = "facts"
"""Of a pattern whose sides are not timed: they run once, and return what they have seen."""


@dataclass(frozen=True)
class Article:
    """Where a pattern or a claim comes from, and the figure that is given there."""

    article: str
    """``000``, ``001`` or ``002``; the page of the sources has their titles."""
    place: str
    """The heading under which it stands."""
    figure: str = ""
    """The source's own figure, such as ``2–10×``; empty: it gives none."""
    low: float | None = None
    high: float | None = None
    """The figure as a ratio of DON'T over DO, where it is one."""


@dataclass(frozen=True)
class PatternSpec:
    """What a pattern declares."""

    id: str
    """Its file's name, with hyphens."""
    topic: str
    """Its folder's name."""
    title: str
    """The first line of its documentation."""
    source: Source
    framework: Literal["jax", "torch", "numba"]
    measures: str
    """What decides: one of ``TIMED`` or ``COUNTED``, or ``facts``."""
    mechanism: str
    """Why, in two sentences."""
    exception: str
    """When the DON'T is right after all."""
    docs: tuple[str, ...]
    """Pages of the framework's documentation that show the DO."""
    code: Mapping[Side, str] = field(hash=False)
    """The text of each side."""
    articles: tuple[Article, ...] = ()
    """Empty: taught by practice alone."""
    lint: str | None = None
    """The id of the rule that finds the DON'T in source text."""
    symptom: str = ""
    """What is seen of it while a program runs."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What has to be set in the environment of both sides."""
    seconds: float = 25.0
    """The time budget of its measuring."""
    needs: Literal["gpu", "gpus", "tpu"] | None = None
    checks: bool = True
    """Whether both sides must give the same answer."""
    tolerance: float | None = None
    stated: str = ""
    """What the pattern says of its facts, in words."""
    holds: Callable[[Facts, Facts], bool] | None = None
    """Whether the facts of DO and DON'T are as stated; pure."""

    def target(self, side: Side) -> str:
        """Return a side as the measuring takes a factory of the user's own."""
        return f"{side}={self.source.path}:{side}"


_REQUIRED = ("FRAMEWORK", "MEASURES", "MECHANISM", "EXCEPTION", "DOCS", *SIDES)


@cache
def patterns() -> dict[str, PatternSpec]:
    """Return every pattern by id, topic by topic.

    Raises:
        PluginError: a file declares too little, or an id is taken twice.
    """
    found: dict[str, PatternSpec] = {}
    for module in modules(coldwarm.patterns):
        spec = _spec(module)
        if spec.id in found:
            twice = (found[spec.id].source.path, spec.source.path)
            text = f"two patterns are called {spec.id!r}: {twice[0]} and {twice[1]}"
            raise PluginError(text)
        found[spec.id] = spec
    return found


def pattern(name: str) -> PatternSpec:
    """Return a pattern by its id.

    Raises:
        UsageError: there is none.
    """
    if name not in patterns():
        raise unknown("pattern", name, patterns())
    return patterns()[name]


def modules(package: ModuleType) -> list[ModuleType]:
    """Return the modules of a package's folders whose names do not begin with ``_``."""
    infos = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [info.name for info in infos if not info.ispkg]
    return [importlib.import_module(n) for n in names if not n.rpartition(".")[2].startswith("_")]


def _spec(module: ModuleType) -> PatternSpec:
    declared = vars(module)
    missing = [name for name in _REQUIRED if name not in declared]
    if missing or not module.__doc__ or module.__file__ is None:
        text = f"pattern {module.__name__} has no {', '.join(missing) or 'documentation'}"
        raise PluginError(text)
    *_, topic, name = module.__name__.split(".")
    path = Path(module.__file__)
    optional: dict[str, Any] = {
        field_: declared[constant]
        for constant, field_ in (
            ("ARTICLES", "articles"),
            ("LINT", "lint"),
            ("SYMPTOM", "symptom"),
            ("VARIABLES", "variables"),
            ("SECONDS", "seconds"),
            ("NEEDS", "needs"),
            ("CHECKS", "checks"),
            ("TOLERANCE", "tolerance"),
            ("STATED", "stated"),
            ("holds", "holds"),
        )
        if constant in declared
    }
    optional["articles"] = tuple(Article(**one) for one in optional.get("articles", ()))
    return PatternSpec(
        id=name.replace("_", "-"),
        topic=topic,
        title=module.__doc__.strip().splitlines()[0],
        source=Source(module.__name__, path),
        framework=declared["FRAMEWORK"],
        measures=declared["MEASURES"],
        mechanism=one_line(declared["MECHANISM"]),
        exception=one_line(declared["EXCEPTION"]),
        docs=tuple(declared["DOCS"]),
        code=_code_of(path, SIDES),
        **optional,
    )


def one_line(paragraph: str) -> str:
    """Return a text of several lines as one."""
    return " ".join(paragraph.split())


def _code_of(path: Path, names: Sequence[Side]) -> dict[Side, str]:
    """Return the text of functions of a file, as it stands there."""
    text = path.read_text(encoding="utf-8")
    found = {
        node.name: textwrap.dedent(ast.get_source_segment(text, node, padded=True) or "")
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    return {name: found[name] for name in names}
