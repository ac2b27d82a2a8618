"""Settings of this process that are not as the frameworks come, and folders of caches that moved.

A variable may be set before the start, a file obeyed, or a module may change a configuration while
it is imported. What is in force is read here, after the first result; what it means is judged
elsewhere. Nothing is imported.
"""

import os
import sys

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


class Places:
    """The folders that a process was given for its caches."""

    def __init__(self, known: "Mapping[str, Any]") -> None:
        """Remember what the environment says, before the program can change it.

        ``known``: of all caches, ``variables`` that name a folder, and ``configured``: by module
        and name in it, with dots, the variable that a setting of the framework begins with.
        """
        self._given = {name: os.environ.get(name) for name in known["variables"]}
        self._configured: Mapping[str, str] = known["configured"]

    def moved(self) -> "list[str]":
        """Return the settings that name another folder now, outside of those given."""
        return [name for name, given, now in self._now() if now != given and not self._inside(now)]

    def _now(self) -> "Iterator[tuple[str, str | None, str | None]]":
        for name, given in self._given.items():
            yield name, given, os.environ.get(name)
        for place, variable in self._configured.items():
            module, _, path = place.partition(":")
            found: Any = sys.modules.get(module)
            for part in path.split("."):
                found = getattr(found, part, None)
            given = self._given[variable]
            # What is not set says nothing of its own; no folder at all is a cache turned off.
            yield f"{module}.{path}", given, str(found) if found else given

    def _inside(self, place: "str | None") -> bool:
        if place is None:
            return False
        inner = os.path.realpath(place)
        folders = [os.path.realpath(given) for given in self._given.values() if given]
        return any(inner == folder or inner.startswith(folder + os.sep) for folder in folders)


_FRAMEWORKS = ("jax", "torch", "numba")
_PREFIXES = ("JAX_", "XLA_", "NUMBA_", "TORCH", "PYTORCH_", "OMP_", "MKL_", "OPENBLAS_", "KMP_")

_JAX: "dict[str, Any]" = {
    **dict.fromkeys(("jax_disable_jit", "jax_disable_most_optimizations"), False),
    **dict.fromkeys(("jax_debug_nans", "jax_debug_infs", "jax_debug_key_reuse"), False),
    **dict.fromkeys(("jax_enable_checks", "jax_check_tracer_leaks", "jax_enable_x64"), False),
    **dict.fromkeys(("jax_no_execution", "jax_no_tracing", "jax_enable_custom_prng"), False),
    **dict.fromkeys(("jax_log_compiles", "jax_explain_cache_misses"), False),
    **dict.fromkeys(("jax_default_matmul_precision", "jax_default_device"), None),
    **dict.fromkeys(("jax_exec_time_optimization_effort", "jax_memory_fitting_effort"), 0.0),
    "jax_transfer_guard": None,
    "jax_optimization_level": "UNKNOWN",
    "jax_numpy_dtype_promotion": "standard",
    "jax_default_prng_impl": "threefry2x32",
    "jax_cpu_enable_async_dispatch": True,
    "jax_num_cpu_devices": -1,
    "jax_platforms": None,
}
_NUMBA: "dict[str, Any]" = {
    **dict.fromkeys(("DISABLE_JIT", "DEBUGINFO_DEFAULT", "ENABLE_CUDASIM", "TRACE", "DEBUG"), 0),
    **dict.fromkeys(("EXTEND_VARIABLE_LIFETIMES", "JIT_COVERAGE", "NRT_STATS"), 0),
    **dict.fromkeys(("BOUNDSCHECK", "CPU_NAME", "CPU_FEATURES"), None),
    "OPT": 3,
    "LOOP_VECTORIZE": 1,
    "SLP_VECTORIZE": 0,
    "THREADING_LAYER": "default",
}
"""As they come; what a version does not have is as it comes."""
_TORCH = ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config")
_TORCH_CALLS = {
    "torch.get_float32_matmul_precision": "highest",
    "torch.are_deterministic_algorithms_enabled": False,
    "torch.is_anomaly_enabled": False,
    "torch.get_default_dtype": "torch.float32",
}


def found() -> "dict[str, Any]":
    """Return the frameworks that are loaded, variables, and configured values by name."""
    configured = {**_python(), **dict(_jax()), **dict(_numba()), **dict(_torch())}
    return {
        "loaded": [name for name in _FRAMEWORKS if name in sys.modules],
        "variables": {k: v for k, v in os.environ.items() if k.startswith(_PREFIXES)},
        "configured": {name: str(value)[:200] for name, value in configured.items()},
    }


def told() -> "dict[str, Any] | None":
    """Return what is found; ``None`` where a framework's settings cannot be read as they are."""
    try:
        return found()
    except Exception:  # noqa: BLE001 - a version, or a user's program, may have them otherwise
        return None


def _python() -> "dict[str, Any]":
    watched = {"sys.settrace": sys.gettrace(), "sys.setprofile": sys.getprofile()}
    return {name: type(value).__name__ for name, value in watched.items() if value is not None}


def _differs(value: "Any", usual: "Any") -> bool:
    """Compare a value with the usual one, also where it is a member of an enumeration."""
    plain = getattr(value, "value", value)
    return plain not in {usual, str(usual)} if usual is not None else plain not in {None, ""}


def _jax() -> "Iterator[tuple[str, Any]]":
    config = getattr(sys.modules.get("jax"), "config", None)
    for name, usual in _JAX.items():
        if name.upper() in os.environ:
            continue  # it is told by its variable
        value = getattr(config, name, usual)
        if _differs(value, usual):
            yield name, getattr(value, "value", value)


def _numba() -> "Iterator[tuple[str, Any]]":
    config = sys.modules.get("numba.core.config")
    if config is None:
        return
    dumps = [n for n in vars(config) if n.startswith(("DUMP_", "DEBUG_")) and n not in _NUMBA]
    for name in [*_NUMBA, *dumps]:
        value, usual = getattr(config, name, None), _NUMBA.get(name, 0)
        if f"NUMBA_{name.removesuffix('_DEFAULT')}" in os.environ or value in {None, "none", ""}:
            continue
        if _differs(value, usual):
            yield f"numba.config.{name}", value


def _torch() -> "Iterator[tuple[str, Any]]":
    for module in _TORCH:
        # Each entry keeps its default beside what somebody has put in its place.
        entries = getattr(sys.modules.get(module), "_config", None) or {}
        for name, entry in [*entries.items()]:
            usual = getattr(entry, "default", None)
            override: Any = getattr(entry, "user_override", None)
            if type(override).__name__ == "ContextVar":  # others keep the value itself
                override = override.get()
            # Where nobody has set one, a bare object stands for it.
            value = usual if override is None or type(override) is object else override
            if isinstance(value, bool | int | float | str) and value != usual and name[0] != "_":
                yield f"{module}.{name}", value
    stance = getattr(sys.modules.get("torch._dynamo.eval_frame"), "_stance", None)
    if getattr(stance, "stance", "default") != "default":
        yield "torch.compiler.set_stance", getattr(stance, "stance", None)
    torch = sys.modules.get("torch")
    for name, usual in _TORCH_CALLS.items():
        ask = getattr(torch, name.removeprefix("torch."), None)
        if ask is not None and str(value := ask()) != str(usual):
            yield name, value
