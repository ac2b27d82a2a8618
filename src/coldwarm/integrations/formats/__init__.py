"""Formats of other tools that results are written as: a file for each, found by scanning."""
