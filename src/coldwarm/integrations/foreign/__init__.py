"""Files of other tools that are read: a file for each tool, found by scanning this folder."""
