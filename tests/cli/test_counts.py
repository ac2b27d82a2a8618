"""Limits of counts, as ``--fail-on`` has them, in ``compare`` and in ``bench``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
import rich_click as click
from tests.cli.test_compare import Call, call
from tests.stats import results

from coldwarm.cli import _options
from coldwarm.contracts import codec
from coldwarm.contracts.comparison import RunComparison
from coldwarm.contracts.observation import Counts
from coldwarm.contracts.policy import CountLimit

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["call"]


def stored(folder: Path, **numbers: int) -> Path:
    """Leave a result of which every process has counted this."""
    made = results.case(1)
    counts = Counts(numbers=dict(numbers))
    seen = [msgspec.structs.replace(one, counts=counts) for one in made.observations]
    return results.write(folder, [msgspec.structs.replace(made, observations=seen, counts=counts)])


@pytest.fixture
def a(tmp_path: Path) -> Path:
    return stored(tmp_path / "a", programs=3, equations=100)


@pytest.fixture
def b(tmp_path: Path) -> Path:
    return stored(tmp_path / "b", programs=4, equations=104)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ("programs", 1),
        ("programs:+0", 1),
        ("programs:+1", 0),
        ("programs:40%", 0),
        ("equations:3%", 1),
        ("equations:5%", 0),
        ("slower:5%,programs:+1,equations:+3", 1),
        ("slower:5%,programs:+1,equations:+4", 0),
    ],
)
def test_a_build_fails_where_there_are_more_than_allowed(
    a: Path, b: Path, limits: str, code: int, call: Call
) -> None:
    assert call(a, b, "--fail-on", limits)[0] == code
    assert call(b, a, "--fail-on", limits)[0] == 0


def test_guarded_counts_are_shown_and_all_are_in_the_json(a: Path, b: Path, call: Call) -> None:
    assert "programs" not in call(a, b)[1]
    out = call(a, b, "--fail-on", "programs")[1]
    assert "programs" in out
    assert "beyond 3" in out
    assert "equations" not in out
    assert "equations" in call(a, b, "--verbose")[1]
    out = call(a, b, "--fail-on", "programs", "--format", "markdown")[1]
    assert "more<br>FAIL: beyond 3" in out
    out = call(a, b, "--fail-on", "programs", "--format", "github")[1]
    assert "more programs::3 became 4; at most 3 are allowed" in out
    found = codec.decode(call(a, b, "--format", "json")[1].encode(), "the output")
    assert isinstance(found, RunComparison)
    assert [(one.name, one.verdict) for one in found.counts] == [
        ("programs", "more"),
        ("equations", "more"),
    ]


def test_what_nobody_has_counted_is_not_guarded_in_silence(a: Path, b: Path, call: Call) -> None:
    code, out, err = call(a, b, "--fail-on", "kernels:+0")
    assert code == 2
    assert "nothing here has counted kernels; there are programs, equations" in err
    assert "nothing here counts it" in out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("programs:1", "'1' is no limit of programs"),
        ("programs:-1", "'-1' is no limit of programs"),
        ("programs:+x", "'+x' is no limit of programs"),
        ("programs:", "'' is no limit of programs"),
        ("equations:x%", "is no relative difference"),
        ("equations:5%,equations:6%", "equations is given twice"),
        ("programms:+1", "'programms' is no verdict that can fail"),
    ],
)
def test_limits_that_say_nothing_are_refused(
    a: Path, b: Path, text: str, told: str, call: Call
) -> None:
    code, _, err = call(a, b, "--fail-on", text)
    assert code == 2
    assert told in err


def test_limits_of_counts_are_told_from_verdicts() -> None:
    others, limits = _options.split_counts(["slower:5%,programs", "equations:5%"])
    assert others == ["slower:5%"]
    assert limits == {"programs": CountLimit(), "equations": CountLimit(share=0.05)}
    with pytest.raises(click.BadParameter):
        _options.split_counts(["programs:+1,programs:+2"])


def test_counts_that_are_not_those_of_the_processes_are_not_believed(
    tmp_path: Path, b: Path, call: Call
) -> None:
    made = results.case(1)
    claimed = msgspec.structs.replace(made, counts=Counts(numbers={"programs": 1}))
    a = results.write(tmp_path / "claimed", [claimed])
    code, out, _ = call(a, b, "--fail-on", "programs")
    assert code == 0
    assert "undecided" in out
