"""Claims of the collection of patterns for JAX."""
