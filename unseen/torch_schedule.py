"""A compiled update whose mode changes by the turn."""

import torch


@torch.compile(backend="eager")
def update(w, grad, rate, every):
    if every % 2:
        return w - rate * grad
    return w - rate * grad.sign() * every


def main():
    w = torch.ones(64)
    for turn in range(6):
        grad = 2 * w
        w = update(w, grad, rate=0.1 / (1 + turn), every=turn)
    print(w.shape)


main()
