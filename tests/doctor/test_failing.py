"""A build fails by what was found, as often as it is allowed."""

from __future__ import annotations

import pytest
from tests.doctor.reports import report, site

from coldwarm.contracts.doctor import Finding
from coldwarm.contracts.reasons import because
from coldwarm.doctor.judge import broken, limits
from coldwarm.doctor.rules import patterns, rules
from coldwarm.errors import UsageError


def finding(pattern: str, n: int, line: int = 1) -> Finding:
    return Finding(
        pattern=pattern,
        framework="jax",
        path="a.py",
        line=line,
        function="f",
        source="",
        n=n,
        cost_s=1.0,
        saving_s=None,
        says=because("doctor_untimed"),
    )


def test_a_rule_states_things_of_its_own_patterns_alone() -> None:
    assert len(patterns()) == sum(len(rule.changes) for rule in rules())
    for rule in rules():
        stated = {*rule.pages, *rule.short.values(), *rule.sizes, *rule.compiled_again}
        assert rule.codes.reasons
        assert {*rule.codes.advice, *rule.codes.parameters} <= rule.codes.reasons.keys()
        assert stated <= rule.changes.keys()


def test_names_and_numbers_are_read() -> None:
    assert limits("recompile:3, missing-sync", patterns()) == {
        "recompile": 3,
        "missing-sync-timing": 0,
    }
    assert limits("", patterns()) == {}


@pytest.mark.parametrize("written", ["recompiles", "recompile:-1", "recompile:x"])
def test_what_is_no_limit_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match="--fail-on"):
        limits(written, patterns())


def test_recompiles_of_all_kinds_count_together() -> None:
    found = report(
        [finding("shape-change", 2), finding("varying-static-arg", 2), finding("key-reuse", 1)]
    )
    assert broken(found, {"recompile": 3}) == {"recompile": 4}
    assert broken(found, {"recompile": 4, "missing-sync-timing": 0}) == {}
    assert broken(found, {"key-reuse": 0}) == {"key-reuse": 1}


def test_what_no_rule_explains_counts_once() -> None:
    found = report([finding("recompile", 4)], [site(causes={"unknown": 4})])
    assert broken(found, {"recompile": 0}) == {"recompile": 4}


def test_what_was_compiled_again_too_seldom_for_a_finding_counts() -> None:
    found = report([], [site(causes={"shape": 3}), site(causes={"static": 2}, line=2)])
    assert broken(found, {"recompile": 0}) == {"recompile": 5}
    assert broken(found, {"recompile": 5}) == {}


def test_what_has_a_finding_and_no_cause_counts_too() -> None:
    found = report(
        [finding("fresh-callable", 3)], [site(causes={}), site(causes={"shape": 1}, line=2)]
    )
    assert broken(found, {"recompile": 0}) == {"recompile": 4}


@pytest.mark.parametrize("pattern", ["list-argument", "python-loop-unrolled"])
def test_the_size_of_something_is_not_how_often_it_happened(pattern: str) -> None:
    found = report([finding(pattern, 300), finding(pattern, 20, line=2)])
    assert broken(found, {pattern: 1}) == {pattern: 2}
    assert broken(found, {pattern: 2}) == {}
