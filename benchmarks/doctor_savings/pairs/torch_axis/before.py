"""Structure of a field in four dimensions: how it changes along each of its axes."""

import torch

torch.manual_seed(0)
torch.set_num_threads(1)


@torch.compile
def along(field, axis):
    ahead = torch.roll(field, -1, axis)
    behind = torch.roll(field, 1, axis)
    slope = 0.5 * (ahead - behind)
    curve = ahead - 2.0 * field + behind
    kinetic = (slope**2).mean()
    skew = (slope**3).mean() / kinetic**1.5
    damped = torch.tanh(curve) * torch.exp(-(slope**2))
    profile = (damped * field).mean([one for one in range(4) if one != axis]).cumsum(0)
    kurtosis = ((curve - curve.mean()) ** 4).mean() / curve.var() ** 2
    return torch.stack([kinetic, skew, kurtosis, profile.std(), profile[-1]])


field = torch.randn(12, 12, 12, 12).cumsum(0).cumsum(1).cumsum(2)
for axis in range(4):
    for _ in range(10):
        found = along(field, axis)
    print(axis, [f"{one:.4f}" for one in found.tolist()])
