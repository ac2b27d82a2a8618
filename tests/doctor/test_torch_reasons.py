"""PyTorch's own reasons: read from its fields, shown short, and the change that fits each."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor.journals import call, process, stage
from tests.doctor.reports import worded

from coldwarm.doctor.judge import findings
from coldwarm.doctor.record import sites, torch_compiles
from coldwarm.doctor.rules import change_of
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.doctor import Finding

FORWARD: dict[str, Any] = {"name": "forward", "path": "/a.py", "line": 1}


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("0/0: len(cfg['hist']) == 1      # return w * 2  # a.py:7 in f\nUser stack:", "len(cfg"),
        ("[1/2]: GLOBAL_STATE changed: grad_mode ", "GLOBAL_STATE changed: grad_mode"),
        ("2/0: G['SCALE'] == 1.5  # x", "SCALE == 1.5"),
        ("0/1: " + "x" * 400, "x" * 119 + "…"),
    ],
)
def test_a_guard_is_shown_without_where_it_comes_from(told: str, shown: str) -> None:
    found = torch_compiles.guard(told)
    assert found is not None
    assert found.startswith(shown)
    assert "#" not in found
    assert "/" not in found


def test_no_reason_is_no_guard() -> None:
    assert torch_compiles.guard(None) is None
    assert torch_compiles.guard("0/0: ") is None


class _UnsupportedError(Exception):
    gb_type = "Dynamic shape operator"


def _broken(exc: Exception, message: str) -> tuple[str, str]:
    """Ask from inside of a frame that holds ``exc``, as PyTorch's does."""
    assert exc.args
    return torch_compiles.broken(sys._getframe(), message)


def test_of_a_graph_break_the_explanation_alone_is_shown() -> None:
    whole = (
        "Dynamic shape operator\n  Explanation: Its shape depends on\n    the data.\n"
        "  Hint: Set something\n\n  Developer debug context: aten.nonzero\n"
    )
    said = "Graph break in user code at /a.py:3\nGraph Break Reason: …"
    kind, text = _broken(_UnsupportedError(whole), said)
    assert (kind, text) == ("Dynamic shape operator", "Its shape depends on the data.")
    assert _broken(_UnsupportedError("no such field"), said)[1] == "Dynamic shape operator"
    assert _broken(ValueError("of an older version"), said) == ("", said.replace("\n", " "))


def _compile(code: Any, config: Any, *, one_graph: bool = False, exceeded: bool = True) -> Any:
    limit_type = "recompile_limit"
    assert (one_graph, exceeded, limit_type, config) is not None
    return torch_compiles.gave_up(sys._getframe())


def test_a_limit_is_told_where_pytorch_goes_on_without_compiling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = ModuleType("torch._dynamo.config")
    vars(config).update(recompile_limit=8, fail_on_recompile_limit_hit=False)
    monkeypatch.setitem(sys.modules, "torch._dynamo.config", config)
    theirs = SimpleNamespace()
    monkeypatch.setattr(sites, "is_users", lambda _code: False)
    in_torch = _compile.__code__.replace(co_filename="torch/_dynamo/convert_frame.py")
    monkeypatch.setattr(_compile, "__code__", in_torch)
    assert _compile(theirs, config) == (theirs, "recompile_limit", 8)
    assert _compile(theirs, config, exceeded=False) is None
    assert _compile(theirs, config, one_graph=True) is None
    vars(config)["fail_on_recompile_limit_hit"] = True
    assert _compile(theirs, config) is None


def _found(*rows: dict[str, Any]) -> list[Finding]:
    return findings(ProcessTrace.of([process(), *rows], [], SourceFiles({})))


def _again(n: int, differences: list[dict[str, str]], **more: Any) -> list[dict[str, Any]]:
    """Return a first call and ``n`` that compile again."""
    shared: dict[str, Any] = {"framework": "torch", "function": FORWARD}
    rows = [call(1, **shared), stage(1, 0.0, {"trace": 0.1})]
    for at in range(2, n + 2):
        cause = {"kind": "again", "differences": differences}
        rows.append(call(at, **shared, cause=cause, **more))
        rows.append(stage(at, at, {"trace": 0.1}))
    return rows


def _static(argument: str, before: str, now: str) -> list[dict[str, str]]:
    return [{"kind": "static", "argument": argument, "before": before, "now": now}]


LIMIT = {
    "kind": "limit",
    "at_s": 1000.0,
    "function": FORWARD,
    "setting": "recompile_limit",
    "limit": 8,
}


