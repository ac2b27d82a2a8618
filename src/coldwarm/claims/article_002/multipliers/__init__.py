"""Factors and percentages."""
