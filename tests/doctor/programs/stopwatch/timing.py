"""A decorator that keeps how long each call took."""

import functools
import time

import jax

RECORDS = {}


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        begin = time.perf_counter()
        result = jax.block_until_ready(function(*args, **kwargs))
        RECORDS.setdefault(function.__name__, []).append(time.perf_counter() - begin)
        return result

    return wrapper
