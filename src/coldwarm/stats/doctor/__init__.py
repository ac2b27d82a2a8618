"""From what the doctor's journals hold to what it says. Pure."""
