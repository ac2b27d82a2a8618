"""The magics of a notebook, in a kernel; and what of a notebook goes with a cell."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.integrations.notebook import CellCode, is_silent

if TYPE_CHECKING:
    from collections.abc import Mapping

CELLS = {
    "load": "%load_ext coldwarm",
    "setup": """
import threading, jax, jax.numpy as jnp
@jax.jit
def step(x):
    return x * 2
lock = threading.Lock()
x = jnp.ones(100)
""",
    "doctor": """%%doctor said
for n in range(5):
    y = step(jnp.ones(3 + n))
float(y.sum())""",
    "kept": "print(y.shape, said.report.command, said)",
    "raises": "%%doctor\nstep(1 / 0)",
    "name": "%%doctor 1x\n1",
    "syntax": "%%doctor\n1 +",
    "waits": "%%doctor\nimport asyncio\nawait asyncio.sleep(0)",
    "returns": "%%doctor\nreturn 3",
    "silent": "%%doctor\n7; 8;  # not shown",
    "ttfr": "%%ttfr 1\nx = x + 1\nfloat(step(x).sum())",
    "unchanged": "print(float(x.sum()))",
    "no value": "%%ttfr\nz = 1",
    "number": "%%ttfr many\n1",
    "awaits": "%%ttfr\n1\nawait step",
    "not carried": "%%ttfr 1\nwith lock:\n    z = 1\nz",
    "block": """import coldwarm
with coldwarm.doctor() as d:
    for n in range(5):
        y = step(jnp.ones(30 + n))
print(d)""",
}


@pytest.fixture(scope="module")
def outputs() -> Mapping[str, list[Any]]:
    pytest.importorskip("jax")
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=240, kernel_name="python3", allow_errors=True
    ).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, cells, strict=True)}


def test_a_cell_is_run_as_it_is_and_its_report_shown(outputs: Mapping[str, list[Any]]) -> None:
    shown, result = outputs["doctor"]
    assert shown["output_type"] == "display_data"
    text, html = shown["data"]["text/plain"], shown["data"]["text/html"]
    for part in ("shape-change", "Cell In[3]:3", "y = step(jnp.ones(3 + n))"):
        assert part in text
        assert part in html
    assert "<script" not in html
    assert (result["output_type"], result["data"]["text/plain"]) == ("execute_result", "14.0")
    (kept,) = outputs["kept"]
    assert kept["text"].strip() == f"(7,) ['Cell In[3]'] {text}".strip()


def test_a_block_names_cells_as_ipython_does(outputs: Mapping[str, list[Any]]) -> None:
    (printed,) = outputs["block"]
    assert f"Cell In[{len(CELLS)}]:4" in printed["text"]
    assert "ipykernel" not in printed["text"]


def test_a_semicolon_keeps_the_value_back(outputs: Mapping[str, list[Any]]) -> None:
    assert [one["output_type"] for one in outputs["silent"]] == ["display_data"]


@pytest.mark.parametrize(
    ("cell", "silent"),
    [
        ("x;", True),
        ("x; # y\n\n", True),
        ("x", False),
        ("x  # y;", False),
        ("';'", False),
        ("", False),
    ],
)
def test_a_cell_that_ends_with_a_semicolon_is_silent(cell: str, silent: bool) -> None:  # noqa: FBT001
    assert is_silent(cell) == silent


def test_an_error_ends_the_cell_and_the_report_is_there(outputs: Mapping[str, list[Any]]) -> None:
    shown, error = outputs["raises"]
    assert "Nothing to change was found" in shown["data"]["text/html"]
    assert (error["output_type"], error["ename"]) == ("error", "ZeroDivisionError")
    plain = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error["traceback"]))
    assert "Cell In[5], line 2" in plain
    assert "notebook.py" not in plain


def test_the_first_result_of_a_cell_is_timed_and_nothing_changes(
    outputs: Mapping[str, list[Any]],
) -> None:
    result = outputs["ttfr"][-1]
    assert result["output_type"] == "execute_result"
    text = result["data"]["text/plain"]
    assert re.search(r"^first result, empty caches +[\d.]+ m?s", text, re.MULTILINE)
    assert "warm call" not in text
    assert "Cell In[11]" in result["data"]["text/html"]
    (unchanged,) = outputs["unchanged"]
    assert unchanged["text"] == "100.0\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("name", "%%doctor 1x: give a name to keep the report under, or nothing"),
        ("syntax", "%%doctor: line 2 of the cell: invalid syntax"),
        ("waits", "%%doctor: a cell that awaits outside of a function cannot be run so; with"),
        ("returns", "%%doctor: line 2 of the cell: 'return' outside function"),
        ("no value", "%%ttfr: the cell's last line has no value; end it with the first result"),
        ("number", "%%ttfr many: give the number of processes, from 1, or nothing"),
        ("awaits", "%%ttfr: line 3 of the cell: 'await' outside"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    outputs: Mapping[str, list[Any]], name: str, said: str
) -> None:
    (shown,) = outputs[name]
    assert shown["output_type"] == "stream"
    assert shown["text"].startswith(f"UsageError: {said}")
    assert shown["text"].count("\n") == 1


def test_what_cannot_go_with_a_cell_is_named(outputs: Mapping[str, list[Any]]) -> None:
    text = outputs["not carried"][-1]["data"]["text/plain"]
    assert "lock (a _thread.lock) cannot be carried" in " ".join(text.split())


HELD = {"x": 1, "y": 2, "f": 3, "np": 4}


@pytest.mark.parametrize(
    ("cell", "taken"),
    [
        ("x + y", []),  # not assigned: globals of the function
        ("x = x + 1\nx", ["x"]),
        ("x += 1\nx", ["x"]),
        ("x = 1\nx", []),
        ("import x\nx.y", []),
        ("def f(): return f\nf()", []),
        ("if y:\n    x = 1\nx", ["x"]),
        ("g = lambda: x\nx = 1\ng()", []),
        ("z = z0 = 1\nz", []),
        ("y = [x for x in range(3)]\ny", []),
        ("class x: pass\nx()", []),
    ],
)
def test_a_cell_takes_what_it_may_read_before_it_assigns_it(cell: str, taken: list[str]) -> None:
    assert CellCode(ast.parse(cell), "<cell>").taken(HELD) == taken


def test_a_cell_as_a_function_gives_its_last_value_and_leaves_names_alone() -> None:
    scope = {"x": 2, "y": 5}
    cell = CellCode(ast.parse("x = x * 10\ndef f(): return x + y\nf()"), "<cell>")
    function = cell.function(scope, compile)
    assert function is not None
    assert function(x=3) == 35
    assert scope["x"] == 2
    assert CellCode(ast.parse("x = 1"), "<cell>").function(scope, compile) is None
    assert CellCode(ast.parse(""), "<cell>").function(scope, compile) is None
