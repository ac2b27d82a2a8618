"""Sequences of many lengths, padded to powers of two.

What it stands for: the middle way between ``variable_length`` and ``variable_length_padded``:
fill sequences up to the next power of two, so that there are few shapes and little waste.

What is computed: what ``variable_length`` computes, with the same answer: a mask leaves out what
was filled up. NumPy and Numba, which need no padding, take the real rows. The filling up is done
when the inputs are made, as a data loader does it, and is not timed.

What to look at: four shapes instead of thirteen, so four compiles where every shape has its own,
while no call does more than four times the work that it must.
"""

from coldwarm.workloads.scenarios import _sequences

NAME = "variable_length_bucketed"
SCENARIO = True
SIZES = (64, 512)
SIZE_MEANING = "length of the longest of 20 sequences; the others are fixed shares of it"
DTYPES = ("f32",)
TOLERANCE = {"f32": 1e-5}
LAYOUT = "three 32×32 matrices, then every sequence filled up to a power of two (length × 32)"
BASELINE = "numpy"

inputs = _sequences.inputs_filled(lambda length, _: 1 << (length - 1).bit_length())
reference = _sequences.reference
for_numpy = _sequences.for_numpy
for_jax = _sequences.for_jax
for_torch = _sequences.for_torch
for_numba = _sequences.for_numba
