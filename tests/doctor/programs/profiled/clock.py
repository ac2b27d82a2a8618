"""A context that measures its block."""

import time


class Timer:
    def __init__(self, name):
        self.name = name
        self.seconds = 0.0

    def __enter__(self):
        self._start = time.time()
        return self

    def __exit__(self, *_):
        self.seconds += time.time() - self._start
