"""Programs as JAX gives them to its compiler, kept so that they can be compiled beforehand.

A cache on disk finds a program by the bytes of its module, the options of the compiler, the devices
and the versions. Module, options and devices are in the frame that asks for the compilation, so
what is kept there is found there again, however the function was written.
"""

import hashlib
import os
import sys
import time

from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.jax_compiles import JaxStages
    from coldwarm.doctor.record.journal import FileJournal


FOLDER = "programs"
"""Beside the journal: two files for each program, its module and its options."""
MODULE, OPTIONS = ".module", ".options"
_MOST_BYTES = 2**30
"""Largest size of all modules of a process; what comes after is named and not kept."""
_SETTINGS = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_enable_xla_caches",
    "jax_compilation_cache_include_metadata_in_key",
    "jax_remove_custom_partitioning_ptr_from_cache_key",
)
"""Settings of JAX that the name of a program in the cache depends on, and the place of the
cache."""
_COMPILE = "/jax/core/compile/backend_compile_duration"
_NEAR = 8
"""Frames above a listener in which JAX holds what it compiles."""
_DIGITS = 20
_now_ns = time.perf_counter_ns


class SavedPrograms:
    """Keeps each program once."""

    def __init__(self, journal: "FileJournal", stages: "JaxStages") -> None:
        """Write into the folder of ``journal``; ``stages`` knows the call, and whose time it is."""
        self._journal, self._stages = journal, stages
        self._folder = os.path.join(journal.folder, FOLDER)
        self._known: set[str] = set()
        self._left = _MOST_BYTES
        self._told = False

    def begin(self) -> None:
        """Keep programs from now on. JAX is loaded.

        Raises:
            OSError: the folder cannot be made.
        """
        os.makedirs(self._folder, exist_ok=True)
        sys.modules["jax"].monitoring.register_scalar_listener(self.on_scalar)

    def on_scalar(self, event: str, _value: float, fun_name: str = "?", **_more: "Any") -> None:
        """Keep what is about to be compiled."""
        if event != _COMPILE:
            return
        begin_ns = _now_ns()
        try:
            if not self._told:
                self._told = True
                self._journal.write("settings", settings=_settings(), variables=_variables())
            self._keep(fun_name, _held_by(sys._getframe(1)))
        except Exception as error:  # it must not become the program's
            failed(self._journal, error)
            self._journal.write("kept", name=fun_name, file=None, why=type(error).__name__)
        finally:
            spent_ns = _now_ns() - begin_ns
            self._stages.spent_ns += spent_ns
            self._stages.leave_out(spent_ns)

    def _keep(self, name: str, held: "dict[str, Any]") -> None:
        devices = held["devices"]
        told = {
            "name": name,
            "call": self._stages.number(),
            "platform": held["backend"].platform,
            "devices": [device.id for device in devices.flat],
            "shape": list(devices.shape),
            "n_callbacks": len(held["callbacks"]),
        }
        why = _not_kept(held)
        module = b"" if why else _module_of(held["module"])
        if len(module) > self._left:
            why = "size"
        if why:
            self._journal.write("kept", **told, file=None, why=why)
            return
        options = held["options"].SerializeAsString()
        where = repr((told["platform"], told["devices"], told["shape"])).encode()
        file = hashlib.sha256(b"\0".join((where, options, module))).hexdigest()[:_DIGITS]
        if file not in self._known:
            self._known.add(file)
            self._left -= len(module)
            for end, raw in ((MODULE, module), (OPTIONS, options)):
                with open(os.path.join(self._folder, file + end), "wb") as written:
                    written.write(raw)
            self._journal.write("kept", **told, file=file, why="")


def _held_by(frame: "FrameType | None") -> "dict[str, Any]":
    """Return what JAX is about to compile, from the frame that asks for it.

    Raises:
        LookupError: this version of JAX holds it elsewhere.
    """
    for _ in range(_NEAR):
        if frame is None:
            break
        if "compile_options" in frame.f_code.co_varnames:
            held = frame.f_locals
            return {
                "module": held["computation"],
                "options": held["compile_options"],
                "devices": held["dev"],
                "callbacks": held.get("host_callbacks") or (),
                "backend": held["backend"],
            }
        frame = frame.f_back
    raise LookupError("compile_options")


def _module_of(module: "Any") -> bytes:
    """Return the bytes of a module, without its locations where the cache leaves them out too."""
    import io

    from jaxlib.mlir import passmanager

    out = io.BytesIO()
    with module.context:
        kept = module.operation.clone()
        if not sys.modules["jax"].config.jax_compilation_cache_include_metadata_in_key:
            passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(kept)
    kept.write_bytecode(file=out)
    return out.getvalue()


def _settings() -> "dict[str, Any]":
    """Return JAX's settings as they are now, by name."""
    config = sys.modules["jax"].config
    return {name: getattr(config, name) for name in _SETTINGS if hasattr(config, name)}


def _variables() -> "dict[str, str | None]":
    """Return the variables that the name of a program in the cache depends on, as they are now."""
    names = ("XLA_FLAGS", "LIBTPU_INIT_ARGS", "JAX_PLATFORMS", "JAX_COMPILATION_CACHE_DIR")
    return {name: os.environ.get(name) for name in names}


def _not_kept(held: "dict[str, Any]") -> str:
    """Return why a program cannot be compiled beforehand; empty: it can."""
    if len({device.process_index for device in held["devices"].flat}) > 1:
        return "processes"
    if held["callbacks"]:
        read = getattr(sys.modules.get("jax._src.compiler"), "_cache_read", None)
        code = getattr(read, "__code__", None)
        if code is None or "host_callbacks" not in code.co_varnames:
            return "callbacks"  # JAX itself keeps none such on disk
    return ""
