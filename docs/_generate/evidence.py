"""What was measured of patterns and claims, as it is committed under ``docs/results/evidence``.

Each folder there is one environment: ``patterns.json`` and ``claims.json`` as they were measured,
and ``environment.json``, the record of the machine of any of the runs. Each may be missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts import codec
from coldwarm.contracts.catalogue import INDEXES, ClaimResults, PatternResults
from coldwarm.contracts.environment import Environment
from coldwarm.report import units

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coldwarm.contracts.catalogue import ClaimResult, PatternResult

MAIN = "jax-0.10"
"""The folder that stands first on every page, and alone in the overviews."""
ENVIRONMENT = "environment.json"


@dataclass(frozen=True)
class Evidence:
    """What was measured in one environment."""

    name: str
    patterns: Mapping[str, PatternResult]
    claims: Mapping[str, ClaimResult]
    environment: Environment | None

    @property
    def machine(self) -> str:
        """The machine in words; empty where no record of it is kept."""
        if self.environment is None:
            return ""
        cpu, system = self.environment.cpu, self.environment.system
        gpus = [gpu.model for gpu in self.environment.gpus or ()]
        parts = [
            cpu.model or cpu.architecture,
            f"{cpu.usable_cores} processors" if cpu.usable_cores else "",
            f"{units.size(system.ram_bytes)} of memory" if system.ram_bytes else "",
            ", ".join(gpus) or "no GPU",
            system.os,
        ]
        return ", ".join(part for part in parts if part)


class OfPattern(NamedTuple):
    """A pattern's result, and the environment that it is from."""

    of: Evidence
    result: PatternResult


class OfClaim(NamedTuple):
    """A claim's result, and the environment that it is from."""

    of: Evidence
    result: ClaimResult


def stored(package: Path) -> list[Evidence]:
    """Return all that is committed beside a package, the main environment first.

    Raises:
        ContractError: a file does not keep its contract.
    """
    folder = package.parents[1] / "docs" / "results" / "evidence"
    folders = [path for path in folder.glob("*") if path.is_dir()]
    return [_read(path) for path in sorted(folders, key=lambda path: (path.name != MAIN, path))]


def of_pattern(every: list[Evidence], name: str) -> list[OfPattern]:
    """Return what each environment has shown of a pattern."""
    return [OfPattern(one, one.patterns[name]) for one in every if name in one.patterns]


def of_claim(every: list[Evidence], name: str) -> list[OfClaim]:
    """Return what each environment has shown of a claim."""
    return [OfClaim(one, one.claims[name]) for one in every if name in one.claims]


def version(one: OfPattern | OfClaim) -> str:
    """Return what a column of its figures is called: the version that sets it apart."""
    jax = one.result.versions.get("jax")
    return f"JAX {jax}" if jax else one.of.name


def _read(folder: Path) -> Evidence:
    patterns, claims = (folder / INDEXES["patterns"], folder / INDEXES["claims"])
    environment = folder / ENVIRONMENT
    found = codec.load_as(PatternResults, patterns).results if patterns.exists() else []
    tested = codec.load_as(ClaimResults, claims).results if claims.exists() else []
    return Evidence(
        folder.name,
        {one.id: one for one in found},
        {one.id: one for one in tested},
        codec.load_as(Environment, environment) if environment.exists() else None,
    )
