"""No candidate cheats: built once, it is given inputs it has never seen, again and again.

Each of its answers has to be that of the float64 reference for the inputs of that very call. A
candidate that kept the inputs it was compiled with, remembered an answer, or did less than it
says would be found out here: the gate of a run sees one set of inputs only.
"""

from __future__ import annotations

from itertools import combinations
from shutil import which
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from coldwarm.contracts.base import DTYPE_NAMES
from coldwarm.runner import case_list
from coldwarm.worker import account
from coldwarm.worker.candidate import load_backend, load_builder, load_module, make_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from coldwarm.backends.base import Backend
    from coldwarm.runner.case_list import Case

Arrays = list[np.ndarray[Any, Any]]

FIRST, SECOND, THIRD = 1009, 2003, 3001
"""Seeds that no run has by itself; with the first one a candidate is compiled."""
QUICK = {"numpy", "torch_eager", "jax_jit", "numba"}
LONG = {"matmul_chain"}
"""Workloads whose calls are long even at the smallest size."""


def _cases() -> Iterator[Any]:
    """Give every case of the smallest size on the CPU; the quick ones are no slow tests."""
    for case in case_list.every_case():
        own = case.workload.source.module.startswith("coldwarm.workloads.")
        ours = case.backend.source.module.startswith("coldwarm.backends.")
        if own and ours and case.device == "cpu" and case.size == min(case.workload.sizes):
            quick = case.backend.name in QUICK and not case.workload.scenario
            quick = quick and case.workload.name not in LONG
            single = case.dtype == case.workload.dtypes[0] or not case.backend.compiles
            yield pytest.param(case, id=case.id, marks=() if quick and single else pytest.mark.slow)


class Candidate:
    """A candidate in this process, prepared by its own backend as in a measured one."""

    def __init__(self, case: Case, folder: Path) -> None:
        """Build it, and compile it with the inputs of the first seed where that is its way."""
        self.case = case
        self.backend: Backend = _backend(case)
        self.workload = load_module(case.workload.source.named())
        self.backend.import_runtime()
        self.backend.device_init()
        first = self.backend.place(_inputs(case, FIRST))
        function = load_builder(self.workload, self.backend)(self.backend.wrap)
        if case.backend.prepares:
            self.backend.make(function, first, str(folder))
            function = self.backend.load(str(folder)) or function
        self._function = function

    def call(self, arguments: Sequence[Any]) -> Arrays:
        """Return copies of what a call gives; of a scenario what each of its steps gives."""
        given = self._function(*arguments)
        found: Arrays = []
        for out in given if self.case.workload.scenario else [given]:
            self.backend.sync(out)
            dtypes = {str(leaf.dtype).removeprefix("torch.") for leaf in _leaves(out)}
            assert dtypes == {DTYPE_NAMES[self.case.dtype]}
            found += self.backend.kept(self.backend.keep(out))
        return found

    def answer(self, arrays: Arrays) -> Arrays:
        """Return the answer for some inputs, which stay as they are."""
        before = [array.copy() for array in arrays]
        got = self.call(self.backend.place(arrays))
        for array, other in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, other, "the candidate changed its input")
        return got


def _backend(case: Case) -> Backend:
    job = {"backend": case.backend.named(), "device": "cpu", "threads": None, "dtype": case.dtype}
    return load_backend(job)


def _leaves(out: Any) -> list[Any]:
    if isinstance(out, tuple | list):
        return [leaf for item in out for leaf in _leaves(item)]
    return [out]


def _inputs(case: Case, seed: int) -> Arrays:
    job = {"seed": seed, "size": case.size, "dtype": case.dtype, "numpy_dtype": case.numpy_dtype}
    return make_inputs(load_module(case.workload.source.named()), job)


_references: dict[tuple[str, int], Arrays] = {}


def _reference(case: Case, seed: int) -> Arrays:
    """Return the float64 answer, made once for all backends."""
    key = (case.group, seed)
    if key not in _references:
        wide = [account._widened(array) for array in _inputs(case, seed)]
        _references[key] = load_module(case.workload.source.named()).reference(*wide)
    return _references[key]


def _assert_right(got: Arrays, case: Case, seed: int) -> None:
    tolerance = case.workload.tolerances[case.dtype]
    for one, other in zip(got, _reference(case, seed), strict=True):
        assert one.shape == other.shape
        assert np.abs(one - other).max() <= tolerance * np.abs(other).max()


@pytest.fixture
def candidate(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Candidate]:
    """Build a candidate, and undo what its framework keeps for the whole process."""
    case: Case = request.param
    for module in case.backend.modules:
        pytest.importorskip(module, reason=f"{module} is not installed")
    missing = [name for name in case.backend.programs("cpu") if which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    framework = case.backend.framework
    if framework == "numba":
        pytest.importorskip("scipy", reason="numba's np.dot needs scipy, which is not installed")
        monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    if framework != "jax":
        yield Candidate(case, tmp_path)
    else:
        import jax

        before = jax.config.jax_enable_x64
        jax.config.update("jax_enable_x64", val=False)
        yield Candidate(case, tmp_path)
        jax.config.update("jax_enable_x64", before)
        jax.clear_caches()
    if framework == "torch":
        import torch

        torch.compiler.reset()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("candidate", list(_cases()), indirect=True)
def test_every_answer_is_that_for_the_inputs_of_the_call(candidate: Candidate) -> None:
    case, answers = candidate.case, []
    for seed in (FIRST, SECOND, THIRD):
        got = candidate.answer(_inputs(case, seed))
        _assert_right(got, case, seed)
        answers.append(got)
    for one, other in combinations(answers, 2):
        for index, (array, another) in enumerate(zip(one, other, strict=True)):
            same = np.array_equal(array, another)
            assert not same, f"output {index} does not depend on the inputs"
    if not case.workload.scenario:
        _assert_each_input_matters(candidate, answers[0])
        _assert_nothing_is_remembered(candidate)


def _assert_each_input_matters(candidate: Candidate, before: Arrays) -> None:
    """Exchange one input at a time, with the others as they were."""
    first, second = (_inputs(candidate.case, seed) for seed in (FIRST, SECOND))
    for index, array in enumerate(second):
        got = candidate.answer([*first[:index], array, *first[index + 1 :]])
        changed = any(not np.array_equal(*pair) for pair in zip(got, before, strict=True))
        assert changed, f"no output depends on input {index}"


def _assert_nothing_is_remembered(candidate: Candidate) -> None:
    """Write other numbers where the inputs of the last call were, and call again."""
    if candidate.backend.framework == "jax":
        return  # its arrays cannot be written to
    case = candidate.case
    placed = candidate.backend.place(_inputs(case, FIRST))
    _assert_right(candidate.call(placed), case, FIRST)
    for array, other in zip(placed, candidate.backend.place(_inputs(case, SECOND)), strict=True):
        array[...] = other
    _assert_right(candidate.call(placed), case, SECOND)
