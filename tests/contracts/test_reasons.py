"""Reasons are data: every code has parameters with units, words, and nothing chooses by words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coldwarm
from coldwarm.contracts.reasons import (
    Codes,
    Reason,
    Value,
    because,
    brief,
    declare,
    declared,
    every_code,
)
from coldwarm.report.sentences import advice, words

SOURCE = Path(coldwarm.__file__).parent
MAKERS = {"because", "proved", "refuted"}


def example(name: str, kind: type) -> Value:
    examples: dict[type, Value] = {float: 0.25, int: 3, list: ["one", "two"], str: f"the {name}"}
    return examples[kind]


@pytest.mark.parametrize("code", every_code())
def test_every_code_has_words(code: str) -> None:
    types = declared(code).types
    reason = because(code, **{name: example(name, kinds[0]) for name, kinds in types.items()})
    assert words(reason) or code == "several"
    assert "{" not in words(reason) + advice(reason)
    assert msgspec.json.decode(msgspec.json.encode(reason), type=Reason) == reason


def test_every_table_of_a_feature_is_declared() -> None:
    tables = [*SOURCE.glob("*/reasons.py"), *SOURCE.glob("*/*/reasons.py")]
    assert [
        one for one in tables if not re.search(r"^ *declare\(", one.read_text(), re.MULTILINE)
    ] == []


def test_no_two_features_declare_one_code() -> None:
    assert len(every_code()) > 400
    with pytest.raises(ValueError, match="declared twice"):
        declare(Codes({"stated": "{text}"}))


def test_an_undeclared_code_or_parameter_is_refused_when_read() -> None:
    for document in (
        b'{"code":"because"}',
        b'{"code":"stated"}',
        b'{"code":"stated","values":{"text":1}}',
        b'{"code":"stated","values":{"text":"a","n_processes":1}}',
    ):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(document, type=Reason)


@given(st.text(max_size=20))
def test_a_brief_text_does_not_hang_on_the_words(text: str) -> None:
    assert brief(because("stated", text=text)) == f"stated: {text}"


def codes_used() -> list[tuple[str, str, set[str]]]:
    """Return place, code and parameters of every reason that the source gives by name."""
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            literal = node.args and isinstance(node.args[0], ast.Constant)
            if name in MAKERS and literal and all(k.arg for k in node.keywords):
                names = {keyword.arg or "" for keyword in node.keywords}
                place = f"{file.relative_to(SOURCE)}:{node.lineno}"
                found.append((place, str(node.args[0].value), names))  # type: ignore[attr-defined]  # a constant
    return found


def test_the_source_gives_declared_codes_with_their_parameters() -> None:
    wrong = [
        f"{place}: {code} {sorted(names)}"
        for place, code, names in codes_used()
        if code not in every_code() or names != declared(code).types.keys()
    ]
    assert not wrong, wrong
