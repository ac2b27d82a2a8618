"""Turns what a run has into the files that it leaves, the protocol of each case among them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from coldwarm import __version__
from coldwarm.contracts import codec, nextstat
from coldwarm.contracts.answer import Answers
from coldwarm.contracts.base import WARM, Status
from coldwarm.contracts.environment import ENVIRONMENT
from coldwarm.contracts.reasons import because, is_wrong
from coldwarm.contracts.result import CaseResult, Effort, Protocol, SuiteCase, SuiteResult
from coldwarm.runner.case_list import BATCH_WINDOW_S, BLOCK_LIMIT, SHORT_CALL_S
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.identifying import own_without
from coldwarm.runner.isolation import fixed_variables, owners_of, sharing_variables
from coldwarm.runner.ledger import filled_by, limitations
from coldwarm.stats import outcome
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.registry import BackendSpec
    from coldwarm.runner.case_list import Case, Options
    from coldwarm.runner.ledger import Ledger

    Save = Callable[[str, bytes], str]
    """Writes a file of the run, by its name, and returns its hash."""


INDEX = "suite.json"
_ANSWERS = "answers.json"
CASES = "cases"


@dataclass(frozen=True)
class RunFacts:
    """Facts that all results of a run share."""

    options: Options
    run_id: str
    started_at: str
    environment: Environment
    environment_sha256: str
    unavailable: Mapping[str, Reason]
    """Case to the reason why it cannot run here."""
    inputs: Mapping[str, str]
    """Group to the hash of its inputs."""

    def case_result(self, case: Case, ledger: Ledger) -> CaseResult:
        """Return a case's result so far."""
        observations = ledger.of(case)
        status, reason = self._status(case, ledger)
        wrong = is_wrong(reason)
        declared = _protocol(case, self.options)
        summary = outcome.summary_of(observations, reason, declared, case.inspected_call_s)
        seen_inputs = (seen.input_sha256 for seen in observations if seen.input_sha256)
        # A run that goes on need not have asked for the inputs of what was complete.
        sha256 = self.inputs.get(case.group) or next(seen_inputs, None)
        return CaseResult(
            case=case.id,
            workload=case.workload.name,
            candidate=case.candidate,
            backend=case.backend.name,
            device="gpu" if case.device == "gpu" else "cpu",
            size=case.size,
            dtype=case.dtype,
            status=status,
            reason=reason,
            baseline=case.is_baseline,
            scenario=case.workload.scenario,
            dataset_id=f"{case.group}_seed{self.options.seed}",
            dataset_sha256=sha256,
            protocol=declared,
            environment_sha256=self.environment_sha256,
            inspected_call_s=case.inspected_call_s,
            cold=summary.cold,
            warm=summary.warm,
            limitations=_limitations(case, self.options, observations),
            warnings=summary.warnings,
            counts=summary.counts,
            filled_by=filled_by(observations, on_request=case.backend.keeps_on_request),
            made=[] if wrong else ledger.made(case),
            observations=[outcome.without_timing(seen) for seen in observations]
            if wrong
            else observations,
            null_reasons=_null_reasons(sha256, reason, has_warm=summary.warm is not None),
        )

    def _status(self, case: Case, ledger: Ledger) -> tuple[Status, Reason | None]:
        if case.id in self.unavailable:
            return "warn", self.unavailable[case.id]
        return outcome.status_of(ledger.of(case), self.options.cache_modes)

    def write(  # noqa: PLR0913 - the figures of a run that only its end knows
        self,
        save: Save,
        results: Sequence[CaseResult],
        *,
        finished_at: str | None,
        order: Sequence[str],
        wall_s: float,
        measured_s: float,
    ) -> SuiteResult:
        """Write every case, the published contracts beside them, answers, and the index last."""
        rows = []
        for result in results:
            path = f"{CASES}/{result.case}.json"
            sha256 = save(path, codec.encode(result))
            rows.append(
                SuiteCase(
                    case=result.case,
                    path=path,
                    sha256=sha256,
                    status=result.status,
                    reason=result.reason,
                )
            )
        _write_published(save, results, self.environment, deterministic=self.options.deterministic)
        counts = {f"n_{s}": sum(row.status == s for row in rows) for s in get_args(Status)}
        said = Answers(
            run_id=self.run_id,
            suite=self.options.suite,
            complete=finished_at is not None,
            answers=answers(results),
        )
        suite = SuiteResult(
            suite=self.options.suite,
            run_id=self.run_id,
            started_at=self.started_at,
            finished_at=finished_at,
            complete=finished_at is not None,
            deterministic=self.options.deterministic,
            seed=self.options.seed,
            environment_path=ENVIRONMENT,
            environment_sha256=self.environment_sha256,
            cases=rows,
            **counts,
            order=list(order),
            wall_s=wall_s,
            measured_s=measured_s,
            answers_path=_ANSWERS,
            answers_sha256=save(_ANSWERS, codec.encode(said)),
            null_reasons={} if finished_at else {"finished_at": because("interrupted")},
        )
        save(INDEX, codec.encode(suite))
        return suite


