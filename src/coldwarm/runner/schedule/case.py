"""A case: one candidate of a workload at one size and dtype, as plain data."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

from coldwarm.contracts.base import DTYPE_NAMES, group_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coldwarm.contracts.base import Dtype
    from coldwarm.contracts.protocol import OwnCandidate
    from coldwarm.contracts.reasons import Reason
    from coldwarm.specs import BackendSpec, WorkloadSpec


@dataclass(frozen=True)
class Answer:
    """An answer that is there before the run, against which a group is checked."""

    path: str | None
    """``None``: nothing is to be checked."""
    inputs_sha256: str


@final
@dataclass(frozen=True)
class Case:
    """A candidate of a workload at one size and dtype.

    It is the same thing for a workload of the project's own and for a user's function. The
    fields with defaults are what a user's function may have besides.
    """

    backend: BackendSpec
    device: str
    workload: WorkloadSpec
    size: int
    dtype: Dtype
    label: str | None = None
    """Its whole name, where its group is named like the workload; ``None``: made of its parts."""
    python: str = sys.executable
    """The interpreter that its processes run under."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What its processes have in their environment besides."""
    job: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What its processes are sent besides; see ``runner.functions.candidates``."""
    filled: Path | None = None
    """Caches that an earlier process has filled; ``None``: there are none yet."""
    program: str = ""
    """What files of earlier runs are marked by that its program wrote."""
    since_ns: int | None = None
    """When the first process began that ran it, on the clock of files; ``None``: with the run."""
    hidden: frozenset[str] = frozenset()
    """Files that were there and that it makes by itself where they are missing."""
    wrote: frozenset[str] = frozenset()
    """Files that its inspection wrote and that can be missing for a process."""
    inspected_s: float | None = None
    inspected_call_s: float | None = None
    """What making and calling it for the first time took when it was inspected."""
    """The seconds that the process ran that inspected it; ``None``: none did."""
    new_shapes: bool = False
    """Whether its fresh processes also call it with other shapes."""
    shares_inputs: bool = True
    """Whether its inputs must be those of the others of its group."""
    mutates: bool = False
    """Whether a call changes its arguments, so that no sample may hold several calls."""
    answer: Answer | None = None
    """``None``: the answer of the workload's own reference."""
    described: OwnCandidate | None = field(default=None, hash=False)
    """What the protocol says of a user's function."""
    notes: tuple[Reason, ...] = field(default=(), hash=False)
    """What cannot be controlled, or was not, for this candidate."""

    @property
    def candidate(self) -> str:
        """The candidate's name, such as ``jax_jit_cpu``."""
        return self.backend.candidate(self.device)

    @property
    def group(self) -> str:
        """What it is compared within: workload, size and dtype."""
        if self.label is not None:
            return self.workload.name
        return group_name(self.workload.name, self.size, self.dtype)

    @property
    def id(self) -> str:
        """The case's id, such as ``jax_jit_cpu_matmul_512_f32``."""
        return self.label or f"{self.candidate}_{self.group}"

    @property
    def numpy_dtype(self) -> str:
        """The dtype of the inputs on the host: NumPy has no bfloat16."""
        return "float32" if self.dtype == "bf16" else DTYPE_NAMES[self.dtype]

    @property
    def batches(self) -> bool:
        """Whether short calls may be repeated inside one sample."""
        return not self.workload.scenario and not self.mutates

    @property
    def is_baseline(self) -> bool:
        """Whether the others of its group are compared with it."""
        return self.candidate == self.workload.baselines[self.dtype]
