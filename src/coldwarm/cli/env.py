"""``coldwarm env``: the environment as it is written beside every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._commands import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coldwarm.contracts.environment import Cpu, Environment, Limits
    from coldwarm.contracts.reasons import Reason

_WIDTH = 80
_GIB = 2**30
_HEADING = (
    "What could identify a person or a firm in artifacts; in [], what --leave-out-private makes of "
    "it. Never written: user and host names, home folders, git remotes, GPU UUIDs."
)
_SHOWN = ("coldwarm", "numpy", "jax", "jaxlib", "torch", "triton", "numba", "scipy")


@click.command("env", cls=Command, example="coldwarm env")
@click.option(
    "--private",
    is_flag=True,
    help="List what is stored that could identify a person or a firm.",
)
@_options.output("json")
def _command(*, private: bool, form: str) -> None:
    """Show the machine and the libraries that results name.

    Secrets are never stored: only allow-listed variables are recorded, and what looks like a token,
    a password or a home folder is masked in every text.
    """
    from coldwarm.runner.environment import collect

    environment = collect()
    if private:
        _list(environment, form)
    elif form == "json":
        _options.print_record(environment)
    else:
        _show(_rows(environment))


def _list(environment: Environment, form: str) -> None:
    from coldwarm.contracts.codec import without_secrets
    from coldwarm.report.privacy import listed

    found = without_secrets(listed(environment))
    if form == "json":
        _options.print_record(found)
        return
    _show(((one.field, f"{one.holds} [{one.left_out}]") for one in found.items), _HEADING)


def _show(rows: Iterable[tuple[str, str]], heading: str = "") -> None:
    from rich import box
    from rich.table import Table

    from coldwarm.report.shown import PlainConsole, line

    table = Table(
        box=box.SIMPLE, show_header=False, pad_edge=False, title=heading, title_justify="left"
    )
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, line(value))
    console = PlainConsole()
    console.print(table, width=min(console.width, _WIDTH))


def _rows(environment: Environment) -> Iterator[tuple[str, str]]:
    cpu, system, python = environment.cpu, environment.system, environment.python
    yield "processor", cpu.model or _why(cpu.null_reasons, "model")
    yield "cores", _cores(cpu)
    yield "caches", _caches(cpu)
    yield "frequency", _frequency(cpu)
    yield "limits", _limits(environment.limits)
    ram = system.ram_bytes
    yield "memory", f"{ram / _GIB:.1f} GiB" if ram else _why(system.null_reasons, "ram_bytes")
    libc = system.libc or f"C library unknown: {_why(system.null_reasons, 'libc')}"
    yield "system", f"{system.os}, kernel {system.kernel}, {libc}"
    yield "runs in", _runs_in(environment)
    clock = system.clock_source or _why(system.null_reasons, "clock_source")
    yield "clock", f"{clock}, resolution {system.clock_resolution_s * 1e9:g} ns"
    yield "python", f"{python.implementation} {python.version} ({python.build}, {python.compiler})"
    yield "", f"{python.executable_kind}, {_build(environment)}"
    yield "thread pools", _pools(environment)
    yield "libraries", _libraries(environment)
    unknown, compiler = environment.null_reasons, environment.compiler
    yield "compiler", compiler.version or "" if compiler else _words(unknown, "compiler")
    yield from _gpus(environment)
    yield "coldwarm", _harness(environment)
    for place, (name, value) in enumerate(environment.variables.items()):
        yield "" if place else "variables", f"{name}={value}"
    for name in environment.withheld_variables:
        yield "", f"{name} (its value is not told: it could be private)"
    if not environment.variables and not environment.withheld_variables:
        yield "variables", "none of those that matter is set"


def _why(reasons: dict[str, Reason], name: str) -> str:
    return f"unknown: {_words(reasons, name)}"


def _words(reasons: dict[str, Reason], name: str) -> str:
    from coldwarm.contracts.reasons import because
    from coldwarm.report.sentences import words

    return words(reasons.get(name, because("unstated")))


def _cores(cpu: Cpu) -> str:
    physical, logical = cpu.physical_cores or "unknown", cpu.logical_cores or "unknown"
    usable = "" if cpu.usable_cores is None else f", {cpu.usable_cores} usable here"
    return f"{physical} physical, {logical} logical{usable} ({cpu.architecture})"


def _caches(cpu: Cpu) -> str:
    if cpu.caches is None:
        return _why(cpu.null_reasons, "caches")
    return ", ".join(f"L{c.level} {c.kind} {c.size_bytes // 1024} KiB" for c in cpu.caches)


def _frequency(cpu: Cpu) -> str:
    policy = cpu.frequency
    parts = []
    if policy.governor is not None:
        parts.append(f"governor {policy.governor}")
    if policy.min_hz is not None and policy.max_hz is not None:
        parts.append(f"{policy.min_hz / 1e9:.2f} to {policy.max_hz / 1e9:.2f} GHz")
    if policy.boost is not None:
        parts.append("boost on" if policy.boost else "boost off")
    return ", ".join(parts) or _why(policy.null_reasons, "governor")


def _limits(limits: Limits) -> str:
    reasons, quota, size = limits.null_reasons, limits.cpu_quota, limits.memory_bytes
    if limits.cgroup_version is None:
        return _words(reasons, "cgroup_version")
    cpus = _words(reasons, "cpu_quota") if quota is None else f"{quota:g}"
    memory = _words(reasons, "memory_bytes") if size is None else f"{size / _GIB:.1f} GiB"
    return f"processors {cpus}, memory {memory} (control groups v{limits.cgroup_version})"


def _runs_in(environment: Environment) -> str:
    system = environment.system
    virtual = system.virtualization or _why(system.null_reasons, "virtualization")
    steal = "" if system.steal_share is None else f", steal {system.steal_share:.2%} since boot"
    return f"virtualization: {virtual}; container: {system.container or 'unknown'}{steal}"


def _build(environment: Environment) -> str:
    python = environment.python
    known = {True: "optimised build", False: "build without optimisation", None: "build unknown"}
    extra = [" debug"] * python.debug + [" free-threaded"] * python.free_threaded
    return known[python.optimized] + "".join(extra)


def _pools(environment: Environment) -> str:
    pools = environment.thread_pools
    if pools is None:
        return _words(environment.null_reasons, "thread_pools")
    shown = (
        f"{p.internal_api} {p.version or ''} ({p.user_api}), {p.threads} threads" for p in pools
    )
    return "; ".join(shown) or "none"


def _libraries(environment: Environment) -> str:
    installed = environment.distributions
    named = ", ".join(f"{name} {installed[name]}" for name in _SHOWN if name in installed)
    return f"{named} ({len(installed)} distributions in all; --json lists them)"


def _gpus(environment: Environment) -> Iterator[tuple[str, str]]:
    for gpu in environment.gpus or ():
        memory = "" if gpu.memory_bytes is None else f", {gpu.memory_bytes / _GIB:.0f} GiB"
        yield "gpu", f"{gpu.model}{memory}, driver {gpu.driver}, CUDA {gpu.cuda or 'unknown'}"
    if not environment.gpus:
        yield "gpu", "none" if environment.gpus == [] else _words(environment.null_reasons, "gpus")
    for tool in environment.ptxas or ():
        yield "ptxas", f"{tool.version or 'version unknown'} ({tool.kind})"


def _harness(environment: Environment) -> str:
    harness = environment.harness
    if harness.git_commit is None:
        return f"{harness.version} ({_words(harness.null_reasons, 'git_commit')})"
    state = {True: ", changed since", False: "", None: ", changes unknown"}[harness.git_dirty]
    return f"{harness.version}, commit {harness.git_commit[:12]}{state}"
