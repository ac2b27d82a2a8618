"""Results of many runs in one folder, and what has changed from one to the next."""
