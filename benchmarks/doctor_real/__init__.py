"""The doctor on real programs: which, how they are run, and the table of what it said."""