def test_a_guard_is_quoted_where_nothing_else_differs() -> None:
    (one,) = _found(*_again(3, [], guard="len(parts) == 4"))
    assert (one.says.code, one.cause and one.cause.kind) == ("doctor_guard", "guard")
    assert "such as len(parts) == 4" in worded(one).text
    (one,) = _found(*_again(3, []))
    assert one.says.code == "doctor_unknown"
    (one,) = _found(*_again(3, _static("k", "1", "2"), guard="k == 1"))
    assert one.says.code == "doctor_number"


def test_of_what_differs_the_guard_names_the_reason() -> None:
    both = [*_static("rate", "0.1", "0.2"), *_static("every", "1", "2")]
    (one,) = _found(*_again(3, both, guard="every == 1"))
    assert one.cause is not None
    assert (one.cause.argument, one.cause.before) == ("every", "1")
    (one,) = _found(*_again(3, both, guard="everyone == 1"))
    assert one.cause is not None
    assert one.cause.argument == "rate"


def test_that_it_gave_up_is_said_however_few_have_one_cause() -> None:
    few = _again(1, _static("self.calls", "1", "2"))
    assert _found(*few) == []
    (one,) = _found(*few, LIMIT)
    assert worded(one).text.endswith(
        "then torch.compile gave up: calls that fit none of these programs run uncompiled (limit"
        " 8, torch._dynamo.config.recompile_limit)"
    )
    others = {**LIMIT, "function": {**FORWARD, "line": 7}}
    (one,) = _found(*_again(3, _static("self.calls", "1", "2")), others)
    assert one.after is None


@pytest.mark.parametrize(
    ("argument", "values", "code", "change"),
    [
        ("self.calls", ("4", "5"), "doctor_number", "a buffer"),
        ("len(self.seen)", ("4", "5"), "doctor_number", "a buffer"),
        ("rate", ("0.1", "0.2"), "doctor_number", "pass it as a tensor"),
        ("mode", ("'a'", "'b'"), "doctor_no_tensor", "outside of what is compiled"),
    ],
)
def test_the_change_fits_what_took_many_values(
    argument: str, values: tuple[str, str], code: str, change: str
) -> None:
    (one,) = _found(*_again(3, _static(argument, *values)))
    assert (one.pattern, one.says.code) == ("torch-changing-scalar", code)
    assert change in change_of(one)
    assert "mark_dynamic" not in change_of(one)


def _break(why: str) -> dict[str, Any]:
    where = [["/a.py", 3, "forward"]]
    return {"kind": "break", "at_s": 1000.0, "stack": where, "why": why, "text": "so"}


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("Dynamic shape operator", "capture_dynamic_output_shape_ops"),
        (
            "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "capture_scalar_outputs",
        ),
        ("Data-dependent branching", "torch.cond"),
        ("Failed to trace builtin operator", "move this out of the compiled function"),
        ("one that is not known here", "what torch.compile can trace"),
        ("", "what torch.compile can trace"),
    ],
)
def test_the_change_fits_why_a_graph_ends(why: str, change: str) -> None:
    (one,) = _found(_break(why))
    assert change in change_of(one)
    assert worded(one).text == "torch.compile ends a graph here: so"


def test_a_break_that_is_meant_is_not_named() -> None:
    assert _found(_break("Call to `torch._dynamo.graph_break()`")) == []
    assert _found(_break("Skip calling `torch.compiler.disable()`d function")) == []


GIVEN_UP = """
import torch

@torch.compile(backend="eager")
def scaled(x, seen):
    return x * len(seen)

for n in range(1, 11):
    scaled(torch.ones(2), [1] * n)
torch.compiler.reset()
scaled(torch.ones(2), [1])
"""


@pytest.mark.slow
def test_pytorch_itself_tells_of_guards_limits_and_what_comes_after_a_reset(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program, report = tmp_path / "program.py", tmp_path / "report.json"
    program.write_text(GIVEN_UP)
    command = ["-m", "coldwarm", "doctor", "--format", "json", "--out", str(report), str(program)]
    ended = subprocess.run([sys.executable, *command], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    told = json.loads(report.read_text())
    assert [one["n_compiles"] for one in told["sites"]] == [8, 1]
    (one,) = told["findings"]
    assert one["cause"]["argument"].startswith("len(seen) == ")
    assert one["after"]["values"] == {"n_programs": 8, "setting": "recompile_limit"}
    assert "doctor_failed" not in {one["code"] for one in told["unseen"]}
