"""Stored results, believed as far as they can be computed again from what was measured."""
