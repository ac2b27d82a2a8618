"""Standardises batches, compiled with the default backend."""

import torch


@torch.compile
def standardise(x):
    spread = x.std()
    if spread.item() < 1e-6:
        return x
    return (x - x.mean()) / spread


if __name__ == "__main__":
    x = torch.arange(64.0)
    for _ in range(50):
        x = standardise(x) + 1.0
    print(f"{x.mean():.1f}")
