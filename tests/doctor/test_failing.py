"""A build fails by what was found, as often as it is allowed."""

from __future__ import annotations

import pytest

from coldwarm.contracts.doctor import Finding
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.report.doctor.changes import CHANGES
from coldwarm.stats.doctor.failing import broken, limits


def finding(pattern: str, n: int) -> Finding:
    return Finding(
        pattern=pattern,
        framework="jax",
        path="a.py",
        line=1,
        function="f",
        source="",
        n=n,
        cost_s=1.0,
        saving_s=None,
        says=because("doctor_untimed"),
    )


def test_names_and_numbers_are_read() -> None:
    assert limits("recompile:3, missing-sync", CHANGES) == {
        "recompile": 3,
        "missing-sync-timing": 0,
    }
    assert limits("", CHANGES) == {}


@pytest.mark.parametrize("written", ["recompiles", "recompile:-1", "recompile:x"])
def test_what_is_no_limit_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match="--fail-on"):
        limits(written, CHANGES)


def test_recompiles_of_all_kinds_count_together() -> None:
    found = [finding("shape-change", 2), finding("varying-static-arg", 2), finding("key-reuse", 1)]
    assert broken(found, {"recompile": 3}) == {"recompile": 4}
    assert broken(found, {"recompile": 4, "missing-sync-timing": 0}) == {}
    assert broken(found, {"key-reuse": 0}) == {"key-reuse": 1}
