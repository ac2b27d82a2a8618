"""A compiled update that is repeated more often in each turn."""

import torch


@torch.compile(backend="eager")
def update(w, grad, rate, every):
    for _ in range(every):
        w = w - rate * grad
    return w


def main():
    w = torch.ones(64)
    for turn in range(1, 7):
        grad = 2 * w
        w = update(w, grad, rate=0.1 / (1 + turn), every=turn)
    print(w.shape)


main()
