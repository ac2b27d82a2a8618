"""Collects the environment of a run: what stays the same while it measures.

Everything is best effort: what cannot be found out is ``None`` with the reason, and
nothing here raises because a machine is unusual. Slow answers (NumPy's thread pools,
the compiler, the driver, git) are asked for in processes of their own that run side by
side, so that this one never loads NumPy and the whole takes a fraction of a second.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

from coldwarm.contracts import codec
from coldwarm.contracts.environment import Environment, Python
from coldwarm.contracts.reasons import Reason, because, missing
from coldwarm.runner.machine import hardware as machine
from coldwarm.runner.machine import software as tools
from coldwarm.runner.user_input import allowed


def collect() -> Environment:
    """Return the environment of this process, its interpreter and its machine."""
    inquiries = tools.start()
    try:
        return codec.without_secrets(_gather(inquiries, Path("/")))
    finally:
        inquiries.wait()


def _gather(inquiries: tools.Inquiries, root: Path) -> Environment:
    reasons: dict[str, Reason] = {}
    variables = allowed(os.environ)
    return Environment(
        collected_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        cpu=machine.cpu(root),
        limits=machine.limits(root),
        system=machine.system(root),
        python=interpreter(),
        distributions=distributions(),
        variables=variables.values,
        withheld_variables=variables.withheld,
        harness=tools.harness(inquiries),
        compiler=tools.compiler(inquiries, reasons),
        thread_pools=tools.thread_pools(inquiries, reasons),
        gpus=tools.gpus(inquiries, reasons),
        ptxas=tools.ptxas(inquiries, reasons),
        null_reasons=reasons,
    )


def distributions() -> dict[str, str]:
    """Return every distribution installed for this interpreter, with its version.

    Names are in lower case with ``-``, sorted. Where a distribution is found twice on the
    path, the first one counts, as it does for an import.
    """
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name, version = _name_and_version(distribution)
        if name:
            found.setdefault(name.lower().replace("_", "-"), version or "unknown")
    return dict(sorted(found.items()))


def interpreter() -> Python:
    """Return what is known of the running interpreter; no path of its own."""
    options = {"optimized": "--enable-optimizations", "link_time_optimized": "--with-lto"}
    arguments = sysconfig.get_config_var("CONFIG_ARGS")
    built = {
        name: text in arguments if isinstance(arguments, str) else None
        for name, text in options.items()
    }
    return Python(
        version=platform.python_version(),
        implementation=platform.python_implementation(),
        build=" ".join(platform.python_build()),
        compiler=platform.python_compiler(),
        executable_kind=_executable_kind(),
        **built,
        debug=hasattr(sys, "gettotalrefcount"),
        free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        null_reasons=missing(built, because("not_told", by="the interpreter")),
    )


def _name_and_version(distribution: metadata.Distribution) -> tuple[str | None, str | None]:
    """Read the two headers alone: a whole description takes twenty times as long."""
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    headers = text.partition("\n\n")[0].splitlines()
    values: dict[str, str] = {}
    for line in headers:
        key, separator, value = line.partition(":")
        if separator and key in {"Name", "Version"}:
            values.setdefault(key, value.strip())
    return values.get("Name"), values.get("Version")


def _executable_kind() -> str:
    if (Path(sys.prefix) / "conda-meta").is_dir():
        return "conda"
    if sys.prefix != sys.base_prefix:
        return "virtual environment"
    return "system" if sys.prefix in {"/usr", "/usr/local"} else "standalone"
