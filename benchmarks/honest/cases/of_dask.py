"""Dask and joblib: what they computed, with threads and processes that stay."""

import math

import dask
import dask.array as da
import dask.bag as db
import numpy as np
from joblib import Parallel, delayed, hash as joblib_hash


def array_computed():
    return da.ones((200, 200), chunks=50).sum(axis=0).compute()


def several_computed():
    x = da.arange(1000, chunks=100)
    return dask.compute(x.mean(), x.std())


def bag_computed():
    return (
        db.from_sequence(range(20), npartitions=2).map(lambda n: n * n).compute(scheduler="threads")
    )


def delayed_computed():
    return dask.delayed(sum)([dask.delayed(math.sqrt)(n) for n in range(5)]).compute()


def alone():
    with dask.config.set(scheduler="synchronous"):
        return da.ones((100, 100), chunks=50).mean().compute()


def loky():
    return Parallel(n_jobs=2)(delayed(math.sqrt)(n) for n in range(10))


def threads():
    return Parallel(n_jobs=2, prefer="threads")(delayed(math.sqrt)(n) for n in range(10))


def loky_on_arrays():
    return Parallel(n_jobs=2)(delayed(np.sum)(np.full(10, n)) for n in range(4))


def loky_kept():
    with Parallel(n_jobs=2) as pool:
        first = pool(delayed(math.sqrt)(n) for n in range(5))
        return first + pool(delayed(math.exp)(n) for n in range(5))


def hashed():
    return joblib_hash(np.arange(1000))
