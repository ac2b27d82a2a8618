"""Two stored results: whether they can be compared, metric by metric, and as a whole."""
