"""Inspects a candidate before anything is measured: what it is, what it does.

It is called twice in a process of its own, untimed by anything that is published. Its
first output is what the other candidates are checked against, if it is the reference.
"""

import os
import sys
import time

from coldwarm.frameworks import opened
from coldwarm.frameworks.base import versions
from coldwarm.functions import (
    arguments,
    other_calls,
    sensitivity,
    target,
    transfer,
    unfinished,
    values,
)
from coldwarm.functions.arguments import from_factory
from coldwarm.functions.backend import UserFunction, has_used_gpu
from coldwarm.wire import TYPE_CHECKING
from coldwarm.worker import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


_now_ns = time.perf_counter_ns  # as it was before a program could replace it


_BESIDE = 0.25
"""Share of a call that the main thread and others use of processors where they compute at once."""


_WAITS_S, _LOOKS_S = 1.0, 0.005
"""How long a call waits for those of other candidates at most, and how often it looks."""


class _Alone:
    """Waits for calls of other candidates, whose answers lie in the same folder, but not for long.

    Where calls use all processors, those of two processes at once may take many times as long.
    """

    def __init__(self, answer: "str | None") -> None:
        self._folder = None if answer is None else os.path.dirname(answer)
        self._lock = -1

    def __enter__(self) -> None:
        if self._folder is None:
            return
        import fcntl  # after what a program imports, which is timed

        self._lock, until_s = os.open(self._folder, os.O_RDONLY), time.monotonic() + _WAITS_S
        while time.monotonic() < until_s:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_LOOKS_S)

    def __exit__(self, *_error: object) -> None:
        if self._folder is not None:
            import fcntl

            fcntl.flock(self._lock, fcntl.LOCK_UN)  # a child that goes on may have it open, too
            os.close(self._lock)


