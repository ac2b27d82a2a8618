"""The script that fills JAX's cache on disk with the programs of a user's program.

Of all processes each program is there once, in an archive beside the script.
"""

from __future__ import annotations

import shlex
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.doctor.findings_document import place
from coldwarm.doctor.record.saved_programs import FOLDER, MODULE, OPTIONS
from coldwarm.doctor.trace import Cut, Framework, JaxSettings, SavedProgram
from coldwarm.errors import UsageError, visible
from coldwarm.report import units
from coldwarm.report.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine


class _Program(NamedTuple):
    """A program as JAX gives it to its compiler, and the call that needs it."""

    row: SavedProgram
    call: CompiledCall | None

    @property
    def name(self) -> str:
        """Its name, without what JAX has put around it."""
        return self.row.name.removeprefix("jit(").removesuffix(")")

    @property
    def site(self) -> SourceLine | None:
        """The user's line that needs it."""
        return self.call.site if self.call is not None else None


@dataclass(frozen=True)
class _Programs:
    """All that a program of the user's compiled with JAX, and what else it compiled."""

    kept: list[_Program]
    left_out: list[_Program]
    others: Mapping[str, int]
    """By framework: how often others than JAX compiled."""
    versions: Mapping[str, str]
    settings: Mapping[str, Any]
    variables: Mapping[str, str | None]
    again_s: float
    """Tracing and lowering, which no cache on disk saves."""
    compile_s: float
    """Compiling, which one does."""
    cut: bool
    """Whether a journal was full, so that what was compiled later is not known."""


def programs(processes: Sequence[ProcessTrace]) -> _Programs:
    """Put together what the processes of a program have kept."""
    kept: dict[str, _Program] = {}
    left_out: dict[tuple[str, SourceLine | None, str], _Program] = {}
    for trace in processes:
        by_number = {call.number: call for call in trace.calls}
        for row in trace.rows_of(SavedProgram):
            one = _Program(row, by_number.get(row.call or 0))
            if row.file is None:
                left_out.setdefault((one.name, one.site, row.why), one)
            else:
                kept.setdefault(row.file, one)
    calls = [call for trace in processes for call in trace.calls]
    own = [call for call in calls if call.framework == "jax"]
    at_first = (row for trace in processes for row in trace.rows_of(JaxSettings))
    settings = next(at_first, JaxSettings(at_s=0.0))
    loaded = (row for trace in processes for row in trace.rows_of(Framework))
    return _Programs(
        kept=list(kept.values()),
        left_out=list(left_out.values()),
        others=Counter(call.framework for call in calls if call.framework != "jax"),
        versions=next((row.versions for row in loaded if row.name == "jax"), {}),
        settings=settings.settings,
        variables=settings.variables,
        again_s=sum(one.own_s["trace"] + one.own_s["lower"] for one in own),
        compile_s=sum(one.own_s["compile"] for one in own),
        cut=any(trace.rows_of(Cut) for trace in processes),
    )


_ENDING = ".programs.zip"
"""Ending of the archive, in the place of the script's own."""
_WHEN = (1980, 1, 1, 0, 0, 0)
"""Date of each file in the archive: the same programs make the same bytes."""


def archive_of(script: Path) -> Path:
    """Return where the programs of a script lie."""
    return script.with_name(script.stem + _ENDING)


def refuse(script: Path) -> None:
    """Refuse to write over a file that is no such script, before a program is run in vain.

    Raises:
        UsageError: there is one.
    """
    has_text = script.is_file() and script.stat().st_size > 0
    if has_text and not archive_of(script).is_file():
        raise UsageError(
            f"--warmup: {script} is there, and --warmup has not written it; name another file"
        )


def write(found: _Programs, text: str, script: Path, journal: Path) -> None:
    """Write a script and the archive of its programs, which lie beside the journal.

    Raises:
        UsageError: they cannot be written there.
    """
    try:
        with zipfile.ZipFile(archive_of(script), "w", zipfile.ZIP_DEFLATED) as archive:
            for one in found.kept:
                for end in (MODULE, OPTIONS):
                    raw = (journal / FOLDER / f"{one.row.file}{end}").read_bytes()
                    entry = zipfile.ZipInfo(f"{one.row.file}{end}", _WHEN)
                    archive.writestr(entry, raw, zipfile.ZIP_DEFLATED)
        script.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = f"{error.strerror}: {error.filename}"
        raise UsageError(f"--warmup: {script} cannot be written: {reason}") from error


