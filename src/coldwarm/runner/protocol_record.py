"""The protocol of a case: how it is measured, in words and hashes."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Literal

from coldwarm import __version__
from coldwarm.contracts.base import WARM
from coldwarm.contracts.result import Effort, Protocol
from coldwarm.runner.case_list import BATCH_WINDOW_S, BLOCK_LIMIT, SHORT_CALL_S, affinity
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.identifying import own_without
from coldwarm.runner.isolation import fixed_variables, owners_of, sharing_variables

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.registry import BackendSpec
    from coldwarm.runner.case_list import Case, Options

WINDOWS = {
    "interpreter": "from just before the spawn to the first line of the worker",
    "import": "importing the runtime stack alone; loading the worker's own files is outside,"
    " before it, and published as harness.load_s",
    "device_init": "the first query of the devices",
    "setup": "making the seeded inputs and placing them, finished",
    "wrap": "building the candidate: jax.jit(f), torch.compile(f), numba.njit(f), …",
    "first_call": "the first call and the synchronisation on its own output; fetching and"
    " checking the output is outside, after the second call",
    "second_call": "the second call with the same arguments, synchronised; never taken for"
    " steady state",
    "steady": "each sample: the calls of a batch, the synchronisation on each output, and its"
    " release; garbage collection is off in the window and done before it",
}
_BUILT = {
    "build": "the user's factory: all that it does to make the function and its arguments, imports"
    " included, until they are finished; part of the time to the first result",
    "setup": "nothing: the factory makes the arguments",
}
"""What differs where a factory makes the function."""
_MADE_BEFOREHAND = {
    "make": "a process of its own before the case's first one, with empty caches: the phases up"
    " to wrap, then making and writing what is loaded; published under made, part of no other"
    " window",
    "wrap": "nothing: what was made beforehand stands for the candidate's own code",
    "first_call": "loading what was made beforehand (the part cache_read), "
    + WINDOWS["first_call"],
}
"""What differs where something is made beforehand."""
_WHOLE_LOOPS = {
    "first_call": "the first step of the loop and the synchronisation on its own output",
    "remaining_calls": "the other steps, each synchronised on its own output and stamped; keeping"
    " the outputs and asking for the count of compiles in between are inside, and in no step",
    "second_call": "the whole loop once more, each step synchronised; never taken for steady state",
    "steady": "each sample: the whole loop, each step synchronised on its own output; garbage"
    " collection is off in the window and done before it",
}
"""What differs where a call is a whole loop."""
_SHORT_US = SHORT_CALL_S * 1e6
_WARMUP_POLICY = (
    "the C allocator is as every program has it, and nothing large is allocated between the second"
    " call and the last block; every call is kept; where a process becomes"
    " steady is detected afterwards; the first block holds single calls, later blocks batch calls"
    f" shorter than {_SHORT_US:.0f} µs into"
    f" samples of at least {BATCH_WINDOW_S * 1e6:.0f} µs, at most {BLOCK_LIMIT} samples a block"
)
INTERLEAVING = (
    "rounds (under a time budget the first one in turns, the dear candidates last);"
    " in each, one process of every candidate of the same workload, size and dtype for"
    " every cache mode, in random order; warm blocks alternate between live processes in random"
    " order, and the processes that wait are stopped by signal; where no candidate uses more than"
    " one processor, each turn of blocks runs bound to one, the next turn to the next"
)


def _variables(case: Case, options: Options) -> dict[str, str]:
    """Return what is set for every process of a case."""
    backend, device = case.backend, case.device
    fixed = fixed_variables(backend, device, options.threads, deterministic=options.deterministic)
    base = {**os.environ, **case.variables}
    return {**(sharing_variables(base, backend) if device == "gpu" else {}), **fixed}


def windows(backend: BackendSpec, *, scenario: bool = False, built: bool = False) -> dict[str, str]:
    """Return, for each timed window of a backend, what is inside it and what is outside."""
    differing = (_MADE_BEFOREHAND if backend.prepares else {}) | (_WHOLE_LOOPS if scenario else {})
    return WINDOWS | differing | (_BUILT if built else {})


def protocol(case: Case, options: Options) -> Protocol:
    """Return the declared protocol of a case."""
    kinds: dict[CacheMode, Literal["fresh", "persistent"]] = {
        mode: "persistent" if mode == "warm_process" else "fresh" for mode in options.cache_modes
    }
    own = case.described
    if own is not None and options.leave_out_private:
        own = own_without(own)
    return Protocol(
        cache_modes=list(options.cache_modes),
        process={str(mode): life for mode, life in kinds.items()},
        workload=case.workload.name,
        workload_sha256=hashlib.sha256(case.workload.source.read()).hexdigest(),
        backend=case.backend.name,
        backend_sha256=hashlib.sha256(case.backend.source.read()).hexdigest(),
        candidate=case.candidate,
        size=case.size,
        dtype=case.dtype,
        data_layout=case.workload.layout,
        windows=windows(case.backend, scenario=case.workload.scenario, built=_is_built(case)),
        sync_policy=case.backend.sync_policy,
        warmup_policy=_WARMUP_POLICY,
        allocator="as_it_is",
        cache_settings="keep_all",
        interleaving=INTERLEAVING,
        threads=options.threads,
        affinity=affinity(options),
        environment_variables=_variables(case, options),
        seed=options.seed,
        deterministic=options.deterministic,
        effort=Effort(**{name: getattr(options, name) for name in Effort.__struct_fields__}),
        option_origins=options.option_origins,
        caches=owners_of(case.backend, case.device, WARM),
        compiles=case.backend.compiles,
        own=own,
        harness_version=__version__,
        harness_sha256=harness_sha256(),
    )


def _is_built(case: Case) -> bool:
    """Say whether a factory makes the function."""
    return case.described is not None and case.described.kind == "factory"
