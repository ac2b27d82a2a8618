"""Measuring a snapshot again: in an environment made from its lock, by the protocol it states."""
