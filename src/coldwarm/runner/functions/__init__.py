"""A user's own functions: targets, inspection, revisions, bench, noise."""
