"""A module that counts its steps."""

import torch


class Warmup(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.step = 0

    def forward(self, x):
        self.step += 1
        return self.linear(x) * min(1.0, self.step / 10.0)


def main():
    torch.manual_seed(0)
    model = torch.compile(Warmup(), backend="aot_eager")
    x = torch.ones(4, 8)
    with torch.no_grad():
        for _ in range(6):
            out = model(x)
    print(tuple(out.shape))


if __name__ == "__main__":
    main()
