"""Workloads: one file for each job, found by scanning this folder."""
