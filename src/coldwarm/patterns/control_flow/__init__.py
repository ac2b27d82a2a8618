"""Branches and loops inside what is compiled."""
