"""The page of a report: one file with its figures, tables and data, for a browser."""
