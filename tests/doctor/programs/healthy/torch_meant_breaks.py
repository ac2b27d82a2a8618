"""Graphs that end where they are meant to, and a compiler that is started anew between models."""

import torch

SEEN = []


@torch.compiler.disable
def noted(x):
    SEEN.append(tuple(x.shape))
    return x


@torch.compile(backend="eager")
def forward(x):
    x = noted(torch.sin(x))
    torch._dynamo.graph_break()
    return torch.cos(x)


def main():
    for size in (4, 8):
        torch.compiler.reset()
        for _ in range(3):
            out = forward(torch.ones(size))
    print(tuple(out.shape), len(SEEN))


main()
