"""Timing, and what shows where the time goes."""
