"""What practice has taught besides the articles."""
