"""Requests of a user to a bench: candidates, inputs, variables, interpreters, options. Pure."""

from __future__ import annotations

import ast
import math
import os
import re
import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.base import LONGEST, is_name
from coldwarm.contracts.codec import cleaned
from coldwarm.errors import UsageError, shorten
from coldwarm.registry import unknown
from coldwarm.runner.case_list import BLOCKS, COLD, Options
from coldwarm.runner.user_input import is_private, is_told, withhold_input, withhold_variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode

_DTYPES = ("f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool", "c64", "c128")
_FILLS = ("normal", "uniform", "zeros", "ones", "range")
_MOST_LABEL_BYTES = 100
_MOST_ELEMENTS = 2**31
_LABEL = re.compile(r"[A-Za-z_][\w.@+-]*")
_ARRAY = re.compile(r"([A-Za-z]+\d*)(\[[^\]]*\](?:;\[[^\]]*\])*)(?::(\w+))?")
_WRITE = "write x=f32[512,512], or x=f32[512,512];[600,512] for new shapes, or n=3"


@dataclass(frozen=True)
class Target:
    """One candidate: what to load, under which interpreter, with which variables."""

    label: str
    module: str
    path: Path | None
    """The file; ``None``: ``module`` is imported."""
    name: str
    """Empty: the functions that the file marks."""
    tolerance: float | None = None
    """The largest error that its mark allows; ``None``: the same for all."""
    python: str = sys.executable
    variables: Mapping[str, str] = field(default_factory=dict)
    search: tuple[str, ...] = ()
    """Folders that come first on the search path."""
    revision: str | None = None
    """The commit it is of; ``None``: the files as they are."""
    elsewhere: Path | None = None
    """The user's checkout, of which nothing may be imported, where the target is of a commit."""
    shown: str = ""
    """The file as it is called in its repository, where it is one of a commit."""
    of_today: bool = False
    """Whether the file is today's benchmark, and only what it imports is of the commit."""
    control_of: str | None = None
    """The label of the candidate that this one is once more."""
    calls: int | None = None
    """The call of ``coldwarm.bench`` up to which the file is read; ``None``: all of it."""
    arguments: str | None = None
    """The folder with the arguments of the call; ``None``: they are made of declared inputs."""
    sync: str | None = None
    """Function that waits for a result, ``MODULE:NAME``; ``None``: what its arrays have."""
    carried: bool = False
    """Whether it lies beside its arguments, as a pickle."""
    state: tuple[str, ...] = ()
    """State that it keeps from call to call, and that travels with it as it is."""
    otherwise: Target | None = None
    """The same in another way, where it cannot be read anew."""

    @property
    def start(self) -> tuple[object, ...]:
        """What decides all that its processes do before they look its function up."""
        given = (self.arguments, self.carried, self.calls, self.sync)
        variables = tuple(sorted(self.variables.items()))
        return (self.module, self.path, self.python, variables, self.search, self.elsewhere, *given)

    @property
    def text(self) -> str:
        """The target as a user writes it, the file from the working directory on."""
        if self.path is None:
            return f"{self.module}:{self.name}"
        if self.shown:
            return f"{self.shown}:{self.name}"
        folder = Path.cwd()
        below = self.path.is_relative_to(folder)
        return f"{self.path.relative_to(folder) if below else self.path}:{self.name}"

    @property
    def written(self) -> str:
        """The same with the label that it was given, as it can be parsed once more."""
        text = self.text if self.name else self.text.removesuffix(":")
        return f"{self.label}={text}" if self.label else text


def _parse(text: str) -> Target:
    """Return the target ``[LABEL=]FILE.py[:NAME]`` or ``[LABEL=]PACKAGE.MODULE:NAME``.

    Raises:
        UsageError: it is neither, or the file is not there.
    """
    label, equals, rest = text.partition("=")
    if not equals or not _LABEL.fullmatch(label):
        label, rest = "", text
    place, colon, name = rest.rpartition(":")
    if not colon:
        place, name = rest, ""
    if not all(part.isidentifier() for part in name.split(".") if name):
        what = "a name has no brackets or signs: make the object in the file, and name that"
        raise UsageError(f"{text!r} names no function; {what}")
    if place.endswith(".py"):
        path = Path(place).expanduser().resolve()
        if not path.is_file():
            raise UsageError(f"{place} is not there; name a Python file, as in fit.py:fit")
        return Target(label, path.stem, path, name)
    if not name or not all(part.isidentifier() for part in place.split(".")):
        what = "write FILE.py:NAME or PACKAGE.MODULE:NAME"
        raise UsageError(f"{text!r} names no function; {what}")
    return Target(label, place, None, name)


