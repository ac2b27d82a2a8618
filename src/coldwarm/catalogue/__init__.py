"""Patterns and claims: what they declare, measuring, judging and describing them."""
