"""Patterns and claims in a terminal: tables of results, and the page of each."""
