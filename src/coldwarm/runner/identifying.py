"""Identifying parts, left out of what is written where that is asked for.

Secrets are masked in any case. This is about what is no secret: what is installed, which file was
measured, where the compiler is. What a figure depends on stays: libraries that measured processes
load, the processor, settings.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from coldwarm.contracts.reasons import because, missing

if TYPE_CHECKING:
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import OwnCandidate

_KEPT = frozenset(
    {
        *("coldwarm", "numpy", "scipy", "threadpoolctl", "jax", "jaxlib", "flatbuffers"),
        *("ml-dtypes", "opt-einsum", "torch", "triton", "numba", "llvmlite", "mkl", "cupy"),
    }
)
"""Distributions that figures depend on."""
_SAID = {"text", "file", "folder", "module", "program", "setting", "label", "where", "name"}
_LEFT_OUT = because("left_out")
_NOT_PLAIN = re.compile(r"[/@~\\]|\d+\.\d+\.\d+\.\d+|[\w-]+\.[a-z]{2,}")


def environment_without(environment: Environment) -> Environment:
    """Return an environment without what could identify whose machine it is."""
    kept = {name: v for name, v in environment.distributions.items() if is_kept(name)}
    withheld = [name for name, value in environment.variables.items() if is_place(value)]
    compiler = environment.compiler
    return replace(
        environment,
        system=replace(environment.system, kernel=kernel(environment.system.kernel)),
        distributions=kept,
        n_distributions_left_out=len(environment.distributions) - len(kept),
        variables={n: v for n, v in environment.variables.items() if n not in withheld},
        withheld_variables=sorted({*environment.withheld_variables, *withheld}),
        compiler=compiler and replace(compiler, command=PurePath(compiler.command).name),
        harness=replace(
            environment.harness,
            git_commit=None,
            git_dirty=None,
            null_reasons=dict.fromkeys(("git_commit", "git_dirty"), _LEFT_OUT),
        ),
    )


def own_without(own: OwnCandidate) -> OwnCandidate:
    """Return a candidate without the names of files, interpreters, commits and variables."""
    gone: dict[str, Any] = dict.fromkeys(("target", "python", "revision"))
    told = {name: value for name, value in own.variables.items() if not is_place(value)}
    hidden = own.withheld_variables or len(told) < len(own.variables)
    reasons = own.null_reasons | dict.fromkeys(gone, _LEFT_OUT)
    if hidden:
        reasons["withheld_variables"] = _LEFT_OUT
        gone["withheld_variables"] = None
    return replace(own, **gone, variables=told, null_reasons=reasons)


def observation_without(observation: Observation) -> Observation:
    """Return an observation without what the measured program printed and said."""
    reason, tail = observation.reason, observation.stderr_tail
    reasons = {name: reason_without(one) for name, one in observation.null_reasons.items()}
    if tail is not None:
        reasons |= missing({"stderr_tail": None}, _LEFT_OUT)
    return replace(
        observation,
        reason=reason and reason_without(reason),
        stderr_tail=None,
        null_reasons=reasons,
    )


def reason_without(reason: Reason) -> Reason:
    """Return a reason without texts that a program wrote."""
    values = {
        name: "(left out)" if name in _SAID and isinstance(value, str) else value
        for name, value in reason.values.items()
    }
    return replace(reason, values=values, parts=[reason_without(part) for part in reason.parts])


def is_kept(name: str) -> bool:
    """Say whether the version of a distribution is one that figures depend on."""
    return name in _KEPT or name.startswith(("nvidia-", "jax-cuda", "cupy-"))


def is_place(value: str) -> bool:
    """Say whether a setting names a folder, a host or an address."""
    return _NOT_PLAIN.search(value) is not None


def kernel(release: str) -> str:
    """Return a kernel's version without the name of its build."""
    version = re.match(r"\d+(?:\.\d+)*", release)
    return version[0] if version else "unknown"