_MOST_ARGUMENTS = 4
_WIDTH = 96
_DIRECTORY = "jax_compilation_cache_dir"
_DEFAULTS: dict[str, object] = {
    "jax_persistent_cache_enable_xla_caches": "xla_gpu_per_fusion_autotune_cache_dir",
    "jax_compilation_cache_include_metadata_in_key": False,
    "jax_remove_custom_partitioning_ptr_from_cache_key": False,
}
_WHY = {
    "callbacks": "it calls back into Python, and JAX {jax} keeps no such program on disk",
    "processes": "it runs on devices of several processes",
    "size": "it is too large to be written down with the others",
}
_PATH_COUNTS = ("0.4.", "0.5.", "0.6.", "0.7.", "0.8.", "0.9.", "0.10.")
"""Versions of JAX in which a program's name in the cache depends on how the folder is spelt."""

_SCRIPT = Template('''\
"""Fills JAX's cache on disk with what `$program` compiled: $n_programs.

Written by coldwarm on $date, for JAX $jax on $platforms. Run it by the Python of the program, on
the machine of the program, and then the program:

    ${setting}$script
    $setting$command

The program then reads what it compiled before ($compiled). It traces and lowers as ever
($again in the run that was seen): no cache on disk holds that.
$spelt
Write it anew when the program changes, or what it calls, or JAX, or a variable below. The programs
lie in $archive, beside this file.

$left_out
"""

import os
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

WRITTEN_FOR = $versions
VARIABLES = $variables
SETTINGS = $settings
ARCHIVE = Path(__file__).with_name($archive_name)
PROGRAMS = [
    # name in the archive, platform, devices, form of the devices, calls back into Python
$programs
]
EVENTS = ("compile_requests_use_cache", "cache_hits")
OF_THE_CACHE = (
    "xla_gpu_kernel_cache_file",
    "xla_gpu_per_fusion_autotune_cache_dir",
    "xla_gpu_enable_llvm_module_compilation_parallelism",
)


def main() -> None:
    """Compile each program that the cache does not hold."""
    for name, value in VARIABLES.items():
        if (os.environ.get(name) or value) != value:
            sys.exit(f"{name} was {value!r} where this was written: set it so, or write this anew")
        os.environ[name] = value
    try:
        import jax
        import jaxlib
    except ImportError as error:
        sys.exit(f"{error}, for {sys.executable}: run this by the Python of the program")
    found = {"jax": jax.__version__, "jaxlib": jaxlib.__version__}
    if found != WRITTEN_FOR:
        sys.exit(f"this is {found}, and the programs are of {WRITTEN_FOR}: write them anew")
    for name, value in SETTINGS.items():
        jax.config.update(name, value)
    if not jax.config.jax_enable_compilation_cache:
        sys.exit("JAX's cache is switched off: leave JAX_ENABLE_COMPILATION_CACHE out")
    folder = jax.config.jax_compilation_cache_dir
    if not folder:
        sys.exit("set JAX_COMPILATION_CACHE_DIR to the folder of the cache that is to be filled")
    check_archive()
    before = entries(folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    events = []
    jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
    with zipfile.ZipFile(ARCHIVE) as archive:
        for name, *where in PROGRAMS:
            compile_one(archive.read(f"{name}.module"), archive.read(f"{name}.options"), *where)
    asked, held = map(events.count, (f"/jax/compilation_cache/{e}" for e in EVENTS))
    if asked < len(PROGRAMS):
        sys.exit(f"JAX used no cache for {len(PROGRAMS) - asked} programs of {len(PROGRAMS)}")
    missing = 0 if before is None else asked - held - len(entries(folder) - before)
    if missing > 0:
        sys.exit(f"{missing} of {asked - held} compiled programs did not stay in {folder}")
    print(f"{asked - held} programs were compiled, {held} were there")


def check_archive():
    """End here where the programs are not all there."""
    names = {f"{name}.{part}" for name, *_ in PROGRAMS for part in ("module", "options")}
    try:
        with zipfile.ZipFile(ARCHIVE) as archive:
            if archive.testzip() is None and names <= set(archive.namelist()):
                return
        error = "it is not as it was written"
    except (OSError, zipfile.BadZipFile, zlib.error) as caught:
        error = caught
    sys.exit(f"{ARCHIVE}, which holds the programs, cannot be used: {error}")


def entries(folder):
    """Return the names in the cache, which must be a folder to write to; None: it is far away."""
    if "://" in folder:
        return None
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        names = os.listdir(folder)
    except OSError as error:
        sys.exit(f"JAX's cache {folder} is no folder that can be written to: {error.strerror}")
    return {name for name in names if not name.endswith(("-atime", ".lockfile"))}


def compile_one(module, options, platform, ids, form, n_callbacks):
    """Compile a program, or find it in the cache, by the way that JAX itself goes."""
    import jax
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir

    by_id = {device.id: device for device in jax.devices(platform)}
    if not by_id.keys() >= set(ids):
        sys.exit(f"there is no device {max(ids)} of {platform} here; there are {sorted(by_id)}")
    devices = np.empty(len(ids), dtype=object)
    devices[:] = [by_id[one] for one in ids]
    options = xla_client.CompileOptions.ParseFromString(options)
    here = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    now, then = (each.executable_build_options.debug_options for each in (here, options))
    for name in OF_THE_CACHE:  # JAX writes into the options what goes with the cache in use
        if getattr(now, name, None) != getattr(then, name, None):  # to set it is to name it
            setattr(then, name, getattr(now, name))
    with mlir.make_ir_context():
        parsed = ir.Module.parse(module)
    compiler.compile_or_get_cached(
        devices[0].client,
        parsed,
        devices.reshape(form),
        options,
        [lambda *_: None] * n_callbacks,  # each run brings its own: only their number counts
        xla_client.DeviceList(tuple(devices)),
        None,
    )


if __name__ == "__main__":
    main()
''')


