"""Backends: one file for each framework, found through the entry-point group."""
