"""xarray: arrays with names."""

import numpy as np
import xarray as xr

CUBE = xr.DataArray(
    np.arange(240.0).reshape(10, 4, 6),
    dims=("time", "y", "x"),
    coords={"time": np.arange(10)},
    name="t",
)


def mean_over_time():
    return CUBE.mean("time")


def dataset():
    return xr.Dataset({"mean": CUBE.mean("x"), "std": CUBE.std("x")})


def grouped():
    return CUBE.groupby("time").mean(...)


def interpolated():
    return CUBE.interp(time=[0.5, 1.5])


def rolled():
    return CUBE.rolling(time=3).mean()


def of_an_array():
    def anomaly(cube):
        return cube - cube.mean("time")

    return anomaly, (CUBE,)


def computed_chunks():
    return CUBE.chunk({"time": 5}).mean("time").compute()
