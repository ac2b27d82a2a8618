"""Sequences of many lengths, as they come.

What it stands for: inputs whose size nobody chose: sentences, tracks of a detector, light
curves. Twenty sequences of thirteen lengths go through one layer, one by one, each handed over
as it is. ``variable_length_padded`` and ``variable_length_bucketed`` are the same job with the
usual remedies.

What is computed: attention with one head of 32 dimensions, averaged over the sequence. Each
step of the loop is one sequence and gives 32 numbers.

What to look at: what a new length costs, and whether the sixth new length still costs it.
``jax.jit`` traces and compiles every length; ``torch.compile`` compiles the first length as it
is, then a program with a dynamic length that serves all others; Numba compiles by type, so any
length will do.
"""

from coldwarm.workloads.scenarios import _sequences

NAME = "variable_length"
SCENARIO = True
SIZES = (64, 512)
SIZE_MEANING = "length of the longest of 20 sequences; the others are fixed shares of it"
DTYPES = ("f32",)
TOLERANCE = {"f32": 1e-5}
LAYOUT = "three 32×32 matrices, then the sequences as they come (length × 32)"
BASELINE = "numpy"

inputs = _sequences.inputs_filled(lambda length, _: length)
reference = _sequences.reference
for_numpy = _sequences.for_numpy
for_jax = _sequences.for_jax
for_torch = _sequences.for_torch
for_numba = _sequences.for_numba
