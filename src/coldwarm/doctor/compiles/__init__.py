"""What each framework traces, lowers, compiles and reads from a cache, and why."""
