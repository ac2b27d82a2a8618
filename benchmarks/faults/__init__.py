"""Some 400 faults and hostile artifacts, each against the real command."""
