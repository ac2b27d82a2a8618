"""A compiled loss over those samples that are valid."""

import torch


@torch.compile(backend="eager")
def loss(predicted, target):
    error = (predicted - target) ** 2
    rows = torch.nonzero(target > 0)
    return error[rows[:, 0]].mean()


def main():
    torch.manual_seed(0)
    for _ in range(4):
        value = loss(torch.rand(32), torch.rand(32))
    print(value.ndim)


main()
