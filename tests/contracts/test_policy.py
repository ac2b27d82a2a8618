"""A policy says which differences matter and fail, and nothing that it does not mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from coldwarm.contracts.policy import Policy, read_policy, share
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import MetricKind

WHOLE = """\
# What matters here.
[threshold]
warm = "3%"

[fail_on]
slower = "5%"

[[rule]]
cases = "jax_*"
metrics = "*.ttfr_s"
threshold = "20%"
fail_on = { slower = "30%", faster = "0%" }

[[rule]]
cases = "jax_jit_*"
fail_on = {}
"""


def read(folder: Path, text: str, base: Policy | None = None) -> Policy:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path, base or Policy())


FIGURES: set[tuple[str, str, MetricKind]] = {
    ("numpy_x", "warm.call_s", "warm"),
    ("jax_x", "first_ever.ttfr_s", "cold"),
    ("jax_x", "first_ever.peak_rss_bytes", "memory"),
}


def test_later_rules_replace_what_they_set(tmp_path: Path) -> None:
    policy = read(tmp_path, WHOLE, Policy(fail_on={"more": 0.5}))
    warm = policy.limits("numpy_x", "warm.call_s", "warm")
    assert (warm.threshold, warm.fail_on) == (0.03, {"slower": 0.05, "more": 0.5})
    eager = policy.limits("jax_eager_x", "first_ever.ttfr_s", "cold")
    assert (eager.threshold, eager.fail_on) == (0.2, {"faster": 0.0, "slower": 0.3})
    jit = policy.limits("jax_jit_x", "first_ever.ttfr_s", "cold")
    assert (jit.threshold, jit.fail_on) == (0.2, {})


def test_what_the_file_leaves_open_is_as_the_options_say(tmp_path: Path) -> None:
    base = Policy(thresholds={"cold": 0.5, "warm": 0.4, "memory": 0.3}, fail_on={"more": 0.2})
    policy = read(tmp_path, '[threshold]\nwarm = "1%"\n', base)
    assert policy.thresholds == {"cold": 0.5, "warm": 0.01, "memory": 0.3}
    assert policy.fail_on == {"more": 0.2}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("speed = 1\n", ":1: speed: is no key of a policy; known here: threshold, fail_on, rule"),
        ('[threshold]\nwarm = "3%"\nhot = "3%"\n', ":3: threshold.hot: is no key of a policy"),
        ("[threshold]\n\nwarm = 3\n", ":3: threshold.warm: expected text in quotes, got int"),
        ('[threshold]\nwarm = "3"\n', ":2: threshold.warm: '3' is no relative difference"),
        ('[threshold]\nwarm = "0%"\n', ":2: threshold.warm: '0%' is no relative difference"),
        ('[fail_on]\nslower = "-1%"\n', ":2: fail_on.slower: '-1%' is no relative difference"),
        ('[fail_on]\nslow = "1%"\n', ":2: fail_on.slow: is no key of a policy"),
        ('[[rule]]\nthreshold = "1%"\n', ":1: rule[0]: needs a key cases"),
        (WHOLE + "\n[[rule]]\ncases = 7\n", ":19: rule[2].cases: expected text"),
        (WHOLE + '\n[[rule]]\ncases = "*"\nmetric = "*"\n', ":20: rule[2].metric: is no key"),
        (
            WHOLE + '\n[[rule]]\ncases = "*"\nfail_on = { slower = "x" }\n',
            ":20: rule[2].fail_on.slower: 'x' is no relative difference",
        ),
        ("rule = 3\n", ":1: rule: "),
        ("[threshold\n", ": is not TOML: "),
        ('[fail_on]\nslower = "1%"\nslower = "2%"\n', ": is not TOML: "),
    ],
)
def test_what_a_policy_does_not_say_is_refused_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(f"{tmp_path / 'policy.toml'}{told}")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_policy(tmp_path / "none.toml", Policy())
    (tmp_path / "latin.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is not UTF-8"):
        read_policy(tmp_path / "latin.toml", Policy())


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ('cases = "torch_*"', ":2: cases: the pattern 'torch_*' matches no compared case"),
        (
            'cases = "numpy_*"\nmetrics = "warm.ttfr_s"',
            ":3: metrics: the pattern 'warm.ttfr_s' matches no metric there; there are warm.call_s",
        ),
    ],
)
def test_a_rule_that_applies_to_nothing_is_refused(tmp_path: Path, rule: str, told: str) -> None:
    policy = read(tmp_path, f'[[rule]]\n{rule}\nthreshold = "1%"\n')
    with pytest.raises(UsageError) as refused:
        policy.refuse_unmatched(FIGURES)
    assert told in str(refused.value)


def test_a_verdict_that_no_figure_can_have_is_refused(tmp_path: Path) -> None:
    """A memory is more or less, and a time slower or faster."""
    for metric, direction in (("*.peak_rss_bytes", "slower"), ("warm.*", "more")):
        text = f'[[rule]]\ncases = "*"\nmetrics = "{metric}"\nfail_on.{direction} = "0%"\n'
        policy = read(tmp_path, text)
        with pytest.raises(UsageError, match=f"no figure of this rule can be '{direction}'"):
            policy.refuse_unmatched(FIGURES)
    both = read(tmp_path, '[[rule]]\ncases = "*"\nfail_on = {slower = "1%", more = "1%"}\n')
    both.refuse_unmatched(FIGURES)


def test_a_rule_that_sets_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=":2: rule: sets nothing"):
        read(tmp_path, '[[rule]]\ncases = "*"\n')


def test_options_hold_over_the_file_for_what_they_name(tmp_path: Path) -> None:
    base = Policy(fail_on={"more": 0.1})
    policy = read(tmp_path, '[fail_on]\nslower = "10%"\nmore = "50%"\n', base)
    assert policy.fail_on == {"slower": 0.1, "more": 0.1}


@pytest.mark.parametrize(
    ("text", "value"), [("5%", 0.05), ("0.05", 0.05), (" 2.5 % ", 0.025), ("1000%", 10.0)]
)
def test_a_share(text: str, value: float) -> None:
    assert share(text) == pytest.approx(value)
    assert share("0%", zero=True) == 0


@pytest.mark.parametrize("text", ["5", "1.5", "0.0", "0%", "1001%", "nan%", "-5%", "1e1%", "%", ""])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(ValueError, match="write one such as 5%"):
        share(text)
