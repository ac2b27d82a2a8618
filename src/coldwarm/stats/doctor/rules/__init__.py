"""One file for each thing that the doctor finds: ``findings(seen)`` yields what it names."""
