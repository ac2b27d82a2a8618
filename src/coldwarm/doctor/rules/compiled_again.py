"""Functions compiled again and again at one line, by the cause that most of it has."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Cause
from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.meant_again import first_of, is_meant
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.rules.cleared_caches import cleared_before
from coldwarm.doctor.trace import RecompileLimit
from coldwarm.doctor.written_values import (
    have_one_rank,
    hold_objects,
    kind_of_types,
    kind_of_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import CauseKind, Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import (
        CallDifference,
        CompiledCall,
        CompiledFunction,
        ProcessTrace,
        SourceLine,
    )
    from coldwarm.doctor.written_values import TypeKind, ValueKind

    Code = tuple[object, ...]


def _code_of(function: CompiledFunction) -> Code:
    """Return what tells a function that was compiled from others: its name, file and line."""
    return function.name, function.path, function.line


def _limits(trace: ProcessTrace) -> dict[Code, Reason]:
    """Return the functions that are compiled no more: as often as PyTorch's limit lets them be."""
    return {
        _code_of(row.function): because("doctor_gave_up", n_programs=row.limit, setting=row.setting)
        for row in trace.rows_of(RecompileLimit)
    }


def _code_of_value(written: str) -> str:
    """Return which words fit an argument whose value is a part of what is compiled."""
    try:
        float(written)
    except ValueError:
        return "doctor_no_tensor"
    return "doctor_number"


def _in_guard(differing: Sequence[CallDifference], guard: str | None) -> Sequence[CallDifference]:
    """Return those of the differences that PyTorch's failed guard names; all, if it names none.

    A number that is an argument may differ and be no reason: PyTorch makes many of them dynamic.
    """
    named = [one for one in differing if guard and _is_named_by(guard, one.argument)]
    return named or differing


