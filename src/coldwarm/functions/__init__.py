"""A user's own functions as candidates: what is loaded beside them, and how they are called."""
