"""An Adam-like optimizer of a lens profile, written as a module that counts its steps."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Optimizer(nn.Module):
    """Moments of the gradient, corrected for their start."""

    def __init__(self, size):
        super().__init__()
        self.n_steps = 0
        self.register_buffer("first", torch.zeros(size))
        self.register_buffer("second", torch.zeros(size))

    def forward(self, x, gradient):
        self.n_steps += 1
        self.first.mul_(0.9).add_(gradient, alpha=0.1)
        self.second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        first = self.first / (1.0 - 0.9**self.n_steps)
        second = self.second / (1.0 - 0.999**self.n_steps)
        return x - 0.05 * first / (second.sqrt() + 1e-8)


def gradient_of(profile):
    profile = profile.detach().requires_grad_()
    spot = torch.fft.rfft(torch.tanh(profile) - target).abs()
    (gradient,) = torch.autograd.grad((spot**2).mean(), profile)
    return gradient


target = torch.linspace(-0.9, 0.9, 4096).sin()
profile = torch.randn(4096)
step = torch.compile(Optimizer(4096))
for at in range(5):
    profile = step(profile, gradient_of(profile))
print(f"{(torch.tanh(profile) - target).abs().mean():.5f}")
