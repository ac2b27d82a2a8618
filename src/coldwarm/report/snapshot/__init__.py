"""Snapshots in words: what a verification, a comparison or a replication has found."""
