"""Parts left in artifacts that could identify a person or a firm, each with its field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from coldwarm.contracts.environment import Identifying, PrivateReport
from coldwarm.runner import identifying

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult

_SHOWN = 8
_LeftOut = Literal["null", "shortened", "counted", "name alone", "kept"]
_OWN = "cases/*.json: protocol.own"


def listed(environment: Environment) -> PrivateReport:
    """Return everything that identifies, as far as it is known before something is measured."""
    return PrivateReport(items=[*_of_environment(environment), *_OF_CASES])


def left_in(
    folder: str, environment: Environment, cases: Sequence[CaseResult]
) -> Iterator[Identifying]:
    """Yield what a stored run holds that identifies; folder: that of the run, for the fields."""
    for one in _of_environment(environment):
        yield replace(one, field=f"{folder}/{one.field}")
    for (field, left_out), held in _of_stored(cases).items():
        shown = ", ".join(held[:_SHOWN]) + (", …" if len(held) > _SHOWN else "")
        yield Identifying(field=f"{folder}/cases/*.json: {field}", holds=shown, left_out=left_out)


def _of_stored(cases: Iterable[CaseResult]) -> dict[tuple[str, _LeftOut], list[str]]:
    found: dict[tuple[str, _LeftOut], dict[str, None]] = {}

    def add(field: str, left_out: _LeftOut, *held: str | None) -> None:
        kept = dict.fromkeys(one for one in held if one)
        if kept:
            found.setdefault((field, left_out), {}).update(kept)

    for case in cases:
        own = case.protocol.own
        if own is not None:
            add("protocol.own.target", "null", own.target)
            add("protocol.own.python", "null", own.python)
            add("protocol.own.revision", "null", own.revision)
            add("protocol.own.withheld_variables", "null", *(own.withheld_variables or ()))
            add("candidate", "kept", case.candidate)
        for seen in case.observations:
            if seen.stderr_tail:
                add("observations.stderr_tail", "null", f"what processes of {case.case} printed")
            if seen.reason is not None and identifying.reason_without(seen.reason) != seen.reason:
                add("observations.reason", "shortened", f"what processes of {case.case} raised")
    return {key: list(held) for key, held in found.items()}


def _of_environment(environment: Environment) -> Iterator[Identifying]:
    file = "environment.json"
    names = [name for name in environment.distributions if not identifying.is_kept(name)]
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    if names:
        yield Identifying(
            field=f"{file}: distributions",
            holds=f"{len(names)} names besides those that figures depend on: {shown}",
            left_out="counted",
        )
    kernel = environment.system.kernel
    if identifying.kernel(kernel) != kernel:
        yield Identifying(field=f"{file}: system.kernel", holds=kernel, left_out="shortened")
    for name, value in environment.variables.items():
        if identifying.is_place(value):
            yield Identifying(field=f"{file}: variables.{name}", holds=value, left_out="name alone")
    for name in environment.withheld_variables:
        yield Identifying(field=f"{file}: withheld_variables", holds=name, left_out="kept")
    compiler, commit = environment.compiler, environment.harness.git_commit
    if compiler is not None and identifying.is_place(compiler.command):
        holds = compiler.command
        yield Identifying(field=f"{file}: compiler.command", holds=holds, left_out="shortened")
    if commit is not None:
        yield Identifying(field=f"{file}: harness.git_commit", holds=commit, left_out="null")
    for gpu in environment.gpus or ():
        yield Identifying(field=f"{file}: gpus.model", holds=gpu.model, left_out="kept")


_OF_CASES = [
    Identifying(
        field=f"{_OWN}.target", holds="the file or module, and the function", left_out="null"
    ),
    Identifying(
        field=f"{_OWN}.python", holds="the path of the interpreter (--python)", left_out="null"
    ),
    Identifying(field=f"{_OWN}.revision", holds="the commit (--before, --after)", left_out="null"),
    Identifying(
        field=f"{_OWN}.withheld_variables",
        holds="names of variables given by --env whose value is not told",
        left_out="null",
    ),
    Identifying(
        field="cases/*.json: candidate, case",
        holds="the label: choose another by LABEL=FILE.py:NAME",
        left_out="kept",
    ),
    Identifying(
        field="cases/*.json: observations.stderr_tail",
        holds="what a process that failed printed last",
        left_out="null",
    ),
    Identifying(
        field="cases/*.json: observations.reason",
        holds="what a process that failed raised: texts and names of files",
        left_out="shortened",
    ),
]
