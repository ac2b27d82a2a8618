"""What the first call costs, and when a function is compiled again."""
