"""Comparisons of two stored results: as tables, as text for other programs, and as refusals."""
