"""Patterns: what to do and what not to do, a file for each pair, found by scanning the folders."""
