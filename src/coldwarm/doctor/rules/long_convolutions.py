"""Convolutions with a long kernel that are computed number by number, and not by FFT.

How long they took and how large the arrays are is known from looks at the program, and what it
does from its source.
"""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.rules.sized_arrays import sized_lines
from coldwarm.doctor.source_code import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.rules.sized_arrays import SizedLine
    from coldwarm.doctor.trace import HeldArray, ProcessTrace


_REASONS = {
    "doctor_convolved": "{call} multiplies each of {n_numbers:# number} with a kernel of"
    " {n_kernel}; about {spent_s:time} were spent at this line",
    "doctor_correlated": "{call} multiplies each of {n_numbers:# number} with a kernel of"
    " {n_kernel}; about {spent_s:time} were spent at this line",
}
_ADVICE = {
    "doctor_convolved": "scipy.signal.fftconvolve with the same mode, or torch.fft: irfft(rfft(x,"
    " n) * rfft(kernel, n), n), n at least len(x) + len(kernel) - 1, with the conjugate of the"
    " second for conv1d; sums are rounded in another order",
    "doctor_correlated": 'scipy.signal.correlate(..., method="fft") with the same mode; sums are'
    " rounded in another order",
}
_CHANGES = {"direct-convolution": "convolve by FFT"}
_LONG, _TIMES = 512, 4
"""Least length of a kernel, and how many times as long the signal is."""
_FEW_CHANNELS = 8
_CALLS = {"torch": {"conv1d"}, "numpy": {"convolve", "correlate"}}
"""Functions that compute each product, by package."""
_FORMS = {"unsqueeze", "squeeze", "view", "reshape", "contiguous", "flip", "float", "double"}
_STRIDES = {"stride", "dilation", "groups"}
_UNSTRIDED = 3
"""Most arguments of ``conv1d`` by place: signal, kernel and bias, before the stride."""
_FLOATS = {"torch": ("float32", "float64"), "numpy": ("float", "complex")}
"""How the dtypes begin that an FFT computes as well; sums of integers are exact."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that took a share of the run."""
    for seen in sized_lines(trace):
        if not trace.is_worth(seen.seconds):
            continue
        for call in trace.sources.calls_at(seen.site.path, seen.site.line):
            sizes = _sizes(trace, seen, call)
            if sizes is None:
                continue
            n, k = sizes
            if k >= _LONG and n >= _TIMES * k:
                is_correlated = called(call) == "correlate"
                says = because(
                    "doctor_correlated" if is_correlated else "doctor_convolved",
                    call=ast.unparse(call.func),
                    n_numbers=n,
                    n_kernel=k,
                    spent_s=seen.seconds,
                )
                framework = trace.first_framework
                yield trace.finding_of_seconds(
                    "direct-convolution", seen.site, says, framework=framework
                )
                break


def _sizes(trace: ProcessTrace, seen: SizedLine, call: ast.Call) -> tuple[int, int] | None:
    """Return the lengths of the signal and of the kernel; ``None``: it is no such call."""
    package = next((name for name, calls in _CALLS.items() if called(call) in calls), None)
    owner = ast.unparse(call.func).partition(".")[0]
    if package is None or len(call.args) < len(("signal", "kernel")):
        return None
    if not _is_of(trace, seen.site.path, owner, package):
        return None
    if {one.arg for one in call.keywords} & _STRIDES or _may_stride(call, package):
        return None
    arrays = [seen.held.get(ast.unparse(_bare(one))) for one in call.args[:2]]
    known = [one for one in arrays if one is not None and _is_line(one, package)]
    if len(known) < len(arrays):
        return None
    n, k = (one.shape[-1] for one in known)
    return (n, k) if package == "torch" else (max(n, k), min(n, k))


def _may_stride(call: ast.Call, package: str) -> bool:
    """Say whether a call may be given a stride by place, or by what it unpacks."""
    is_unpacked = any(isinstance(one, ast.Starred) for one in call.args)
    is_named = all(one.arg is not None for one in call.keywords)
    return package == "torch" and (len(call.args) > _UNSTRIDED or is_unpacked or not is_named)


def _is_of(trace: ProcessTrace, path: str, owner: str, package: str) -> bool:
    """Say whether a name is that of a package, or of a part of it."""
    for node in trace.sources.nodes(path):
        if isinstance(node, ast.Import):
            known = {one.asname or one.name.partition(".")[0]: one.name for one in node.names}
            if known.get(owner, "").partition(".")[0] == package:
                return True
    return trace.sources.imported_from(path, owner).partition(".")[0] == package


def _is_line(array: HeldArray, package: str) -> bool:
    """Say whether an array is of this package, of floats, and has hardly more than one row."""
    is_flat = bool(array.shape) and prod(array.shape[:-1]) <= _FEW_CHANNELS
    return array.package == package and is_flat and array.dtype.startswith(_FLOATS[package])


def _bare(node: ast.expr) -> ast.expr:
    """Return what is only given more dimensions, or another type."""
    while True:
        match node:
            case ast.Subscript(value=value, slice=place) if _adds_dimensions(place):
                node = value
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _FORMS:
                node = value
            case _:
                return node


def _adds_dimensions(place: ast.expr) -> bool:
    """Say whether an index takes all of an array: ``[None, None]``, ``[::-1]``, ``[..., None]``."""
    parts = place.elts if isinstance(place, ast.Tuple) else [place]
    return all(
        (isinstance(one, ast.Constant) and one.value in {None, ...})
        or (isinstance(one, ast.Slice) and one.lower is None and one.upper is None)
        for one in parts
    )


RULE = Rule(findings=_findings, codes=Codes(_REASONS, _ADVICE), changes=_CHANGES)