def refuse_long(targets: Iterable[Target]) -> None:
    """Refuse labels that are too long for the name of a file.

    Raises:
        UsageError: one is.
    """
    for target in targets:
        if len(os.fsencode(target.label)) > _MOST_LABEL_BYTES:
            what = f"the label {shorten(target.label)} has {len(target.label)} characters"
            raise UsageError(f"{what}, of at most {_MOST_LABEL_BYTES}; write LABEL=FILE.py:NAME")


def parse_inputs(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return inputs of different names.

    Raises:
        UsageError: one of them is none, or two have one name.
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        one = _parse_input(text)
        if one["name"] in found:
            what = f"for several shapes write {one['name']}=f32[512];[600]"
            raise UsageError(f"--input {one['name']} is given twice; {what}")
        found[one["name"]] = one
        withhold_input(one["name"], one.get("value"))
    _refuse_repeated(list(found.values()))
    return list(found.values())


def _refuse_repeated(inputs: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a further call of shapes that were had: it would be no call of a new shape."""
    several = [one["shapes"] for one in inputs if one["kind"] == "array"]
    seen: list[list[list[int]]] = []
    for which in range(max(map(len, several), default=0)):
        shapes = [one[min(which, len(one) - 1)] for one in several]
        if shapes in seen:
            text = ", ".join(map(str, shapes))
            raise UsageError(f"--input: the shapes {text} are given twice; leave one")
        seen.append(shapes)


def _parse_input(text: str) -> dict[str, Any]:
    """Return an input such as ``x=f32[512,512]``, as it is sent to the measured process.

    Raises:
        UsageError: it is none.
    """
    name, equals, what = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"--input {text!r} has no name; {_WRITE}")
    found = _ARRAY.fullmatch(what)
    if found is None:
        return {"name": name, "kind": "value", "value": _value(text, what)}
    dtype, shapes, fill = found.groups()
    if dtype not in _DTYPES:
        raise unknown(f"dtype of --input {name}", dtype, _DTYPES)
    if fill is not None and fill not in _FILLS:
        raise unknown(f"filling of --input {name}", fill, _FILLS)
    parsed = [_shape(text, one) for one in re.findall(r"\[([^\]]*)\]", shapes)]
    return {
        "name": name,
        "kind": "array",
        "dtype": dtype,
        "shapes": parsed,
        "fill": fill or "normal",
    }


def _shape(text: str, inside: str) -> list[int]:
    try:
        shape = [int(part) for part in inside.split(",") if part.strip()]
    except ValueError:
        shape = [-1]
    if any(length < 0 for length in shape):
        raise UsageError(f"--input {text!r}: [{inside}] is no shape; {_WRITE}")
    if math.prod(shape) > _MOST_ELEMENTS:
        raise UsageError(f"--input {text!r}: [{inside}] has more than 2^31 elements")
    return shape


def _value(text: str, what: str) -> bool | int | float | str:
    try:
        value = ast.literal_eval(what)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise UsageError(f"--input {text!r} is no array and no value; {_WRITE}") from None
    if not isinstance(value, bool | int | float | str):
        raise UsageError(f"--input {text!r} is a {type(value).__name__}; {_WRITE}")
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"--input {text!r} is no finite number; {_WRITE}")
    return value


def labelled(targets: Sequence[Target]) -> list[Target]:
    """Give every target a label of its own: its name, its file's, or a number after it.

    Raises:
        UsageError: two have one label, or one has a label that looks like a secret.
    """
    names = [target.label or _presentable(target.name) for target in targets]
    stems = [target.label or _presentable(target.module.rpartition(".")[2]) for target in targets]
    chosen = names if len(set(names)) == len(names) or len(set(stems)) < len(stems) else stems
    seen: dict[str, int] = {}
    result = []
    for target, name in zip(targets, chosen, strict=True):
        seen[name] = seen.get(name, 0) + 1
        label = name if seen[name] == 1 else f"{name}_{seen[name]}"
        result.append(replace(target, label=re.sub(r"[^\w.@+-]", "_", label)))
    twice = {t.label for t in result if sum(o.label == t.label for o in result) > 1}
    unfit = next((target.label for target in result if not is_name(target.label)), None)
    if unfit is not None:
        text = (
            f"the label {unfit[:40]!r} has {len(unfit)} characters; give one of at most {LONGEST}"
        )
        raise UsageError(f"{text}: LABEL=TARGET")
    if twice:
        raise UsageError(f"two candidates are called {min(twice)!r}; name them: LABEL={min(twice)}")
    private = next((t.label for t in result if is_private(t.label)), None)
    if private is not None:
        text = f"the candidate {cleaned(private)} has a label that looks like something private"
        raise UsageError(f"{text}; a label stands in every file: choose another")
    return result


def _presentable(name: str) -> str:
    """Return a name that may stand in every file: ``candidate`` for one that looks private."""
    return "candidate" if is_private(name) else name


def _with_pythons(targets: Sequence[Target], given: Sequence[str]) -> list[Target]:
    """Give targets their interpreters: ``LABEL:PATH``, or ``PATH`` for all.

    Several paths without a label make a candidate of each target with each of them.

    Raises:
        UsageError: there is no such program or label.
    """
    by_label, for_all = {}, []
    labels = {target.label for target in targets}
    for text in given:
        label, colon, path = text.partition(":")
        if colon and label in labels:
            by_label[label] = _program(path)
        else:
            for_all.append(_program(text))
    found = []
    for target in targets:
        if target.label in by_label:
            found.append(replace(target, python=by_label[target.label]))
        elif len(for_all) > 1:
            found += [
                replace(target, python=python, label=_at(target.label, _environment(python)))
                for python in for_all
            ]
        else:
            found.append(replace(target, python=for_all[0]) if for_all else target)
    return labelled(found)


def _is_labelled(text: str) -> bool:
    label, colon, _ = text.partition(":")
    return bool(colon and _LABEL.fullmatch(label)) and not Path(text).exists()


def _program(path: str) -> str:
    # A virtual environment's interpreter is a link: following it would leave the environment.
    found = shutil.which(path) if path and os.sep not in path else None
    place = Path(found or path).expanduser().absolute()
    if place.is_dir() and (place / "bin" / "python").exists():
        place = place / "bin" / "python"
    if not place.is_file() or not os.access(place, os.X_OK):
        raise UsageError(f"--python {path}: no such interpreter; name .venv/bin/python")
    return str(place)


def _at(label: str, environment: str) -> str:
    """Return a label with its environment, which is no address of mail that would be masked."""
    made = f"{label}@{environment}"
    return made.replace(".", "_") if is_private(made) else made


def _environment(python: str) -> str:
    """Return a short name for an interpreter: the folder of its environment."""
    return Path(python).parent.parent.name.lstrip(".") or Path(python).name


def _with_variables(targets: Sequence[Target], given: Iterable[str]) -> list[Target]:
    """Give targets their variables: ``LABEL:NAME=VALUE``, or ``NAME=VALUE`` for all.

    Raises:
        UsageError: it is no variable, or no candidate has the label.
    """
    found = {target.label: dict(target.variables) for target in targets}
    for number, text in enumerate(given, start=1):
        head, equals, value = text.partition("=")
        label, colon, key = head.rpartition(":")
        if not equals or not key:
            # Nothing of it is repeated: what was mistyped may be a secret.
            what = f"--env number {number}" if number > 1 else "--env"
            what += " names no variable with a value; write NAME=VALUE"
            raise UsageError(f"{what}, or LABEL:NAME=VALUE for one candidate")
        if colon and label not in found:
            raise unknown("candidate", label, found)
        for name in [label] if colon else list(found):
            found[name][key] = value
    return [replace(target, variables=found[target.label]) for target in targets]


_MIN_RUNS, _MAX_RUNS = 3, 12
MOST_RUNS = 200
"""Processes of each mode where a budget bounds them."""
_THRESHOLD = 0.02


def options(  # noqa: PLR0913 - each is one choice of the user's
    *,
    cold: bool = True,
    warm: bool = True,
    time_budget_s: float | None = None,
    min_runs: int | None = None,
    max_runs: int | None = None,
    threshold: float = _THRESHOLD,
    limits: Mapping[str, float] | None = None,
    seed: int = 0,
    threads: int | None = None,
    timeout_s: float = 300.0,
    leave_out_private: bool = False,
    option_origins: dict[str, str] | None = None,
) -> Options:
    """Return the options of a run that stops when its verdicts are settled."""
    modes: tuple[CacheMode, ...] = COLD if cold else ()
    most = max_runs or (_MAX_RUNS if time_budget_s is None else MOST_RUNS)
    # Within a budget, effort follows need from the second round on.
    fewest = min(min_runs or (_MIN_RUNS if time_budget_s is None else 1), most)
    return Options(
        suite="bench",
        cache_modes=(*modes, "warm_process") if warm else modes,
        seed=seed,
        threads=threads,
        min_runs=fewest,
        max_runs=max(most, fewest),
        time_budget_s=time_budget_s,
        timeout_s=timeout_s,
        blocks=BLOCKS,
        decide=threshold,
        limits=dict(limits or {}),
        leave_out_private=leave_out_private,
        option_origins=option_origins or {},
    )


@dataclass(frozen=True)
class Request:
    """Request of a bench."""

    targets: Sequence[str]
    inputs: Sequence[str] = ()
    placement: str | None = None
    reference: str | None = None
    """A label; ``None``: the first candidate's."""
    check: bool = True
    tolerance: float | None = None
    sync: str | None = None
    """Function that waits for a result, ``MODULE:NAME``; ``None``: what its arrays have."""
    pythons: Sequence[str] = ()
    variables: Sequence[str] = ()
    before: str | None = None
    after: str | None = None
    control: bool = False
    """Whether the reference is measured once more, as a control, where commits are compared."""
    judged: bool = False
    """Whether limits were given, for which there must be something to compare."""
    name: str = "bench"
    options: Options = field(default_factory=options)

    def parsed(self) -> list[Target]:
        """Return the targets; values of variables that are no settings stay out of every text.

        Raises:
            UsageError: one is none, or two were given one label.
        """
        for text in self.variables:
            head, _, value = text.partition("=")
            withhold_variable(head.rpartition(":")[2], value)
        named = [_parse(text) for text in self.targets]
        labels = [target.label for target in named if target.label]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise UsageError(f"two candidates are called {twice!r}; give each a label of its own")
        return named

    def to_be_read(self, target: Target) -> Target:
        """Give a file whose marks are read what all its functions will have.

        Raises:
            UsageError: there is no such program.
        """
        for_all = [text for text in self.pythons if not _is_labelled(text)]
        given = [text.partition("=") for text in self.variables]
        shared = {key: value for key, _, value in given if key and ":" not in key}
        python = _program(for_all[0]) if for_all else target.python
        return replace(target, python=python, variables={**target.variables, **shared})

    def equipped(self, found: Sequence[Target]) -> list[Target]:
        """Give targets their interpreters and variables.

        Raises:
            UsageError: there is no such program or label, or it is no variable.
        """
        return _with_variables(_with_pythons(found, self.pythons), self.variables)

    def asked(self) -> dict[str, Any]:
        """Return what a journal says of it, so that it can be asked for once more elsewhere.

        A file in the working directory is named from there on; a variable's value stands there
        where it may be told.
        """
        told = [one for one in self.variables if _is_told(one)]
        return {
            "targets": [_parse(one).written for one in self.targets],
            "inputs": list(self.inputs),
            "placement": self.placement,
            "reference": self.reference,
            "check": self.check,
            "tolerance": self.tolerance,
            "sync": self.sync,
            "variables": told,
            "n_withheld": len(self.variables) - len(told),
            "pythons": list(self.pythons),
            "before": self.before,
            "after": self.after,
        }


def _is_told(variable: str) -> bool:
    head, _, value = variable.partition("=")
    return is_told(head.rpartition(":")[2], value)
