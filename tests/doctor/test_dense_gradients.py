"""An embedding whose gradient is nearly all zeros is named where steps take long."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S
from tests.doctor.test_looks import looked

from coldwarm.doctor.judge import findings
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from pathlib import Path

FILE = "/words.py"
TEXT = "table = nn.Embedding(n, 64)\nfor x in xs:\n    loss = f(x)\n    optimizer.step()\n"


@pytest.mark.parametrize(
    ("used", "n_looks", "line", "named"),
    [
        (20, 5, 4, True),
        (900, 5, 4, False),  # most rows are used
        (0, 5, 4, False),  # it was looked at when all was zero
        (4, 1, 4, False),
        (20, 5, 3, False),  # the steps take no time
    ],
)
def test_it_is_named_where_steps_take_long(
    used: int, n_looks: int, line: int, *, named: bool
) -> None:
    row = {"kind": "embedding", "at_s": BEGIN_S, "stack": [[FILE, 1, "<module>"]]}
    counts = {"n_rows": 100_000, "n_columns": 64, "n_looks": n_looks, "looked": 1000}
    rows = [
        journals.process(),
        {**row, **counts, "used": used},
        *journals.looks(0.0, ((FILE, line), "", 2.0)),
        journals.end(3.0),
    ]
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: TEXT})))
    assert [(one.pattern, one.line) for one in found] == [("embedding-dense-gradient", 1)] * named


PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)

class Words(nn.Module):
    def __init__(self, n, sparse):
        super().__init__()
        self.table = nn.Embedding(n, 64, sparse=sparse)

    def forward(self, x):
        return self.table(x).sum()

words = Words(100_000, SPARSE)
optimizer = (torch.optim.SparseAdam if SPARSE else torch.optim.Adam)(words.parameters())
for step in range(60):
    optimizer.zero_grad()
    loss = words(torch.randint(0, 100_000, (500,)))
    loss.backward()
    optimizer.step()
"""


BAGS = PROGRAM.replace("nn.Embedding", "nn.EmbeddingBag").replace("(x)", "(x.reshape(-1, 5))")


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("program", "made"), [(PROGRAM, "Embedding"), (BAGS, "EmbeddingBag")])
def test_pytorch_tells_which_rows_are_used(
    tmp_path: Path, program: str, made: str, *, sparse: bool
) -> None:
    pytest.importorskip("torch")
    found = looked(tmp_path, program.replace("SPARSE", str(sparse)))["findings"]
    named = [one["source"] for one in found if one["pattern"] == "embedding-dense-gradient"]
    assert named == ([] if sparse else [f"self.table = nn.{made}(n, 64, sparse=sparse)"])


COMPILED = """
import torch
from torch import nn
from torch._dynamo.utils import counters

table = nn.Embedding(100_000, SIZE)
optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
table(torch.arange(50)).sum().backward()
step = torch.compile(lambda: optimizer.step(), backend="eager")
for _ in range(2):
    step()
print(counters["frames"]["total"], sum(counters["graph_break"].values()))
"""


@pytest.mark.slow
def test_a_compiled_step_has_nothing_of_the_doctor_in_it(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    told = []
    for size in (2, 64):  # the small one is not looked at
        program = tmp_path / f"{size}.py"
        program.write_text(COMPILED.replace("SIZE", str(size)))
        command = [sys.executable, "-m", "coldwarm", "doctor", str(program)]
        told.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told[0].splitlines()[0] == told[1].splitlines()[0]
