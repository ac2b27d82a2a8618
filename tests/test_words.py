"""No program logic depends on the wording of a message, in any file of the package.

A *message* is whatever is called one: a name, an attribute or an entry of one whose name says
reason, message, text, line, note, flag or the like, an error as text, and what is written of
these. It may be shown, joined and passed on; it may not be searched, cut, edited or compared.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

import coldwarm

PACKAGE = Path(coldwarm.__file__).parent
NAMES = {
    "advice",
    "caution",
    "cautions",
    "detail",
    "error",
    "exc",
    "fault",
    "faults",
    "flag",
    "flags",
    "hint",
    "limitation",
    "limitations",
    "line",
    "lines",
    "message",
    "messages",
    "note",
    "notes",
    "reason",
    "reasons",
    "sentence",
    "text",
    "texts",
}
WRITERS = {"words", "advice", "with_advice", "brief", "one_line", "printable", "caution_words"}
EDITS = {
    "startswith",
    "endswith",
    "replace",
    "partition",
    "rpartition",
    "removeprefix",
    "removesuffix",
    "find",
    "index",
    "split",
    "rsplit",
}
PATTERNS = {"match", "fullmatch", "search", "sub", "subn", "findall", "finditer", "split"}

ALLOWED = {
    "claims/article_001/interfaces/torch_vmap_prototype.py": ("text", "documentation of PyTorch"),
    "claims/article_001/speed/chain_is_one_kernel.py": ("text", "a program of XLA"),
    "claims/article_001/training/_autocast.py": ("message", "warnings of PyTorch"),
    "claims/article_002/multipliers/vmap_is_one_kernel.py": ("text", "a program of XLA"),
    "claims/article_002/policies/_kept.py": ("line", "what JAX prints of saved values"),
    "claims/article_002/symptoms/symptom_every_call_slow.py": ("text", "the log of JAX"),
    "claims/article_002/symptoms/symptom_first_call_slow.py": ("text", "the log of JAX"),
    "claims/article_002/symptoms/symptom_traced_in_output.py": (
        "text line",
        "what a traced function prints",
    ),
    "claims/article_002/symptoms/symptom_tracer_bool_error.py": (
        "error",
        "the class of an error of JAX",
    ),
    "contracts/run_journal.py": ("line", "a line of a file"),
    "contracts/codec.py": ("text line error", "JSON, and validation messages of msgspec"),
    "contracts/policy.py": (
        "text line lines message",
        "TOML, and validation messages of msgspec",
    ),
    "doctor/record/torch_compiles.py": ("message line", "what PyTorch says; it has fields"),
    "history/executors/submitit.py": ("line error", "what squeue, sbatch and submitit print"),
    "masking.py": ("text", "any text is searched for secrets; what is done is the same"),
    "publish/lock.py": ("line", "what pip writes"),
    "runner/functions/targets.py": ("text", "arguments of the command line"),
    "runner/environment.py": (
        "text line",
        "metadata of distributions, files of /proc and /sys, output of nvidia-smi",
    ),
    "runner/telemetry.py": ("text line", "files of /proc and /sys"),
    "runner/guard.py": ("line", "a protocol of single letters"),
    "runner/replies.py": ("message reason", "what a worker wrote becomes a code here"),
    "worker/account.py": ("line", "a file of /proc"),
}
"""By file, the names of what is taken apart there, and why it is no message of ours."""


class Offence(NamedTuple):
    """An expression that chooses by a message."""

    line: int
    code: str
    names: set[str]


def parts(name: str) -> set[str]:
    return NAMES.intersection(name.lower().split("_"))


def is_message(node: ast.expr) -> bool:
    """Say whether an expression is a message, by what it is called."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return bool(parts(name))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in WRITERS:
            return True
        case (
            ast.Call(func=ast.Name(id="str" | "repr"), args=[value])
            | ast.Call(func=ast.Attribute(attr="get" | "pop" | "strip" | "lower", value=value))
            | ast.Subscript(value=value)
        ):
            return is_message(value)
        case ast.BoolOp(values=values):
            return any(map(is_message, values))
        case ast.IfExp(body=body, orelse=other):
            return is_message(body) or is_message(other)
    return False


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_lookup(node: ast.expr) -> bool:
    """Say whether it is a record's reasons, looked up by the name of what is missing."""
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("reasons")


def chooses(node: ast.AST) -> bool:
    """Say whether an expression searches, cuts, edits or compares a message."""
    match node:
        case ast.Call(func=ast.Attribute(attr=method, value=value), args=args):
            edits = method in EDITS and is_message(value)
            return edits or (method in PATTERNS and any(map(is_message, args)))
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[container]):
            return is_message(container) and not is_lookup(container)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[other]):
            return (is_message(left) and is_text(other)) or (is_text(left) and is_message(other))
        case _:
            return False


def offences(source: str) -> list[Offence]:
    """Return every expression of a module that chooses by a message."""
    listed = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.expr) and chooses(node):
            named = [n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute)]
            names = set().union(*(parts(ast.unparse(n).rpartition(".")[2]) for n in named))
            listed.append(Offence(node.lineno, ast.unparse(node), names))
    return listed


def found(file: str) -> list[str]:
    """Return the offences of a file that are not allowed there."""
    allowed = set(ALLOWED.get(file, ("", ""))[0].split())
    return [
        f"{file}:{one.line}: {one.code}"
        for one in offences((PACKAGE / file).read_text("utf-8"))
        if not one.names <= allowed
    ]


FILES = [file.relative_to(PACKAGE).as_posix() for file in sorted(PACKAGE.rglob("*.py"))]


def test_no_module_chooses_by_the_text_of_a_message() -> None:
    assert [line for file in FILES for line in found(file)] == []


def test_what_is_allowed_is_there() -> None:
    assert [file for file in ALLOWED if not offences((PACKAGE / file).read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "source",
    [
        # As they stood in runner, stats, report, cli and the process of coldwarm.bench.
        "kinds = {_NUMBER.sub('…', flag): flag for flag in flags}",
        "match = _NUMBER.search(flag)",
        "reason = warm.steady.reason.partition(': ')[2] or warm.steady.reason",
        "text.startswith(_SPECIAL) or ' is not kept' in text",
        "notes += [note for note in case.limitations if ' is not kept' in note]",
        "(case.reason or '').startswith('not_measured')",
        "only = item.reason.startswith('only in')",
        "name = line.partition(':')[0]",
        "lines = [line.removeprefix('distributions.') for line in lines]",
        "text = message.removeprefix(f'{label}: ').replace(', or give --warm-only', '')",
        "f'has no {name!r}' in text",
        "reason = error.reason.removeprefix('exception: ')",
        "case.reason == 'correctness_gate'",
        "found.null_reasons['high'].replace('_', ' ')",
        "last = found.null_reasons['high'] == 'never'",
        "what = re.search('not told', words(reason))",
        "'timed out' in str(error)",
        "str(error).endswith('busy')",
    ],
)
def test_the_rule_finds_what_chose_by_messages(source: str) -> None:
    assert offences(source)


@pytest.mark.parametrize(
    "source",
    [
        "case.reason.code == 'not_measured'",
        "reason.code in {'not_measured', 'not_proved'}",
        "'low' in summary.null_reasons",
        "words(reason) + '; ' + advice(reason)",
        "reason.values['n_blocks'] > 3",
        "error.errno == errno.ENOSPC",
        "name.startswith('cpu.')",
    ],
)
def test_the_rule_lets_pass_what_chooses_by_codes(source: str) -> None:
    assert offences(source) == []
