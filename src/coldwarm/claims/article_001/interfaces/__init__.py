"""Names and interfaces, and whether they are there still."""
