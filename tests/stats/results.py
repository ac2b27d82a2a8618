"""Small stored results, made to be compared."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from benchmarks import made_up
from tests.contracts import samples

from coldwarm.contracts.observation import Block, Judgement, Observation, Phase
from coldwarm.contracts.reasons import because, is_wrong

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult

EMPTY: CacheMode = "cold_process_cold_cache"
WARM: CacheMode = "warm_process"
MODES: tuple[CacheMode, ...] = (EMPTY, WARM)
GROUP = "_matmul_512_f32"
NAME = f"jax_jit_cpu{GROUP}"


def observed(
    rng: np.random.Generator, place: int, speed: float, scatter: float, **changes: Any
) -> Observation:
    """Return a valid process for both modes, ``speed`` times as long as one of speed 1."""
    slowness = speed * float(np.exp(scatter * rng.standard_normal()))
    noise = 1 + 0.002 * rng.exponential(size=(2, 10))
    proved = Judgement(proved=True, reason=because("stated", text="made so"))
    made = samples.observation(
        EMPTY,
        also_modes=[WARM],
        round=place,
        order=place,
        ttfr_s=0.5 * slowness,
        ttfr_process_s=0.7 * slowness,
        wall_s=4.0 + slowness,
        judgements={EMPTY: proved, WARM: proved},
        phases=[
            Phase(name="import", start_s=0.2 * slowness, duration_s=0.2 * slowness),
            Phase(name="first_call", start_s=0.4 * slowness, duration_s=0.3 * slowness),
            Phase(
                name="second_call",
                start_s=slowness,
                duration_s=0.1,
                peak_rss_bytes=200_000_000,
            ),
        ],
        blocks=[
            Block(order=i, start_s=1.0 + slowness + i, batch=1, samples_s=part.tolist(), compiles=0)
            for i, part in enumerate(1e-3 * slowness * noise)
        ],
    )
    return msgspec.structs.replace(made, **changes)


def case(
    seed: int = 0, speed: float = 1.0, n: int = 6, scatter: float = 0.002, **changes: Any
) -> CaseResult:
    """Return a case of ``n`` processes; changes named ``protocol_…`` are the protocol's."""
    rng = np.random.default_rng(seed)
    changes = {**_parts(changes.get("case", NAME)), **changes}
    seen = [observed(rng, place, speed, scatter) for place in range(n)]
    own = {name: value for name, value in changes.items() if not name.startswith("protocol_")}
    if own.get("status") == "failed":
        why = {"status": "failed", "reason": own["reason"]}
        if is_wrong(own["reason"]):
            why |= {"ttfr_s": None, "ttfr_process_s": None, "phases": [], "blocks": []}
        seen = [msgspec.structs.replace(one, **why) for one in seen]
    declared = {
        name.removeprefix("protocol_"): value for name, value in changes.items() if name not in own
    }
    made = samples.case(seen, MODES, **own)
    protocol = msgspec.structs.replace(made.protocol, **declared)
    return msgspec.structs.replace(made, protocol=protocol)


def _parts(name: str) -> dict[str, str]:
    """Return the candidate and the backend that a case of this name has."""
    if not name.endswith(GROUP):
        return {}
    candidate = name.removesuffix(GROUP)
    named = {"candidate": candidate, "backend": candidate.removesuffix("_cpu")}
    return named | {f"protocol_{part}": value for part, value in named.items()}


def write(
    folder: Path,
    cases: Sequence[CaseResult],
    environment: Environment | None = None,
    *,
    complete: bool = True,
) -> Path:
    """Leave a run of these cases in ``folder``, as the program would."""
    machine = environment or samples.environment()
    return made_up.stored(folder, cases, machine, "quick", complete=complete)


def on(run: Path, command: Sequence[str]) -> list[str]:
    """Put a run for the first RUN of a command, and for the second a run just like it."""
    parts = [str(run) if part == "RUN" else part for part in command]
    if parts.count(str(run)) > 1:
        other = run.with_name(f"{run.name}-other")
        if not other.exists():
            shutil.copytree(run, other, symlinks=True)
            index = other / "suite.json"
            said = other / "answers.json"
            text = said.read_text("utf-8").replace(f'"{run.name}"', f'"{other.name}"', 1)
            was, now = (
                hashlib.sha256(one).hexdigest() for one in (said.read_bytes(), text.encode())
            )
            said.write_text(text, "utf-8")
            text = index.read_text("utf-8").replace(was, now)
            index.write_text(text.replace(f'"{run.name}"', f'"{other.name}"', 1), "utf-8")
        parts[len(parts) - 1 - parts[::-1].index(str(run))] = str(other)
    return parts
