"""What the other module imports."""

FACTOR = 3.0
