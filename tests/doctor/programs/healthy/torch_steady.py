"""A compiled network with one shape, trained by an optimizer that is not compiled."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(8, 16)
        self.outer = torch.nn.Linear(16, 1)

    def forward(self, x):
        return self.outer(torch.relu(self.inner(x)))


def main():
    torch.manual_seed(0)
    net = Net()
    compiled = torch.compile(net, backend="aot_eager", fullgraph=True)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    x = torch.randn(32, 8)
    running = 0.0
    for turn in range(30):
        optimizer.zero_grad()
        loss = (compiled(x) - x[:, :1]).square().mean()
        loss.backward()
        optimizer.step()
        if turn % 10 == 9:
            running += loss.item()
    print(running > 0)


main()
