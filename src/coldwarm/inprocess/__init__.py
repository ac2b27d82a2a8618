"""``coldwarm.bench``: a function measured in the process that has it, and in fresh ones."""
