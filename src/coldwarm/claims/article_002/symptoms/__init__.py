"""The table of symptoms."""
