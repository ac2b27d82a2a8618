"""Measures patterns and claims: each in a folder of its own, written down as it ends."""
