"""The table of hardware."""