def _is_named_by(guard: str, argument: str) -> bool:
    return bool(argument) and bool(re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", guard))


_WITH: dict[str, set[str]] = {
    "dtype": {"weak_type"},
    "shape": {"weak_type"},
    "commitment": {"sharding"},
    "sharding": {"commitment"},
}
"""Causes that go away together with a cause where it is of the same argument."""


@dataclass(frozen=True)
class _Blamed:
    """Calls at one line that were compiled again as the same arguments changed in the same way."""

    kind: CauseKind
    calls: list[CompiledCall]

    @cached_property
    def _counts(self) -> Counter[str]:
        """How often each argument changed, in the order in which they are given."""
        return Counter(name for call in self.calls for name in _names(self.kind, call))

    @cached_property
    def arguments(self) -> list[str]:
        """The arguments that changed, those that did so most often first."""
        return [name for name, _ in self._counts.most_common()]

    def n_times(self, argument: str) -> int:
        """Return for how many of the calls an argument had changed."""
        return self._counts[argument]

    @cached_property
    def alone(self) -> list[CompiledCall]:
        """The calls that would be as an earlier one if these arguments had not changed so."""
        return [one for one in self.calls if not _others(self.kind, one)]

    @cached_property
    def others(self) -> list[str]:
        """Other differences in some of the calls, by name."""
        return sorted({name for one in self.calls for name in _others(self.kind, one)})

    @cached_property
    def taken(self) -> list[str]:
        """Arrays, or what arrays are in, that a function took from around it: not the same ones."""
        found = Counter(name for one in self.calls for name in one.cause.taken or ())
        return [name for name, _ in found.most_common()]

    def example(self, argument: str) -> CallDifference:
        """Return how an argument changed: last of all where nothing else did, if there is that."""
        found = [
            (len(_others(self.kind, call)) + len(_names(self.kind, call)) == 1, at, one)
            for at, call in enumerate(self.calls)
            for one in _ours(self.kind, call)
            if one.argument == argument
        ]
        return max(found, key=lambda one: one[:2])[2]

    def n_values(self, argument: str, *, with_first: bool) -> int:
        """Return how many values an argument had, those before the first change if they count."""
        sides = ("before", "now") if with_first else ("now",)
        ours = [one for call in self.calls for one in _ours(self.kind, call)]
        told = {getattr(one, side) for one in ours if one.argument == argument for side in sides}
        # How a shape is written has the dtype in front.
        return len({one[one.find("[") :] for one in told} if self.kind == "shape" else told)


def _blamed(kind: CauseKind, calls: Sequence[CompiledCall]) -> list[_Blamed]:
    """Divide calls that one kind of cause has compiled again by the arguments that changed.

    Arguments that changed in the same call stay together: they must be the same together.
    """
    if kind == "new_function":  # what it holds is not given in the call
        return [_Blamed(kind, list(calls))]
    groups: list[tuple[set[str], list[CompiledCall]]] = []
    for call in calls:
        ours = set(_names(kind, call))
        of_them = [call]
        apart = []
        for known, earlier in groups:
            if known & ours or not (known or ours):
                ours |= known
                of_them = [*earlier, *of_them]
            else:
                apart.append((known, earlier))
        groups = [*apart, (ours, of_them)]
    found = [_Blamed(kind, sorted(of_them, key=lambda one: one.number)) for _, of_them in groups]
    return sorted(found, key=lambda one: one.calls[0].number)


def _names(kind: CauseKind, call: CompiledCall) -> list[str]:
    """Return the arguments that changed in a way, in their order."""
    return list(dict.fromkeys(one.argument for one in _ours(kind, call)))


def _ours(kind: CauseKind, call: CompiledCall) -> Sequence[CallDifference]:
    if kind == "new_function":
        return call.cause.held or ()
    return _in_guard([one for one in call.differences if one.kind == kind], call.guard)


def _others(kind: CauseKind, call: CompiledCall) -> set[str]:
    """Return what differed too, in another way: without this cause it is compiled all the same."""
    if call.cause.kind != "again":
        return set()
    ours = set(_names(kind, call))
    return {
        _named(one, ours)
        for one in call.differences
        if one.kind != kind and not (one.argument in ours and one.kind in _WITH.get(kind, ()))
    }


def _named(one: CallDifference, ours: set[str]) -> str:
    if one.argument in ours:
        return f"the {one.kind.replace('_', ' ')} of {one.argument}"
    return one.argument or one.kind


_PLAIN = "pass it as a plain argument: leave it out of static_argnums and static_argnames"
_LAYOUT = "convert to one dtype and layout before the call, or declare the signatures"
_REASONS = {
    "doctor_static": "{function} was compiled again {n_again:# time}: its argument"
    " `{argument}` is static and took {n_values:# value}, such as {before}, then {now}",
    "doctor_no_array": "{function} was compiled again {n_again:# time}: its argument"
    " `{argument}` is no array and took {n_values:# value}, such as {before}, then {now}",
    "doctor_shape": "{function} was compiled again {n_again:# time}: `{argument}` had"
    " {n_values:# shape}, such as {before}, then {now}",
    "doctor_dtype": "{function} was compiled again {n_again:# time}: `{argument}` was"
    " {before}, then {now}",
    "doctor_weak_type": "{function} was compiled again {n_again:# time}: `{argument}` was"
    " {before}, then {now}",
    "doctor_tree": "{function} was compiled again {n_again:# time}: the structure of"
    " `{argument}` changed, such as from {before} to {now}",
    "doctor_type": "{function} was compiled again {n_again:# time}: `{argument}` was"
    " {before}, then {now}",
    "doctor_functions": "{function} was compiled again {n_again:# time}: its argument"
    " `{argument}` took {n_values:# function}, and each of them is a type of its own",
    "doctor_commitment": "{function} was compiled again {n_again:# time}: `{argument}` was"
    " put on a device once and not the other time",
    "doctor_sharding": "{function} was compiled again {n_again:# time}: `{argument}` lay in"
    " {before}, then in {now}",
    "doctor_context": "{function} was compiled again {n_again:# time}: the setting"
    " `{argument}` was {before}, then {now}",
    "doctor_transform": "{function} was compiled again {n_again:# time}, as part of {before},"
    " then of {now}",
    "doctor_new_function": "{function} was compiled again {n_again:# time}: each time `jit`"
    " got another function object of the same code",
    "doctor_new_closure": "{function} was compiled again {n_again:# time}: each time `jit`"
    " got another function object of the same code, which holds `{argument}`: {before}, then {now}",
    "doctor_number": "{function} was compiled again {n_again:# time}: `{argument}` is a"
    " Python number and took {n_values:# value}, such as {before}, then {now}",
    "doctor_no_tensor": "{function} was compiled again {n_again:# time}: `{argument}` is no"
    " tensor and took {n_values:# value}, such as {before}, then {now}",
    "doctor_guard": "{function} was compiled again {n_again:# time}: each time a guard of"
    " torch.compile failed, such as {argument}",
    "doctor_gave_up": "then torch.compile gave up: calls that fit none of these programs run"
    " uncompiled (limit {n_programs}, torch._dynamo.config.{setting})",
    "doctor_unknown": "{function} was compiled again {n_again:# time}, and nothing that is"
    " watched differed",
    "doctor_also": "`{argument}` changed {n_times:# time}, such as from {before} to {now}",
    "doctor_too": "`{argument}` changed {n_times:# time}",
    "doctor_more": "{n_arguments:# more argument} changed",
    "doctor_taken": "`{argument}`, which it takes from around it, was another object",
    "saving_other": "{other_names} differed at the same time: both must change",
    "saving_unknown": "it depends on what differed, which is not known",
}
_ADVICE = {
    "doctor_guard": "keep what it names the same in each call, or give what changes as a tensor",
}
_PARAMETERS = {
    **dict.fromkeys(
        [code for code, said in _REASONS.items() if "was compiled again" in said],
        "function n_again n_read argument n_values before now",
    ),
    "doctor_also": "argument before now n_times",
}
_CHANGES = {
    "varying-static-arg": _PLAIN,
    "shape-change": "pad to a few fixed sizes, or sort what is of one size together",
    "dtype-change": "make it of one dtype before the call",
    "weak-type-flip": "start from an array of the dtype that comes back, such as jnp.asarray(0.0,"
    " x.dtype)",
    "tree-change": "give the same keys and lengths in each call; begin with all of them",
    "numba-signatures": _LAYOUT,
    "recompile-by-commitment": "put the argument on its device before the first call, with"
    " jax.device_put",
    "context-change": "set it once, before the first call",
    "transform-of-traced": "apply jit outside of the transformation",
    "fresh-callable": "make the function once, outside of what is called again, and keep what jit"
    " returns",
    "jit-in-loop": "move the function and its jit out of the loop",
    "recompile": "set JAX_EXPLAIN_CACHE_MISSES=1, and JAX says what differed",
    "torch-changing-scalar": "pass it as a tensor; a loop or a branch that depends on it goes"
    " outside of what is compiled",
}
_STATIC: dict[ValueKind, str] = {
    "whole": (
        "pass it as a plain argument (leave it out of static_argnums and static_argnames); where"
        " it makes a shape, pad to a few fixed sizes"
    ),
    "number": _PLAIN,
    "sizes": "pad to a few fixed sizes, so that it takes few values",
    "text": "let it take few values: each of them is compiled for itself",
    "callable": "make the function once, and pass the same one in each call",
    "object": (
        "keep one instance, or give its class _eq_ and _hash_; what changes in it becomes an"
        " argument"
    ),
    "values": "pass what changes in it as an argument of its own",
}
"""Codes of a static argument, by what its values are."""
_OPEN = (
    "leave the size open, torch.compile(…, dynamic=True) or torch._dynamo.mark_dynamic; or pad to a"
    " few fixed sizes"
)
_ONE_RANK = "give it one number of dimensions, with reshape before the call"
_ONE_START = "begin with an array of the shape and dtype that it has later, such as jnp.zeros"
_ONE_SHAPE = "pad what is of another size to the same, or leave it out, such as a short last batch"
_NUMBA: dict[TypeKind, str] = {
    "function": "give it one function, or declare a signature with numba.types.FunctionType",
    "length": "pass an array instead of a tuple of changing length",
    "ndim": _ONE_RANK,
    "array": _LAYOUT,
    "number": "convert to one type before the call, with int() or float()",
    "omitted": "pass it in each call, with a value of one type",
    "other": "pass values of one type in each call",
}
_TELLS = {
    "jax": _CHANGES["recompile"],
    "torch": "set TORCH_LOGS=recompiles, and PyTorch says what differed",
    "numba": "see what its attribute `signatures` has more after each of these calls",
}
"""Where nothing that is watched differed: what shows more, by framework."""
_ONE_OBJECT = "make the function or object in it once, such as an optimizer, and keep it"
_IS_ARRAY = "make it an array with jnp.asarray: its value is no part of a program then"
_EACH = {
    "dtype-change",
    "weak-type-flip",
    "numba-signatures",
    "recompile-by-commitment",
    "torch-changing-scalar",
    "varying-static-arg",
}
"""Where the change is said of one argument, and others that changed with it need it, too."""
_ATTRIBUTES = ("self.", "len(self.")
_ATTRIBUTE = "keep it as a tensor (a buffer), or outside of what is compiled"
_OTHER = "choose by it outside of what is compiled"

_PATTERNS: dict[CauseKind, str] = {
    "static": "varying-static-arg",
    "shape": "shape-change",
    "dtype": "dtype-change",
    "weak_type": "weak-type-flip",
    "tree": "tree-change",
    "type": "numba-signatures",
    "commitment": "recompile-by-commitment",
    "sharding": "recompile-by-commitment",
    "context": "context-change",
    "transform": "transform-of-traced",
    "new_function": "fresh-callable",
    "guard": "recompile",
    "unknown": "recompile",
}
_MOST_NAMED = 2
"""Arguments that are named besides the one that changed most often."""
_BOTH_TOLD: set[CauseKind] = {"static", "dtype", "weak_type", "type", "context", "new_function"}
"""Causes of which both values say something a second time."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line at which one cause made a function compile again, by its arguments."""
    groups: dict[tuple[SourceLine, str, CauseKind], list[CompiledCall]] = {}
    for call in trace.calls:
        kind = call.again_for
        if kind is None or call.site is None or call.is_frameworks or not call.compiled:
            continue
        if cleared_before(trace, call) is not None:
            continue
        # A type of a declared signature is meant; another function of the same code is not.
        is_declared = call.stack and trace.sources.defines(call.site.path, call.site.line)
        if kind == "new_function" or not is_declared:
            groups.setdefault((call.site, call.name, kind), []).append(call)
    limits = _limits(trace)
    for (site, name, kind), calls in groups.items():
        after = limits.get(_code_of(calls[0].function))
        has_given_up = after is not None and kind != "unknown"
        if has_given_up or not is_meant(trace, site, kind, calls):
            for one in _blamed(kind, calls):
                yield _finding(trace, site, name, one, after)


def _finding(
    trace: ProcessTrace, site: SourceLine, name: str, group: _Blamed, after: Reason | None
) -> Finding:
    calls = group.calls
    is_first_seen = first_of(trace, calls[0]) is not None
    cause = _cause(group, is_first_seen=is_first_seen)
    says = because(
        _code(group, cause),
        *_more(group),
        function=name,
        n_again=len(calls),
        n_read=sum(one.hit for one in calls),
        argument=cause.argument,
        n_values=cause.n_values,
        before=cause.before,
        now=cause.now,
    )
    return trace.finding(
        _pattern(trace, site, group.kind, calls),
        site,
        says,
        framework=calls[0].framework,
        again=calls,
        saved=group.alone,
        no_saving=_untold(group, cause),
        after=after,
        cause=cause,
    )


def _untold(group: _Blamed, cause: Cause) -> Reason | None:
    """Return why there is no figure of what a change saves; ``None``: there is one."""
    if group.kind == "unknown":
        return because("saving_unknown")
    if not group.alone:
        return because("saving_other", other_names=group.others)
    is_value = group.kind in {"static", "new_function"} and cause.argument
    # Each text is compiled for itself in any case.
    if is_value and kind_of_values(cause.before, cause.now) == "text":
        return because("doctor_depends")
    return None


def _more(group: _Blamed) -> Iterator[Reason]:
    """Name the other arguments that changed in these calls, or say how many there are."""
    more = group.arguments[1:]
    for name in more[:_MOST_NAMED]:
        n_times = group.n_times(name)
        if group.kind in _BOTH_TOLD:
            example = group.example(name)
            values = {"before": example.before, "now": example.now}
            yield because("doctor_also", argument=name, n_times=n_times, **values)
        else:
            yield because("doctor_too", argument=name, n_times=n_times)
    for name in group.taken[:_MOST_NAMED]:
        yield because("doctor_taken", argument=name)
    if len(more) > _MOST_NAMED:
        yield because("doctor_more", n_arguments=len(more) - _MOST_NAMED)


def _code(group: _Blamed, cause: Cause) -> str:
    """Return which words fit."""
    if any(one.fixed for call in group.calls for one in call.differences[:1]):
        return "doctor_no_array"  # a package has made it static, not the user
    if group.kind == "new_function" and cause.argument:
        return "doctor_new_closure"
    if group.kind == "type" and kind_of_types(cause.before, cause.now) == "function":
        return "doctor_functions"
    if group.kind == "static" and group.calls[0].framework == "torch":
        return _code_of_value(cause.now)
    return f"doctor_{group.kind}"


def _cause(group: _Blamed, *, is_first_seen: bool) -> Cause:
    if group.kind == "guard":
        return Cause(kind=group.kind, argument=group.calls[-1].guard or "")
    if not group.arguments:
        return Cause(kind=group.kind, n_values=len(group.calls) + is_first_seen)
    argument = group.arguments[0]
    example = group.example(argument)
    return Cause(
        kind=group.kind,
        argument=argument,
        before=example.before,
        now=example.now,
        n_values=group.n_values(argument, with_first=is_first_seen),
    )


def _pattern(
    trace: ProcessTrace, site: SourceLine, kind: CauseKind, calls: list[CompiledCall]
) -> str:
    framework = calls[0].framework
    if framework == "torch" and kind == "static":
        return "torch-changing-scalar"
    if kind == "new_function" and _made_in_loop(trace, site, calls[0]):
        return "jit-in-loop"
    return _PATTERNS[kind]


def _made_in_loop(trace: ProcessTrace, site: SourceLine, call: CompiledCall) -> bool:
    """Say whether the function is written inside of the loop that calls it."""
    loop = trace.sources.loop(site.path, site.line)
    path, line = call.function.path, call.function.line or 0
    return loop is not None and path == site.path and loop[0] <= line <= loop[1]


def _change(finding: Finding) -> str:
    """Return what to change, by what was one thing and then another."""
    says, cause = finding.says, finding.cause
    before, now = (cause.before, cause.now) if cause is not None else ("", "")
    if finding.pattern == "torch-changing-scalar":
        if cause is not None and cause.argument.startswith(_ATTRIBUTES):
            return _ATTRIBUTE
        if says.code != "doctor_number":
            return _OTHER
    if says.code == "doctor_new_closure" or (says.code == "doctor_new_function" and says.parts):
        return _with_arguments(finding, before, now)
    change = _advice(finding, before, now)
    if finding.pattern not in _EACH:
        return change
    return "; ".join([change, *_of_others(finding, change)])


def _advice(finding: Finding, before: str, now: str) -> str:
    """Return what to change of an argument that was one thing, and then another."""
    general = _general(finding.pattern, before, now)
    if finding.pattern == "recompile":
        return _TELLS.get(finding.framework, general)
    if finding.pattern == "shape-change" and finding.framework == "torch":
        return _OPEN
    if finding.pattern == "numba-signatures":
        return _NUMBA[kind_of_types(before, now)]
    if general == _CHANGES["shape-change"] and finding.n == 1:
        return _ONE_SHAPE
    kind = kind_of_values(before, now)
    if finding.pattern != "varying-static-arg":
        return general
    is_number = kind in {"whole", "number"}
    return _IS_ARRAY if is_number and finding.says.code == "doctor_no_array" else _STATIC[kind]


def _general(pattern: str, before: str, now: str) -> str:
    if pattern == "shape-change" and not have_one_rank(before, now):
        return _ONE_START if before.startswith("Python ") else _ONE_RANK
    if pattern == "tree-change" and hold_objects(before, now):
        return _ONE_OBJECT
    return _CHANGES[pattern]


def _of_others(finding: Finding, change: str) -> Iterator[str]:
    """Say what to change of the other arguments that changed."""
    same: list[str] = []
    for one in finding.says.parts:
        name, before, now = (str(one.values.get(at, "")) for at in ("argument", "before", "now"))
        its = _advice(finding, before, now) if before or now else change
        if name and its != change:
            yield f"of `{name}`, {its}"
        else:
            same.append(f"`{name}`" if name else "the others")
    if same:
        yield f"the same for {', '.join(same)}"


def _with_arguments(finding: Finding, before: str, now: str) -> str:
    """Return what to change where a function that is made anew holds what changes."""
    says = finding.says
    held = [str(one.values.get("argument", "")) for one in (says, *says.parts)]
    held = held[says.code != "doctor_new_closure" :]
    is_named = all(map(str.isidentifier, held))
    given = ", ".join(f"`{one}`" for one in held) if is_named else "what it holds"
    is_text = bool(before or now) and kind_of_values(before, now) == "text"
    what = "a static argument" if is_text else "an argument"
    change = _CHANGES[finding.pattern].partition(", and keep")[0]
    return f"{change}, and give it {given} as {what}: else it keeps the first value"


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE, _PARAMETERS),
    changes=_CHANGES,
    change=_change,
    compiled_again={
        *_PATTERNS.values(),
        "jit-in-loop",
        "torch-changing-scalar",
    },
    pages={"shape-change": "shape-padding"},
)
