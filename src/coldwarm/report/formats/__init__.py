"""What a report can be written as: a file for each format, found by scanning this folder."""