def _used_s() -> float:
    """Return the processor time of this process and of the children that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _how_to_give(positions: "list[str]") -> str:
    """Say how arguments are given to a function that has got none."""
    names = ", ".join(positions) or "arguments"
    return (
        f"it takes {names}: give each as --input {(positions or ['x'])[0]}=f32[512,512], or name a"
        " factory, which returns function and arguments"
    )


class _Inspection:
    """Inspection of one candidate."""

    def __init__(self, job: "Mapping[str, Any]") -> None:
        """Import its module and find what was named."""
        self.job = job
        self.spec = job["function"]
        self.backend = UserFunction(job["device"], job["threads"])
        self.backend.take({**self.spec, "kind": "function", "mutates": False})
        self.backend.import_runtime()
        carried = self.spec.get("carried")
        self.module: Any = None if carried else sys.modules[self.spec["module"]]
        self.backend.device_init()
        self.backend.watch()
        self.kind = "function"
        self.placement: str | None = None
        self.order: list[int] | None = None
        self.positional: list[str] = []
        self.first_ns = 0
        """Time of making the function and its arguments, and of the first call."""
        self.doubt: dict[str, Any] | None = None
        """Why it is not known whether the result is there."""
        self.call_ns = self.busy_ns = 0
        """Time of the last call, and of that at most the processor time that it used: on a busy
        machine, and while files are read for the first time, it waits for others."""
        self.in_threads = False
        """Whether other threads, or processes, computed beside this one in the last call."""

    def prepare(self) -> "tuple[Callable[..., Any], arguments.Call, int]":
        """Return the function, its call, and how many new-shape calls there are.

        What was given no array is called: what returns a callable, or a tuple that begins with
        one, is a factory. The object of a method and the defaults of a function that was given
        nothing are its arguments, so that their data can be changed.
        """
        if self.spec.get("carried"):
            return *self.backend.carried(transfer.load_noting), 0
        found = target.resolve(self.module, self.spec["name"])
        inputs = self.spec["inputs"]
        target.refuse_method(found, self.spec["name"])
        if self.spec.get("arguments"):
            return found, transfer.read(self.spec["arguments"]), 0
        signature = target.CallSignatureReader(found)
        values = arguments.values_of(inputs)
        if values is not None and signature.allows(values):
            with _Alone(self.job["answer"]):
                begin_ns = _now_ns()
                given = found(**values)
                self.first_ns = _now_ns() - begin_ns
            first = given[0] if isinstance(given, tuple | list) and given else given
            if callable(first):
                self.kind = "factory"
                function, call, more = from_factory(lambda: given)
                return function, call, len(list(more))
            unfinished.wait(given)
            self.first_ns = _now_ns() - begin_ns
        if not inputs and signature.allows({}):
            function, positional, named = target.with_own(found)
            if positional or named:
                self.kind = "own"
            return function, arguments.Call(positional, named), 0
        if not inputs:
            raise target.TargetError(_how_to_give(signature.positions))
        from numpy.random import default_rng

        self.placement = self.spec["placement"] or arguments.framework_of(found, self.module)
        made = arguments.made(inputs, default_rng(self.job["seed"]), 0, self.placement)
        shapes = [len(one["shapes"]) for one in inputs if one["kind"] == "array"]
        self.positional = arguments.by_position(found, made)
        call = arguments.called(made, self.positional)
        self.order = arguments.order(call, made)
        return found, call, max(shapes, default=1) - 1

    def report(self) -> "dict[str, Any]":
        """Call it twice and return what that showed."""
        self.backend.look()
        function, call, further = self.prepare()
        self._adopt(function, call.copied())
        before, spare = values.digest(list(call.flat)), call.copied()
        input_sha256 = values.digest(arguments.in_order(call.flat, self.order))
        function = self.backend.finishing(function)
        started_ns = _now_ns() - self.job["asked_ns"]
        out = self._called(function, call)
        started_ns += self.busy_ns  # without waiting for other candidates
        # A function without arguments was called before, to see whether it is a factory.
        if self.kind == "factory" or not self.first_ns:
            self.first_ns += self.busy_ns
        read = opened.before(self.job["watch"])
        # A function may hand out a buffer that its next call writes to.
        answer = values.OutputValues(out)
        used = has_used_gpu() or any(map(_on_gpu, values.leaves(out)))
        device = "gpu" if used else "cpu"
        first = [] if self.job["answer"] is None else self._answer(out)
        mutates = call.gone or values.digest(list(call.flat)) != before
        compiles = self.backend.compiles_so_far()
        repeats = values.OutputValues(self._called(function, spare)).digest() == answer.digest()
        in_threads, compiled = self.in_threads, self.backend.compiles_so_far()
        counters, kind = self.backend.counters(), self._precision(answer, call)
        again = None if compiled is None or compiles is None else compiled - compiles

        def others() -> None:
            self._write_others(function, kind)

        return {
            "type": "inspect",
            "kind": self.kind,
            "file": self._file(),
            "placement": self.placement,
            "arguments": [_described(leaf) for leaf in call.flat],
            "outputs": first,
            "uncompared": answer.others if self.job["answer"] is not None else [],
            "input_sha256": input_sha256,
            "strays": _strays(self.spec.get("elsewhere")),
            "mutates": mutates,
            "repeats": repeats,
            "doubt": self.doubt,
            "precision": kind,
            "compiled_again": again,
            "in_threads": in_threads,
            "in_module": self.backend.in_module,
            "further": further,
            "device": device,
            "counters": counters,
            "own_cache": next(iter(self.backend.moved()), None),
            "positional": self.positional,
            "first_s": self.first_ns / 1e9,
            "start_s": started_ns / 1e9,
            "before": read,
            "wrote": opened.wrote(self.job["watch"]),
            "afterwards": others if repeats and first else None,
        }

    def write_others(self) -> None:
        """Write the answers to other data before any other call."""
        function, call, _ = self.prepare()
        self._adopt(function, call.copied())
        self._write_others(self.backend.finishing(function), self.job["precision"])

    def write_moves(self) -> None:
        """Write how far each number moves beside the answer that is there."""
        function, call, _ = self.prepare()
        answer_of = _by_place(self.backend.finishing(function), call.keywords, self.job["answer"])
        path, kind = self.job["answer"], self.job["precision"]
        answers, _ = gate.stored(path)
        again = values.on_host(answer_of(call.copied().flat))
        if [one.shape for one in again] == [one.shape for one in answers]:
            drift = [gate.differences(*pair) for pair in zip(again, answers, strict=True)]
        else:
            drift = [abs(one) * 0.0 for one in answers]

        def keep(moves: "Mapping[str, Any]") -> None:
            other_calls.save_arrays(path, answers, moves)

        found = sensitivity.moves(
            answer_of,
            lambda: call.flat,
            answers,
            kind,
            seed=self.job["seed"],
            drift=drift,
            keep=keep,
        )
        keep(found)

    def _adopt(self, function: "Callable[..., Any]", call: "arguments.Call") -> None:
        found = {"kind": self.kind, "positional": self.positional, "placement": self.placement}
        self.backend.adopt({**self.spec, **found}, function, call, self.order)

    def _write_others(self, function: "Callable[..., Any]", kind: str) -> None:
        """Write the answers to other data, and how far their numbers move, beside the answer."""
        call = _by_place(function, self.backend.keywords, self.job["answer"])
        other_calls.write_answers(
            self.job["answer"],
            call,
            self.backend.others,
            self.job["seed"],
            lambda given, answer: sensitivity.moves(call, given, answer, kind),
        )

    def _called(self, function: "Any", call: "arguments.Call") -> "Any":
        with _Alone(self.job["answer"]):
            return self._called_alone(function, call)

    def _called_alone(self, function: "Any", call: "arguments.Call") -> "Any":
        begin_ns, began_s, own_s = _now_ns(), _used_s(), time.thread_time()
        out = function(*call.positional, **call.named)
        unfinished.wait(out)
        self.call_ns = _now_ns() - begin_ns
        own_s = time.thread_time() - own_s
        beside_s = _used_s() - began_s - own_s
        self.in_threads = min(own_s, beside_s) > _BESIDE * self.call_ns / 1e9
        self.busy_ns = min(self.call_ns, int(1e9 * (_used_s() - began_s)))
        self.backend.refuse_pending()
        doubt = self.backend.doubted(out, self.call_ns / 1e9)
        self.doubt = self.doubt or doubt
        unfinished.refuse_busy(self.call_ns / 1e9)
        return out

    def _answer(self, out: "Any") -> "list[str]":
        """Write the output down, and say what it is made of."""
        answer, path = values.OutputValues(out), self.job["answer"]
        arrays = self.backend.fetch(out)
        other_calls.save_arrays(path, arrays)
        shapes = [[*array.shape] for array in arrays]
        return [f"{kind}{shape}" for kind, shape in zip(answer.dtypes, shapes, strict=True)]

    def _precision(self, answer: "values.OutputValues", call: "arguments.Call") -> str:
        """Return the type whose precision the answer has."""
        given = [str(getattr(leaf, "dtype", "")) for leaf in values.leaves(list(call.flat))]
        jax: Any = sys.modules.get("jax")
        counted = self.backend.counters().get("jax") or {}
        return sensitivity.precision_of(
            answer.dtypes,
            answer.arrays,
            [one.removeprefix("torch.") for one in given],
            in_32_bits=bool(counted.get("compiles")) and not jax.config.jax_enable_x64,
        )

    def _file(self) -> "str | None":
        """Return the file that the function is known by."""
        if self.spec.get("carried"):
            return os.path.join(self.spec["arguments"], transfer.PICKLE)
        return getattr(self.module, "__file__", None)


def _by_place(
    function: "Callable[..., Any]", keywords: "tuple[str, ...]", answer: "str | None"
) -> "Callable[[tuple[Any, ...]], Any]":
    """Return what calls a function with all arguments in order, and waits for its result.

    Each time while no other candidate does, whose ``answer`` lies in the same folder.
    """

    def call(flat: "tuple[Any, ...]") -> "Any":
        n = len(flat) - len(keywords)
        with _Alone(answer):
            out = function(*flat[:n], **dict(zip(keywords, flat[n:], strict=True)))
            unfinished.wait(out)
        return out

    return call


def _strays(root: "str | None") -> "list[str]":
    """Return modules that came from the user's checkout where those of a commit are wanted."""
    if root is None:
        return []
    found = []
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        inside = os.path.realpath(file).startswith(root + os.sep)
        if inside and name.split(".")[0] != "coldwarm" and "-packages" + os.sep not in file:
            found.append(name)
    return found


