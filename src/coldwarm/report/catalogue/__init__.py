"""Patterns and claims in words: tables of results, and the page of each."""
