"""Loops over elements of tensors, and weights computed in each turn; with innocents beside each."""

from __future__ import annotations

import textwrap

import pytest
from tests.doctor import journals
from tests.doctor.test_looked_at import FILE, seen

ELEMENTS = """
import torch

def slowed(state, ceiling, image: torch.Tensor):
    speeds = {made}
    count = torch.zeros(9, 9)
    for k in range(len(speeds)):
        {body}
    return count
"""
TEST = "if speeds[k] > ceiling:\n            n += 1"
NORM = "state.velocity.norm(dim=1)"


@pytest.mark.parametrize(
    ("made", "body", "named"),
    [
        (NORM, TEST, True),
        (NORM, "n = 1 if speeds[k] > ceiling else 2", True),
        (NORM, "n += float(speeds[k])", True),
        (NORM, "n += speeds[k].item()", True),
        (NORM, "n += math.sqrt(image[k])", True),
        (NORM, "count[k, k + 1] += 1", True),
        (f"{NORM}.tolist()", TEST, False),
        ("np.linalg.norm(state.velocity, axis=1)", TEST, False),
        (NORM, "if speeds[0] > ceiling: n += 1", False),
        (NORM, "n = work(speeds[k])", False),  # it may be a row
        (NORM, "if speeds[k:] is None: n += 1", False),
        (NORM, "count[k] += work(k)", False),
    ],
)
def test_single_elements_of_tensors(made: str, body: str, *, named: bool) -> None:
    text = ELEMENTS.format(made=made, body=body)
    assert at(text, 8) == [("torch-element-loop", 8)] * named
    assert at(text, 8, 0.1) == [], "of no matter"
    assert at(text.replace("torch", "other"), 8) == []


CALLED = """
import torch

class Run:
    def __init__(self, n):
        self.frames = {made}

    def trajectory(self):
        frames = [self.frames]
        return {given}

def crossings(frames, threshold):
    n = 0
    for k in range(9):
        if frames[k] > threshold:
            n += 1
    return n

print(crossings(Run(9).trajectory(), 0.5))
"""
ZEROS = "torch.zeros(n)"


@pytest.mark.parametrize(
    ("made", "given", "named"),
    [
        (ZEROS, "self.frames", True),
        (ZEROS, "torch.stack(frames)", True),
        (ZEROS, "self.frames.abs() + 1", True),
        (ZEROS, "self.frames.tolist()", False),
        (ZEROS, "self.frames.numpy()", False),
        (ZEROS, "frames", False),
        ("np.zeros(n)", "self.frames", False),
        ("np.zeros(n)", "self.frames + 1", False),
    ],
)
def test_what_is_a_tensor_is_known_through_calls(made: str, given: str, *, named: bool) -> None:
    text = CALLED.format(made=made, given=given)
    assert at(text, 15) == [("torch-element-loop", 15)] * named


RECURRENT = """
import torch

def forward(self, drive, state):
    for moment in drive.unbind(dim=1):
        {body}
    return state
"""


@pytest.mark.parametrize(
    ("body", "below", "named"),
    [
        ("state = self.recurrent(state) + moment", "torch.parametrize", True),
        ("state = self.recurrent(state) + moment", "torch.Linear.forward", False),
        ("state = moment(state)", "torch.parametrize", False),  # a loop over layers
        ("self.recurrent(moment).backward()", "torch.parametrize", False),
    ],
)
def test_weights_that_are_computed_in_each_turn(body: str, below: str, *, named: bool) -> None:
    text = RECURRENT.format(body=body)
    found = seen(text, looks=[(6, below, 2.0)])
    assert [(one.pattern, one.line) for one in found] == [("torch-parametrized-in-loop", 6)] * named


CELL = """
import torch

class Cell:
    def forward(self, drive, state):
        return torch.tanh(drive + self.recurrent(state))

def encode(cell, drives, state):
    for drive in drives.unbind(dim=1):
        state = cell(drive, state){more}
    return state
"""


@pytest.mark.parametrize(("more", "named"), [("", True), ("\n        optimizer.step()", False)])
def test_weights_of_a_module_that_a_loop_calls(more: str, *, named: bool) -> None:
    stack = [[FILE, 6, "Cell.forward"], [FILE, 10, "encode"]]
    found = seen(CELL.format(more=more), more=journals.looked(stack, "torch.parametrize", 2.0))
    assert [(one.pattern, one.line) for one in found] == [
        ("torch-parametrized-in-loop", 10)
    ] * named


APPLIED = """
import torch

def counts(magnitude):
    return 10.0 ** (-0.4 * magnitude)

flux = magnitudes.clone().{call}(counts)
"""


@pytest.mark.parametrize(("call", "named"), [("apply_", True), ("map_", True), ("apply", False)])
def test_functions_that_are_called_for_each_number(call: str, *, named: bool) -> None:
    stack = [[FILE, 5, "counts"], [FILE, 7, "<module>"]]
    found = seen(APPLIED.format(call=call), more=journals.looked(stack, "", 2.0))
    assert [(one.pattern, one.line) for one in found] == [("torch-element-loop", 7)] * named


def at(text: str, line: int, seconds: float = 2.0) -> list[tuple[str, int]]:
    """Return what is found where a line took so long."""
    found = seen(textwrap.dedent(text), looks=[(line, "", seconds)])
    return [(one.pattern, one.line) for one in found]
