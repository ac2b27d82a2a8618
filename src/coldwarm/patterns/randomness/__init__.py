"""Keys of random numbers."""