def script(found: _Programs, command: Sequence[str], path: Path, date: str) -> str:
    """Return the script; ``command`` is what stands behind ``python``, ``path`` where it goes."""
    settings, archive = _settings(found), archive_of(path)
    fixed = _DIRECTORY in settings
    jax = found.versions.get("jax", "?")
    spelt = ""
    if jax.startswith(_PATH_COUNTS) and not fixed:
        spelt = f"\nJAX {jax} finds it only where DIR is spelt alike both times.\n"
    return _SCRIPT.substitute(
        program=_safe(command[1] if command[0] == "-m" else Path(command[0]).name),
        n_programs=counted(len(found.kept), "program"),
        date=date.partition("T")[0],
        jax=jax,
        platforms=", ".join(sorted({one.row.platform for one in found.kept})),
        setting="" if fixed else "JAX_COMPILATION_CACHE_DIR=DIR ",
        script=_safe(shlex.join(["python", path.name])),
        command=_safe(shlex.join(["python", *command])),
        compiled=units.duration(found.compile_s),
        again=units.duration(found.again_s),
        spelt=spelt,
        archive=_safe(archive.name),
        archive_name=repr(archive.name),
        versions=repr({name: found.versions.get(name) for name in ("jax", "jaxlib")}),
        variables=repr(_variables(found)),
        settings=repr(settings),
        programs="\n".join(_row(one) for one in found.kept),
        left_out="\n".join(_left_out(found)),
    )


def _settings(found: _Programs) -> dict[str, object]:
    """Return the settings that the program itself has made, and the cache needs."""
    made = {
        name: value
        for name, value in found.settings.items()
        if name in _DEFAULTS and value != _DEFAULTS[name]
    }
    directory = found.settings.get(_DIRECTORY)
    if directory and directory != found.variables.get("JAX_COMPILATION_CACHE_DIR"):
        made[_DIRECTORY] = directory
    return made


def _variables(found: _Programs) -> dict[str, str]:
    return {
        name: value or ""
        for name, value in found.variables.items()
        if name != "JAX_COMPILATION_CACHE_DIR"
    }


def _row(one: _Program) -> str:
    row = one.row
    values = (row.file, row.platform, row.devices, row.shape, row.n_callbacks)
    return f"    {values!r},  # {_safe(_told(one))}"


def _told(one: _Program) -> str:
    """Return where a program is needed, and for which arguments."""
    where = f"{place(one.site.path)}:{one.site.line} " if one.site else ""
    whole = one.call if one.call is not None and one.call.name == one.name else None
    given = [f"{name}: {kind}" for name, kind in whole.arguments.items()] if whole else []
    more = [f"… {len(given) - _MOST_ARGUMENTS} more"] if len(given) > _MOST_ARGUMENTS else []
    fixed = [f"{name}={value}" for name, value in whole.static.items()] if whole else []
    written = ", ".join([*given[:_MOST_ARGUMENTS], *more, *fixed])
    text = f"{where}{one.name}" + (f"({written})" if written else "")
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _left_out(found: _Programs) -> Iterator[str]:
    """Yield what the script does not compile, and why."""
    if not (found.left_out or found.others or found.cut):
        yield "Nothing that the program compiled is left out."
        return
    yield "Not included:"
    jax = found.versions.get("jax", "?")
    for one in found.left_out:
        why = _WHY.get(one.row.why, f"this version of JAX shows it otherwise ({one.row.why})")
        yield f"    {_safe(_told(one))}: {why.format(jax=jax)}"
    for framework, n in sorted(found.others.items()):
        yield f"    {counted(n, 'program')} of {framework}: its cache is not JAX's"
    if found.cut:
        yield "    what was compiled after the record of the run was full"


def _safe(text: str) -> str:
    """Return a text that ends neither a comment nor a docstring."""
    return visible(text).replace("\\", "/").replace('"', "'")
