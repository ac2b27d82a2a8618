"""PyTorch: tensors, modules, what comes with gradients."""

import numpy as np
import torch

torch.manual_seed(0)
NET = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))


def tensor():
    return (lambda x: (x @ x.T).sum(0)), (torch.ones(20, 20),)


def network():
    return NET, (torch.ones(4, 8),)


def network_without_gradients():
    @torch.no_grad()
    def predict(x):
        return NET(x).argmax(1)

    return predict, (torch.ones(4, 8),)


def loss():
    def train(x):
        out = NET(x).square().mean()
        out.backward()
        NET.zero_grad()
        return out.item()

    return train, (torch.ones(4, 8),)


def to_numpy():
    return (lambda x: torch.fft.rfft(x).abs().numpy()), (torch.arange(64.0),)


def of_a_column():
    return (lambda x: x.cumsum(0)), (torch.arange(12.0).reshape(3, 4)[:, 1],)


def module():
    return torch.nn.Linear(3, 3)(torch.ones(3))


def weights():
    return {name: one.detach().clone() for name, one in NET.state_dict().items()}


def sparse():
    return torch.eye(5).to_sparse()


def from_numpy():
    return torch.from_numpy(np.arange(10.0)).softmax(0)
