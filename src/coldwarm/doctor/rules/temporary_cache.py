"""Caches of compiled programs in a folder that each run, or process, makes anew."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_temporary_cache": "{setting} is set to a folder that is made anew each time, so that"
    " what is compiled is never found again: about {spent_s:time}, added up over processes",
}
_CHANGES = {
    "cache-in-temporary-folder": "set it to a folder that stays, such as one beside the program",
}
_SETTINGS = {
    "NUMBA_CACHE_DIR": "numba",
    "JAX_COMPILATION_CACHE_DIR": "jax",
    "jax_compilation_cache_dir": "jax",
    "TORCHINDUCTOR_CACHE_DIR": "torch",
}
_MAKES = {"mkdtemp", "TemporaryDirectory"}


def _across(processes: Sequence[ProcessTrace]) -> Iterator[Finding]:
    """Name the lines that set such a folder."""
    trace = processes[0]
    for path in trace.sources.paths:
        nodes = list(trace.sources.nodes(path))
        made = _made(nodes)
        for node in nodes:
            setting, value = _set(node)
            framework = _SETTINGS.get(setting, "")
            if value is None or not framework or not _is_made(value, made):
                continue
            spent_s = sum(
                one.total_s
                for each in processes
                for one in each.calls
                if one.framework == framework and one.compiled and not one.hit
                if one.keeps or framework != "numba"
            )
            if trace.is_worth(spent_s):
                site = trace.line_at(path, getattr(node, "lineno", 1))
                says = because("doctor_temporary_cache", setting=setting, spent_s=spent_s)
                yield trace.finding_of_seconds(
                    "cache-in-temporary-folder", site, says, framework=framework
                )


def _set(node: ast.AST) -> tuple[str, ast.expr | None]:
    """Return the setting that a statement or call sets, and its value."""
    match node:
        case ast.Assign(
            targets=[ast.Subscript(value=of, slice=ast.Constant(value=str(name)))], value=value
        ) if ast.unparse(of).endswith("environ"):
            return name, value
        case ast.Call(args=[ast.Constant(value=str(name)), value]) if called(node) in {
            "setdefault",
            "update",
        }:
            return name, value
    return "", None


def _made(nodes: list[ast.AST]) -> set[str]:
    """Return the names of folders that are made in a file."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_made(node.value, set()):
            found |= {ast.unparse(one) for one in node.targets}
        elif isinstance(node, ast.withitem) and _is_made(node.context_expr, set()):
            found |= {ast.unparse(node.optional_vars)} if node.optional_vars else set()
    return found


def _is_made(value: ast.expr, made: set[str]) -> bool:
    return any(
        (isinstance(one, ast.Call) and called(one) in _MAKES)
        or (isinstance(one, (ast.Name, ast.Attribute)) and ast.unparse(one) in made)
        for one in ast.walk(value)
    )


RULE = Rule(codes=Codes(_REASONS), across=_across, changes=_CHANGES)
