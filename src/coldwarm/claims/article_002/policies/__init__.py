"""The table of checkpoint policies."""
