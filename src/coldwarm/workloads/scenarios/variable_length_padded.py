"""Sequences of many lengths, padded to the longest.

What it stands for: the first remedy against ``variable_length``: fill every sequence up with
zeros to the length of the longest, so that there is one shape and one compile.

What is computed: what ``variable_length`` computes, with the same answer: a mask leaves out what
was filled up. NumPy and Numba, which need no padding, take the real rows. The filling up is done
when the inputs are made, as a data loader does it, and is not timed.

What to look at: one compile, and what it is paid with: every call does the work of the longest
sequence, for attention the square of it. Whether that pays depends on how many calls follow.
"""

from coldwarm.workloads.scenarios import _sequences

NAME = "variable_length_padded"
SCENARIO = True
SIZES = (64, 512)
SIZE_MEANING = "length of the longest of 20 sequences; the others are fixed shares of it"
DTYPES = ("f32",)
TOLERANCE = {"f32": 1e-5}
LAYOUT = "three 32×32 matrices, then every sequence filled up to the longest (length × 32)"
BASELINE = "numpy"

inputs = _sequences.inputs_filled(lambda _, longest: longest)
reference = _sequences.reference
for_numpy = _sequences.for_numpy
for_jax = _sequences.for_jax
for_torch = _sequences.for_torch
for_numba = _sequences.for_numba
