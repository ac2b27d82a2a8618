"""Snapshots: immutable sets of results that a stranger can verify, rerun and compare."""
