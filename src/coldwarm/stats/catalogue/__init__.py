"""Judging patterns and claims: pure functions of results, so that anyone can judge again."""
