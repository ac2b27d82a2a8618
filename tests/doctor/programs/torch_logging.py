"""A compiled network which reads its norm while it runs, to log it."""

import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in range(2))
        self.norms = []

    def remember(self, x):
        self.norms.append(x.norm().item())

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
            self.remember(x)
        return x.sum()


def main():
    torch.manual_seed(0)
    model = torch.compile(Encoder(), backend="eager")
    for _ in range(5):
        model(torch.ones(4, 16))
    print("done")


main()
