"""Claims of the article that compares JAX with PyTorch."""
