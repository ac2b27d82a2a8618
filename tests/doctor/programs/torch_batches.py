"""Batches of many shapes through a compiled function that was told not to be dynamic."""

import torch


class Scorer:
    def __init__(self):
        self.weight = torch.ones(8)
        self.score = torch.compile(self._score, backend="eager", dynamic=False)

    def _score(self, x):
        return torch.softmax(x @ self.weight, 0).max()


def main():
    scorer = Scorer()
    best = [scorer.score(torch.ones(length, 8)) for length in (5, 9, 12, 20, 31)]
    print(len(best))


main()