def _on_gpu(leaf: "Any") -> bool:
    if values.is_torch(leaf):
        return bool(leaf.is_cuda)
    return values.is_jax(leaf) and any(d.platform != "cpu" for d in leaf.devices())


def _described(value: "Any") -> str:
    kind = type(value).__module__.split(".")[0]
    if values.is_array(value) and hasattr(value, "shape"):
        root = "jax" if kind in {"jax", "jaxlib"} else kind
        return f"{root} {str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, bool | int | float | complex | str):
        return repr(value)[:40]
    return type(value).__name__


def answer(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Return what a job asks of a function that is not measured."""
    if job["role"] == "inspect":
        return _Inspection(job).report()
    roles = {"marked": _marked, "moves": _write_moves, "others": _write_others}
    return roles.get(job["role"], _report_facts)(job)


def _marked(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Return the functions of the job's module that the user has marked, in order."""
    module = target.load(job["function"])
    # A name that was defined twice has the marks of the last one.
    last = dict(target.MARKED)
    names = [
        {"name": name, **mark}
        for name, mark in last.items()
        if getattr(module, name, None) is not None
    ]
    return {"type": "marked", "file": getattr(module, "__file__", None), "marked": names}


def _write_moves(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Write how far each number of the answer that is there moves."""
    _Inspection(job).write_moves()
    return {"type": "moves"}


def _write_others(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Write the answers to other data, in a process that is called with nothing else.

    So what a function keeps of its usual call cannot answer for them.
    """
    _Inspection(job).write_others()
    return {"type": "others"}


_VERSIONS = ("jax", "jaxlib", "numpy", "torch", "numba", "optax")
_LONGEST = 300


def _report_facts(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Call the function and return its facts, or the error that it raised.

    Raises:
        TargetError: it returned no dict of plain values.
    """
    backend = UserFunction(job["device"], job["threads"])
    backend.take({**job["function"], "kind": "function", "mutates": False})
    backend.import_runtime()
    function = target.resolve(sys.modules[job["function"]["module"]], job["function"]["name"])
    backend.watch()
    facts: dict[str, Any] = {}
    raised = None
    begin_ns = time.perf_counter_ns()
    try:
        facts = _plain_facts(function())
    except target.TargetError:
        raise
    except Exception as error:  # noqa: BLE001 - which one comes may be what is asked
        line = (str(error).splitlines() or [""])[0]
        raised = {"error": type(error).__name__, "text": line[:_LONGEST]}
    return {
        "type": "facts",
        "facts": facts,
        "raised": raised,
        "call_s": (time.perf_counter_ns() - begin_ns) / 1e9,
        "programs": backend.compiles_so_far(),
        "versions": versions(*_VERSIONS),
    }


def _plain_facts(given: "Any") -> "dict[str, Any]":
    """Return what a function gave, as plain values.

    Raises:
        TargetError: it is something else.
    """
    if not isinstance(given, dict):
        text = f"a function of facts returns a dict; this one returned a {type(given).__name__}"
        raise target.TargetError(text)
    return {str(name): _fact(str(name), value) for name, value in given.items()}


def _fact(name: str, value: "Any") -> "Any":
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    text = f"the fact {name!r} is a {type(value).__name__}; give a number, a text or a flag"
    raise target.TargetError(text)
