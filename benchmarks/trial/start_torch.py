"""Starts with PyTorch: the first call of ``units_N`` makes a network of N layers.

As a program does that loads its model. 290 in place of 160 make a first result later: by how much
is measured apart, and is rather more than a tenth. All functions return the same numbers.
"""

import torch

WIDTH = 512

_made: dict[int, list[torch.nn.Linear]] = {}


def units_160(x: torch.Tensor) -> torch.Tensor:
    """Make 160 layers on the first call, then only add."""
    return _call(x, 160)


def units_290(x: torch.Tensor) -> torch.Tensor:
    """Make 290 layers on the first call, then only add."""
    return _call(x, 290)


def _call(x: torch.Tensor, layers: int) -> torch.Tensor:
    if layers not in _made:
        _made[layers] = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(layers)]
    return x + 1.0
