"""An example plug-in for coldwarm: a backend whose every cost is known, and its workload."""
