"""A module that torch.compile turns into one graph."""

import torch


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x = torch.linspace(-1, 1, 8 * 32).reshape(32, 8)
    for step in range(200):
        optimizer.zero_grad(set_to_none=True)
        loss = ((compiled(x) - 0.5) ** 2).mean()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(step, loss.item() < 10)


if __name__ == "__main__":
    main()
