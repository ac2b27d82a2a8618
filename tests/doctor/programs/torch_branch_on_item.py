"""Clips a gradient by its norm, compiled."""

import torch


@torch.compile(backend="eager")
def clip(gradient, limit):
    norm = torch.linalg.vector_norm(gradient)
    if norm.item() > limit:
        gradient = gradient * (limit / norm)
    return gradient * 0.1


def main():
    w = torch.linspace(-1.0, 1.0, 50)
    for _ in range(200):
        w = w - clip(2 * w, 1.0)
    print(f"{w.abs().max():.3f}")


if __name__ == "__main__":
    main()
