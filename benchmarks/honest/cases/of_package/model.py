"""A module of a package, given as a file."""

import numpy as np

from . import constants
from .constants import FACTOR


def scaled():
    return np.arange(10.0) * FACTOR


def shifted():
    return np.arange(10.0) + constants.FACTOR
