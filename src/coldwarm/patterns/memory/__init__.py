"""What is kept, given away, computed again or moved."""
