"""A compiled update that looks at a history, which gets one entry longer in each step."""

import torch


@torch.compile(backend="eager")
def update(w, state):
    return w - 0.1 / (1 + len(state["seen"])) * w


def main():
    state = {"seen": []}
    w = torch.ones(16)
    for step in range(12):
        state["seen"].append(step)
        w = update(w, state)
    print(tuple(w.shape))


main()
