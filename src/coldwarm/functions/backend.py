"""Runs a user's own function: whatever frameworks its module imports, with their accounts.

The ``import`` phase is the import of the user's module with everything it imports. What is
loaded afterwards decides the rest: each framework there is watched, its
counters are the evidence of its cache, and the type of what the function returns decides
how a call is synchronised.
"""

import sys
import time

from coldwarm.backends.base import Backend, DeviceUnavailableError
from coldwarm.frameworks.arrivals import Arrivals
from coldwarm.frameworks.base import PARTS, module_of, versions
from coldwarm.frameworks.settings import Places
from coldwarm.functions import arguments, target, transfer, unfinished, values, varying
from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    import numpy as np


_LONG_BUILD_S = 1.0
"""From how long on a factory is not called again for other arguments."""
_now_s = time.perf_counter  # as it was before the user's program


class UserFunction(Backend):
    """A function, or a factory's, of the user's own."""

    name = "user_function"
    framework = "user_function"
    modules = ()
    distributions = ()
    device_suffix = False
    pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    sync_policy = (
        "what the call returns decides: block_until_ready for arrays of JAX; all work of the GPU"
        " for arrays of PyTorch, CuPy and Numba, and where PyTorch or CuPy has used one; the"
        " function named by --sync; none for finished values. Work that is still unfinished then is"
        " refused"
    )

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Remember where to run; import nothing."""
        super().__init__(device, threads)
        self.spec: Mapping[str, Any] = {}
        self.keywords: tuple[str, ...] = ()
        self._arrivals = Arrivals(device)
        self._places: Places | None = None
        vars(self)["sync"] = unfinished.waiter()
        self._module: Any = None
        self._found: Any = None
        self.in_module = False
        """Whether the module had the function as soon as it was loaded: looking up ran no code."""
        self._function: Any = None
        self._build_s = 0.0
        self._call = arguments.Call((), {})
        self._fresh: arguments.Call | None = None
        self._more: Iterator[tuple[Any, ...]] = iter(())
        self._seed = 0
        self._rng: Any = None
        self._order: list[int] | None = None
        self._pending: unfinished.Pending | None = None
        self._sync: Callable[[Any], Any] | None = None

    @classmethod
    def sharing(cls) -> "dict[str, str]":
        """Let several candidates that wait for their turns share a GPU, unless the user says how.

        JAX's client takes three quarters of the memory by default.
        """
        return {"XLA_CLIENT_MEM_FRACTION": "0.2", "XLA_PYTHON_CLIENT_MEM_FRACTION": ""}

    def take(self, spec: "Mapping[str, Any]") -> None:
        """Remember what to run; see ``runner.functions.candidates`` for the fields."""
        self._places = Places(spec["cache_places"])
        self.spec = spec

    def import_runtime(self) -> None:
        """Import the user's module, and what its arguments are made of; watch what comes.

        To look the function up belongs to it: a module, or an object, may make it only then.
        """
        self._arrivals.begin()
        self._load()

    def beside(self, spec: "Mapping[str, Any]") -> "UserFunction":
        """Return another function of the user's in this process, which is watched as this one.

        A file that has been loaded, for itself or by this one, is not loaded again.
        """
        other = UserFunction(self.device)
        other.take(spec)
        other._arrivals = self._arrivals
        known = sys.modules.get(spec["module"])
        if getattr(known, "__file__", None) == spec["path"] is not None:
            other._module = known
        other._load()
        return other

    def _load(self) -> None:
        """Import the module, if it is not there, and find in it what was named."""
        if self.spec.get("carried"):
            for name in transfer.carried_modules(self.spec["arguments"]):
                __import__(name)
            return
        if self._module is None:
            self._module = target.load(self.spec)
        if self.spec["name"] is not None:
            self.in_module = self.spec["name"] in getattr(self._module, "__dict__", ())
            self._found = target.resolve(self._module, self.spec["name"])
        if self.spec.get("sync"):
            self._sync = target.resolve_sync(self._module, self.spec["sync"])
        # Arrays are of NumPy before they are of anything else: whoever has them has imported it.
        folder = self.spec.get("arguments")
        needed = transfer.frameworks(folder) if folder else []
        if not folder and any(one["kind"] == "array" for one in self.spec["inputs"]):
            needed = ["numpy"]
        for framework in needed:
            __import__(framework)

    def device_init(self) -> None:
        """Ask JAX or CUDA for their devices, where the module has imported them.

        Raises:
            DeviceUnavailableError: JAX has no device.
        """
        if "jax" in sys.modules:
            try:
                sys.modules["jax"].devices()
            except RuntimeError as error:
                if "torch" in sys.modules:  # which the function may need alone
                    return self._init_cuda()
                text = f"JAX has no device: {error}"
                raise DeviceUnavailableError(text) from error
        return self._init_cuda()

    def _init_cuda(self) -> None:
        torch = sys.modules.get("torch")
        if torch is not None and self.device == "gpu" and torch.cuda.is_available():
            torch.cuda.init()
            torch.cuda.synchronize()

    @property
    def builds(self) -> bool:
        """Whether a factory makes the function and its arguments: ``build``."""
        return bool(self.spec["kind"] == "factory")

    def made(self, seed: int) -> "list[Any]":
        """Make the arguments, and find the function; a factory does both later."""
        self._seed = seed
        if self.builds:
            return []
        folder = self.spec.get("arguments")
        if self.spec.get("carried"):
            self._function, self._call = self.carried(transfer.load)
        elif self.spec["kind"] == "own":
            self._function, positional, named = target.with_own(self._found)
            self._call = arguments.Call(positional, named)
        else:
            self._function = self._found
            self._call = transfer.read(folder) if folder else self._bound()
        self.keywords = self._call.keywords
        return list(self._call.flat)

    def carried(
        self, load: "Callable[[str], tuple[Any, arguments.Call, Any]]"
    ) -> "tuple[Any, arguments.Call]":
        """Return the function and the call that were carried here, and keep what waits for it."""
        function, call, self._sync = load(self.spec["arguments"])
        return function, call

    def _factory(self) -> "Any":
        """Call the factory with the values that it was given."""
        return self._found(**(arguments.values_of(self.spec["inputs"]) or {}))

    def build(self) -> "tuple[Any, ...]":
        """Call the factory; return the arguments, finished."""
        begin_s = _now_s()
        made = arguments.from_factory(self._factory)
        self._build_s = _now_s() - begin_s
        self._function, self._call, self._more = made
        self.keywords = self._call.keywords
        unfinished.wait(list(self._call.flat))
        return self._call.flat

    def _bound(self) -> "arguments.Call":
        given = self._inputs(0)
        call = arguments.called(given, self.spec["positional"])
        self._order = arguments.order(call, given)
        return call

    def _inputs(self, which: int, rng: "Any" = None) -> "dict[str, Any]":
        draws = any(one.get("fill") in arguments.DRAWN for one in self.spec["inputs"])
        if rng is None and self._rng is None and draws:
            from numpy.random import default_rng

            self._rng = default_rng(self._seed)
        framework = self.spec["placement"] or arguments.framework_of(self._found, self._module)
        return arguments.made(self.spec["inputs"], rng or self._rng, which, framework)

    def place(self, arrays: "Sequence[Any]") -> "tuple[Any, ...]":
        """Wait for the arguments; they were placed as they were made."""
        unfinished.wait(list(arrays))
        return tuple(arrays)

    @property
    def renew(self) -> "Callable[[], tuple[Any, ...]] | None":
        """Function that gives the arguments anew; ``None``: a call does not use them up."""
        if not self.spec["mutates"]:
            return None
        fresh = self._fresh = self._fresh or self._call.copied()
        return lambda: fresh.copied().flat

    def further(self) -> "list[tuple[Any, ...]]":
        """Return the arguments of the new-shape calls, in the same order and names."""
        if self.builds:
            return list(self._more)
        counts = [len(one["shapes"]) for one in self.spec["inputs"] if one["kind"] == "array"]
        calls = [
            arguments.called(self._inputs(which), self.spec["positional"])
            for which in range(1, max(counts, default=1))
        ]
        return [call.flat for call in calls]

    def adopt(
        self,
        spec: "Mapping[str, Any]",
        function: "Any",
        call: "arguments.Call",
        order: "list[int] | None",
    ) -> None:
        """Take what an inspection has found out, so that ``others`` can be asked for."""
        self.spec, self._function = spec, function
        self._call, self._fresh, self._order = call, None, order
        self.keywords = call.keywords

    def others(self, number: float) -> "varying.Other":
        """Return the arguments with other data, which nothing has been kept of.

        What was declared is drawn anew; the same number draws the same.
        """
        if self.spec["kind"] != "function" or self.spec.get("arguments"):
            call = self._anew()
            return varying.given(call, number, varying.names_of(self._function, call))
        call = (self._fresh or self._call).copied()
        names = [*self.spec["positional"], *call.keywords]
        old = dict(zip(names, call.flat, strict=True))
        new = varying.drawn(old, self._inputs(0, self._drawing(number)), number) if names else {}
        return varying.Other(call.flat, [new[name] for name in names], names, self._order)

    def _drawing(self, number: float) -> "np.random.Generator":
        from numpy.random import default_rng

        return default_rng((self._seed, int(number * 2**32)))

    def _anew(self) -> "arguments.Call":
        """Return the arguments once more, made as the first ones were where that is quick."""
        folder = self.spec.get("arguments")
        if folder:
            return transfer.load(folder)[1] if self.spec.get("carried") else transfer.read(folder)
        if self.builds and self._build_s <= _LONG_BUILD_S:
            _, call, _ = arguments.from_factory(self._factory)
            if call.keywords == self._call.keywords:
                return call
        return (self._fresh or self._call).copied()

    def for_user_function(self, wrap: "Callable[..., Any]") -> "Callable[..., Any]":
        """Return the function; it came compiled, or not, as the user has it."""
        del wrap
        return self.finishing(self._function)

    def finishing(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        """Return a function that calls it and what the user has named to wait for results.

        What that one returns is the result, unless it returns nothing.
        """
        return function if self._sync is None else unfinished.finished_by(self._sync, function)

    @property
    def synchronous(self) -> bool:  # type: ignore[override] # of others it never changes
        """Whether there is nothing that goes on computing after a call has returned, so far."""
        return not unfinished.may_go_on()

    def refuse_unfinished(self, out: "Any") -> None:
        """Refuse an output that is not there, and work that goes on. Untimed.

        Raises:
            UnfinishedError: there is such.
        """
        self.refuse_pending()
        self.doubted(out)

    def doubted(self, out: "Any", call_s: "float | None" = None) -> "dict[str, Any] | None":
        """Refuse an output that is not there; say why it is not known of another one. Untimed.

        ``call_s``: what the call took, where objects in the output may be asked.

        Raises:
            UnfinishedError: it is not there.
        """
        named = self.spec.get("sync")  # it waits for the result, and the user answers for that
        return None if named else unfinished.refuse_unknown(out, call_s=call_s)

    def refuse_pending(self) -> None:
        """Refuse work that goes on after the last call. Untimed.

        Raises:
            UnfinishedError: there is such.
        """
        if self._pending is not None:
            self._pending.refuse()

    def digest(self, given: "Sequence[Any]") -> str:
        """Return the SHA-256 of the arguments' numbers, in the order of the inputs."""
        return values.digest(arguments.in_order(given, self._order))

    def keep(self, out: "Any") -> "Any":
        """Return what the output holds, on the host: it may be a buffer that is used again."""
        from coldwarm.backends.base import outside_heap

        return outside_heap(values.on_host(out))

    def kept(self, kept: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the numbers in what was kept, as ``fetch`` does; there may be none to compare."""
        return values.on_host(kept)

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return host copies of what can be compared in an output."""
        found = values.OutputValues(out)
        if not found.arrays and not found.others:
            text = "it returned nothing, so there is nothing to wait for or to check: return"
            text += " the result, as numbers or texts, or give --no-check"
            raise values.NotNumericError(text)
        return found.arrays

    def look(self) -> None:
        """Look what is at work already, the first time."""
        if self._pending is None:
            self._pending = unfinished.Pending()

    def begin_call(self) -> None:
        """Start the account of every framework; look what is at work already."""
        self.look()
        self._arrivals.check()
        for watch in self._arrivals.watches:
            watch.begin_call()

    def parts(self) -> "Mapping[str, Any]":
        """Return the exclusive seconds of all frameworks together."""
        watches = self._arrivals.watches
        for watch in watches:
            watch.catch_up()
        accounts = [dict(watch.parts()) for watch in watches]
        if not accounts:
            why = because("no_compiler")
            return {**dict.fromkeys(PARTS), "reasons": dict.fromkeys(PARTS, why)}
        seconds, reasons = {}, {}
        for part in PARTS:
            known = [account[part] for account in accounts if account[part] is not None]
            seconds[part] = sum(known) if known else None
            if not known:
                given = [account["reasons"].get(part) for account in accounts]
                known_reasons = [reason for reason in given if reason is not None]
                reasons[part] = {"code": "several", "parts": known_reasons}
                if len(known_reasons) == 1:
                    reasons[part] = known_reasons[0]
        return {**seconds, "reasons": reasons}

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the counts of every framework's cache."""
        return self._arrivals.counters()

    def mark(self) -> None:
        """Let ``counts`` be of what was compiled up to here."""
        self._arrivals.mark()

    def counts(self) -> "dict[str, Any]":
        """Return the counts of every framework."""
        return self._arrivals.counts()

    def compiles_so_far(self) -> "int | None":
        """Return the programs that all frameworks have compiled or read; ``None``: unknown."""
        return self._arrivals.compiles_so_far()

    def folded(self) -> "list[str]":
        """Return the programs of which next to nothing is left to do in a call."""
        return [name for watch in self._arrivals.watches for name in watch.folded()]

    def uncounted(self) -> "Mapping[str, Any] | None":
        """Return why the programs were not counted at some time; ``None``: they always were."""
        return self._arrivals.gap

    def moved(self) -> "list[str]":
        """Return the settings by which the program has moved a cache elsewhere."""
        return [] if self._places is None else self._places.moved()

    def device_info(self) -> "dict[str, Any]":
        """Return the device of the framework that has one other than the CPU."""
        if self.device == "gpu":
            known = [watch.gpu() for watch in self._arrivals.watches]
            known += [module.gpu() for module in _others()]
            gpus = [one for one in known if one is not None]
            if gpus:
                return gpus[0]
        return super().device_info()

    def versions(self) -> "dict[str, str]":
        """Return the versions of the frameworks and of the user's top-level package."""
        root = self.spec["module"].split(".")[0]
        return versions("numpy", "scipy", "jax", "jaxlib", "torch", "numba", root)


def _others() -> "list[Any]":
    """Return the modules of loaded frameworks that are only waited for."""
    return [module_of(name) for name in ("cupy", "numba") if name in sys.modules]


def has_used_gpu() -> bool:
    """Say whether a framework has used a GPU in this process, whatever a call returned."""
    names = ("jax", "torch", "cupy", "numba")
    return any(module_of(name).has_used_gpu() for name in names if name in sys.modules)