def _null_reasons(
    sha256: str | None, reason: Reason | None, *, has_warm: bool
) -> dict[str, Reason]:
    missing = {}
    if sha256 is None:
        missing["dataset_sha256"] = because("inputs_not_reached")
    if not has_warm:
        missing["warm"] = reason or because("warm_not_asked")
    return missing


def _limitations(case: Case, options: Options, observations: Sequence[Observation]) -> list[Reason]:
    names = {name for m in options.cache_modes for name in owners_of(case.backend, case.device, m)}
    if set(options.cache_modes) - {"first_ever"}:
        names.add("bytecode")
    return [*_borne_out(case.notes, observations), *limitations(names, options.cache_modes)]


def _borne_out(notes: Sequence[Reason], observations: Sequence[Observation]) -> list[Reason]:
    """Leave out what the inspection has seen and the measured calls have not."""
    blocks = [block for seen in observations for block in seen.blocks]
    compiled_once = any(block.compiles == 0 for block in blocks)
    return [one for one in notes if one.code != "second_call_compiled" or not compiled_once]


def _write_published(
    save: Save, results: Sequence[CaseResult], environment: Environment, *, deterministic: bool
) -> None:
    """Write what others read of the cases, and their index."""
    published = []
    for result in results:
        for name, expressed in outcome.published_of(result, environment):
            path = f"{name}.json"
            sha256 = save(f"nextstat/{path}", codec.encode(expressed))
            published.append(nextstat.Published(expressed, path, sha256))
    index = nextstat.suite(published, environment, deterministic=deterministic)
    save(f"nextstat/{nextstat.INDEX}", codec.encode(index))


_WINDOWS = {
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
"""Fields that differ where a factory makes the function."""
_MADE_BEFOREHAND = {
    "make": "a process of its own before the case's first one, with empty caches: the phases up"
    " to wrap, then making and writing what is loaded; published under made, part of no other"
    " window",
    "wrap": "nothing: what was made beforehand stands for the candidate's own code",
    "first_call": "loading what was made beforehand (the part cache_read), "
    + _WINDOWS["first_call"],
}
"""Fields that differ where something is made beforehand."""
_WHOLE_LOOPS = {
    "first_call": "the first step of the loop and the synchronisation on its own output",
    "remaining_calls": "the other steps, each synchronised on its own output and stamped; keeping"
    " the outputs and asking for the count of compiles in between are inside, and in no step",
    "second_call": "the whole loop once more, each step synchronised; never taken for steady state",
    "steady": "each sample: the whole loop, each step synchronised on its own output; garbage"
    " collection is off in the window and done before it",
}
"""Fields that differ where a call is a whole loop."""
_SHORT_US = SHORT_CALL_S * 1e6
_WARMUP_POLICY = (
    "the C allocator is as every program has it, and nothing large is allocated between the second"
    " call and the last block; every call is kept; where a process becomes"
    " steady is detected afterwards; the first block holds single calls, later blocks batch calls"
    f" shorter than {_SHORT_US:.0f} µs into"
    f" samples of at least {BATCH_WINDOW_S * 1e6:.0f} µs, at most {BLOCK_LIMIT} samples a block"
)
_INTERLEAVING = (
    "rounds (under a time budget the first one in turns, the dear candidates last);"
    " in each, one process of every candidate of the same workload, size and dtype for"
    " every cache mode, in random order; warm blocks alternate between live processes in random"
    " order, and the processes that wait are stopped by signal; where no candidate uses more than"
    " one processor, each turn of blocks runs bound to one, the next turn to the next"
)
_TOGETHER = (
    "; a user's functions that need the same frameworks are called in turns in one process, too,"
    " after its last word of its own"
)


def _variables(case: Case, options: Options) -> dict[str, str]:
    """Return what is set for every process of a case."""
    backend, device = case.backend, case.device
    fixed = fixed_variables(backend, device, options.threads, deterministic=options.deterministic)
    base = {**os.environ, **case.variables}
    return {**(sharing_variables(base, backend) if device == "gpu" else {}), **fixed}


def _windows(
    backend: BackendSpec, *, scenario: bool = False, built: bool = False
) -> dict[str, str]:
    """Return, for each timed window of a backend, what is inside it and what is outside."""
    built_too = {} if backend.replaces else {"wrap": _WINDOWS["wrap"]}
    made = _MADE_BEFOREHAND | built_too if backend.prepares else {}
    differing = made | (_WHOLE_LOOPS if scenario else {})
    return _WINDOWS | differing | (_BUILT if built else {})


def _protocol(case: Case, options: Options) -> Protocol:
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
        windows=_windows(case.backend, scenario=case.workload.scenario, built=_is_built(case)),
        sync_policy=case.backend.sync_policy,
        warmup_policy=_WARMUP_POLICY,
        allocator="as_it_is",
        cache_settings="keep_all",
        interleaving=_INTERLEAVING + (_TOGETHER if options.calls_together else ""),
        threads=options.threads,
        affinity=options.affinity,
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
