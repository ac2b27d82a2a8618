"""Whatever is measured is the same kind of thing: a case of plain data."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from coldwarm import registry
from coldwarm.backends.base import Backend
from coldwarm.backends.numpy import NumpyBackend
from coldwarm.contracts.reasons import because
from coldwarm.errors import PluginError
from coldwarm.registry import Source
from coldwarm.runner import case_list, results, suite
from coldwarm.runner.case_list import Case, Options
from coldwarm.runner.functions import bench
from coldwarm.runner.functions.candidates import Inspected, Setting
from coldwarm.runner.functions.targets import Target
from coldwarm.runner.replies import Inspection


def inspected(file: Path, **changes: Any) -> Inspection:
    """Return what an inspection of a NumPy function has found."""
    fields: dict[str, Any] = {
        "kind": "function",
        "file": str(file),
        "placement": "numpy",
        "arguments": ["numpy float64[8]"],
        "outputs": ["float32[8]"],
        "precision": "float32",
        "input_sha256": "0" * 64,
        "mutates": False,
        "repeats": True,
        "further": 0,
        "device": "cpu",
        "counters": {},
        "strays": [],
        "own_cache": None,
    }
    return msgspec.convert({**fields, **changes}, Inspection)


def functions(folder: Path, *, check: bool = True, **changes: Any) -> list[Case]:
    """Return the cases of two functions, of which the second was inspected to differ so."""
    file = folder / "fit.py"
    file.touch()
    targets = [Target(label, "fit", file, label) for label in ("slow", "fast")]
    guard: Any = None
    setting = Setting("bench", (), None, check, None, None, 0, 1.0, guard, folder)
    found = [
        Inspected(targets[0], inspected(file, start_s=0.5)),
        Inspected(targets[1], inspected(file, start_s=1.5, **changes)),
    ]
    return bench._cases(found, "slow", setting)


def test_a_case_is_final_and_plain(tmp_path: Path) -> None:
    case = functions(tmp_path)[0]
    assert {type(one) for one in [case, *case_list.every_case()]} == {Case}
    assert getattr(Case, "__final__", False)
    assert hash(case) == hash(dataclasses.replace(case))


def test_functions_are_named_and_compared_as_they_are_called(tmp_path: Path) -> None:
    slow, fast = functions(tmp_path)
    assert [case.id for case in (slow, fast)] == ["slow", "fast"]
    assert {case.group for case in (slow, fast)} == {"bench"}
    assert (slow.is_baseline, fast.is_baseline) == (True, False)
    assert slow.workload.tolerances == {"own": 1e-4}
    assert list(case_list.groups([slow, fast])) == ["bench"]


def test_what_an_inspection_found_is_data_of_the_case(tmp_path: Path) -> None:
    counters = {"jax": {"requests": 2, "compiles": 2}, "numba": {"compiles": 1}}
    case = functions(tmp_path, mutates=True, repeats=False, further=2, counters=counters)[1]
    assert (case.batches, case.new_shapes, case.inspected_s) == (False, True, 1.5)
    assert (case.backend.caches, case.backend.compiles) == (("jax", "files"), True)
    assert case.answer is not None
    assert case.answer.path == str(tmp_path / "slow.npz")
    assert because("not_kept", owner="numba") in case.notes
    said = results._protocol(case, Options(suite="bench")).own
    assert said is not None
    assert (said.checked, said.last_checked) == ("against slow, to 0.0001", False)


def test_without_a_check_there_is_no_answer_to_check_against(tmp_path: Path) -> None:
    case = functions(tmp_path, check=False)[0]
    assert case.answer is not None
    assert case.answer.path is None
    said = results._protocol(case, Options(suite="bench")).own
    assert said is not None
    assert said.checked == "not checked: --no-check was given"


def test_the_runner_does_not_ask_what_kind_of_case_it_has() -> None:
    for module in (suite, results):
        nodes = list(ast.walk(ast.parse(inspect.getsource(module))))
        imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        assert not [name for name in imported if "runner.functions" in name]
        calls = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
        assert "isinstance" not in calls or module is suite  # an answer, or why there is none


def test_a_workload_that_leaves_a_declaration_out_is_told_which() -> None:
    module = ModuleType("mine")
    vars(module).update(NAME="mine", SIZES=(1,), DTYPES=("f32",), TOLERANCE={}, BASELINE="numpy")
    with pytest.raises(PluginError, match="workload mine has no LAYOUT"):
        registry.workload_spec(module, Source("mine", Path("mine.py")))


def test_a_backend_that_leaves_declarations_out_is_told_which() -> None:
    kind: Any = type("Mine", (Backend,), {"name": "mine", "framework": "numpy", "source": 0})

    with pytest.raises(PluginError, match="Mine declares no distributions, modules, sync_policy"):
        registry.backend_spec(kind, Source("mine", Path("mine.py")))


def test_a_backend_may_have_attributes_of_any_other_name() -> None:
    class Mine(NumpyBackend):
        """Mine."""

        source = title = class_name = "an attribute of its own"

    spec = registry.backend_spec(Mine, Source("mine", Path("mine.py")))
    assert (spec.title, spec.class_name, spec.source.module) == ("Mine.", "Mine", "mine")
