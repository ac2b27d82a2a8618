"""Gradients, what they are taken by, and what is left out of them."""
