"""A bench in words and tables."""
