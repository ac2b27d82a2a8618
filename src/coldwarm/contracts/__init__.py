"""Typed, versioned records of everything that is written down."""
