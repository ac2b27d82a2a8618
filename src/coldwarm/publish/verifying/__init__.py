"""Whether a snapshot holds: its bytes, its contracts, its signature, and what it says."""
