"""Many examples at once."""
