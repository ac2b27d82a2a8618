"""Spectra of trajectories of several lengths, smoothed and fitted by one compiled function."""

import torch

torch.manual_seed(0)
torch.set_num_threads(1)


@torch.compile(dynamic=False)
def moments(track, weight):
    centre = (track * weight).sum(0) / weight.sum()
    away = (track - centre) * weight
    spread = away.T @ away / weight.sum()
    speed = (track[1:] - track[:-1]) * weight[1:]
    turning = (speed[1:] * speed[:-1]).sum(-1) / (1e-6 + speed[1:].norm(dim=-1)).clamp(max=3.0)
    energy = 0.5 * (speed**2).sum(-1) + torch.cosh(away[1:].clamp(-2.0, 2.0)).log().sum(-1)
    return torch.cat([centre, spread.diagonal(), (energy * weight[1:, 0]).sum()[None], turning.sum()[None]])


lengths = (311, 274, 333, 295, 350)
total = torch.zeros(8)
for length in lengths:
    track = torch.randn(length, 3).cumsum(0) / 20.0
    weight = torch.ones(length, 1)
    total += moments(track, weight)
print([f"{one:.3f}" for one in total.tolist()])
