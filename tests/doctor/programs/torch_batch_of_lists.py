"""Trains a small net on batches that are put together from a list of arrays."""

import numpy as np
import torch

torch.set_num_threads(1)


def main():
    rng = np.random.default_rng(5)
    records = [rng.normal(size=400).astype("float32") for _ in range(300)]
    net = torch.nn.Linear(400, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for _ in range(600):
        picked = rng.integers(0, len(records), 64)
        batch = torch.tensor([records[i] for i in picked])
        loss = net(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss is small", bool(loss.detach() < 10.0))


if __name__ == "__main__":
    main()
