"""A network that learns a potential from samples; the last batch of an epoch is shorter."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))


@torch.compile
def loss_of(points, energies, weights):
    away = model(points)[:, 0] - energies
    robust = torch.where(away.abs() < 1.0, 0.5 * away**2, away.abs() - 0.5)
    return (weights * robust).sum() / weights.sum()


points = torch.randn(2100, 3)
energies = (points**2).sum(1).sqrt() - torch.exp(-(points[:, 0] ** 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(20):
    for batch, truth in zip(points.split(256), energies.split(256), strict=True):
        weights = torch.ones(len(batch))
        rest = 256 - len(batch)
        batch = nn.functional.pad(batch, (0, 0, 0, rest))
        truth, weights = (nn.functional.pad(one, (0, rest)) for one in (truth, weights))
        loss = loss_of(batch, truth, weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
away = model(points)[:, 0] - energies
print(f"{away.abs().mean():.4f}")
