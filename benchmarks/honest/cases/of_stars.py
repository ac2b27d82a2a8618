"""Astropy, HDF5 and awkward arrays."""

import tempfile
from pathlib import Path

import astropy.units as u
import awkward as ak
import h5py
import numpy as np
from astropy.coordinates import SkyCoord
from astropy.table import Table
from astropy.time import Time

EVENTS = ak.Array([[{"pt": 1.5}, {"pt": 2.5}], [], [{"pt": 3.5}]])
FOLDER = Path(tempfile.mkdtemp())


def quantity():
    return (np.arange(10.0) * u.km / u.s).to(u.m / u.s)


def coordinates():
    return SkyCoord(ra=[10.0, 20.0] * u.deg, dec=[-5.0, 5.0] * u.deg).galactic


def separation():
    here = SkyCoord(ra=10 * u.deg, dec=5 * u.deg)
    return here.separation(SkyCoord(ra=11 * u.deg, dec=5 * u.deg)).deg


def table():
    return Table({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]})


def days():
    return Time(["2024-01-01", "2024-06-01"]).jd


def written_and_read():
    path = FOLDER / "a.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(100.0)
    with h5py.File(path) as file:
        return file["x"][10:20]


def ragged():
    return EVENTS.pt * 2


def ragged_sums():
    return ak.sum(EVENTS.pt, axis=1)


def ragged_records():
    return ak.zip({"n": ak.num(EVENTS), "first": ak.fill_none(ak.firsts(EVENTS.pt), 0.0)})


def ragged_as_lists():
    return ak.to_list(EVENTS)


def of_ragged():
    def largest(events):
        return ak.max(events.pt, axis=1)

    return largest, (EVENTS,)
