"""Turns what a run has into the files that it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from coldwarm.contracts import codec, nextstat
from coldwarm.contracts.answer import Answers
from coldwarm.contracts.base import Status
from coldwarm.contracts.environment import ENVIRONMENT
from coldwarm.contracts.reasons import because, is_wrong
from coldwarm.contracts.result import CaseResult, SuiteCase, SuiteResult
from coldwarm.runner.isolation import owners_of
from coldwarm.runner.ledger import filled_by, limitations
from coldwarm.runner.protocol_record import protocol
from coldwarm.stats import outcome
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
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


def case_result(case: Case, ledger: Ledger, facts: RunFacts) -> CaseResult:
    """Return a case's result so far."""
    observations = ledger.of(case)
    status, reason = _status(case, ledger, facts)
    wrong = is_wrong(reason)
    declared = protocol(case, facts.options)
    summary = outcome.summary_of(observations, reason, declared, case.inspected_call_s)
    seen_inputs = (seen.input_sha256 for seen in observations if seen.input_sha256)
    # A run that goes on need not have asked for the inputs of what was complete.
    sha256 = facts.inputs.get(case.group) or next(seen_inputs, None)
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
        dataset_id=f"{case.group}_seed{facts.options.seed}",
        dataset_sha256=sha256,
        protocol=declared,
        environment_sha256=facts.environment_sha256,
        inspected_call_s=case.inspected_call_s,
        cold=summary.cold,
        warm=summary.warm,
        limitations=_limitations(case, facts.options, observations),
        warnings=summary.warnings,
        counts=summary.counts,
        filled_by=filled_by(observations, on_request=case.backend.keeps_on_request),
        made=[] if wrong else ledger.made(case),
        observations=[outcome.without_timing(seen) for seen in observations]
        if wrong
        else observations,
        null_reasons=_null_reasons(sha256, reason, has_warm=summary.warm is not None),
    )


def _null_reasons(
    sha256: str | None, reason: Reason | None, *, has_warm: bool
) -> dict[str, Reason]:
    missing = {}
    if sha256 is None:
        missing["dataset_sha256"] = because("inputs_not_reached")
    if not has_warm:
        missing["warm"] = reason or because("warm_not_asked")
    return missing


def _status(case: Case, ledger: Ledger, facts: RunFacts) -> tuple[Status, Reason | None]:
    if case.id in facts.unavailable:
        return "warn", facts.unavailable[case.id]
    return outcome.status_of(ledger.of(case), facts.options.cache_modes)


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


def write(  # noqa: PLR0913 - the figures of a run that only its end knows
    save: Save,
    results: Sequence[CaseResult],
    facts: RunFacts,
    *,
    finished_at: str | None,
    order: Sequence[str],
    wall_s: float,
    measured_s: float,
) -> SuiteResult:
    """Write every case, the published contracts beside them, the answers, and the index last."""
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
    write_published(save, results, facts.environment, deterministic=facts.options.deterministic)
    counts = {f"n_{s}": sum(row.status == s for row in rows) for s in get_args(Status)}
    said = Answers(
        run_id=facts.run_id,
        suite=facts.options.suite,
        complete=finished_at is not None,
        answers=answers(results),
    )
    suite = SuiteResult(
        suite=facts.options.suite,
        run_id=facts.run_id,
        started_at=facts.started_at,
        finished_at=finished_at,
        complete=finished_at is not None,
        deterministic=facts.options.deterministic,
        seed=facts.options.seed,
        environment_path=ENVIRONMENT,
        environment_sha256=facts.environment_sha256,
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


def write_published(
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
