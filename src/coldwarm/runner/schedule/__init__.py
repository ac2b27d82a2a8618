"""Which process next: cases, budget, estimates, availability, and what a run has so far."""
