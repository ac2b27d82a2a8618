"""Watching a framework, whoever uses it: events, counters, versions, waiting for values."""
