"""Warm work in eager PyTorch: ``units_N`` does N units, each y ← cos(x + y/2).

After some sixty units y no longer changes: all functions give the same answer. The tensors are too
small for PyTorch to share them out among threads.
"""

import torch


def units_200(x: torch.Tensor) -> torch.Tensor:
    """Do 200 units."""
    return _work(x, 200)


def units_205(x: torch.Tensor) -> torch.Tensor:
    """Do 205 units, 2.5 % more."""
    return _work(x, 205)


def units_206(x: torch.Tensor) -> torch.Tensor:
    """Do 206 units, 3 % more."""
    return _work(x, 206)


def units_210(x: torch.Tensor) -> torch.Tensor:
    """Do 210 units, 5 % more."""
    return _work(x, 210)


def units_216(x: torch.Tensor) -> torch.Tensor:
    """Do 216 units, 8 % more."""
    return _work(x, 216)


def _work(x: torch.Tensor, units: int) -> torch.Tensor:
    y = x
    for _ in range(units):
        y = torch.cos(x + 0.5 * y)
    return y
