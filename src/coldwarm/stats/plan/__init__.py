"""What a job of many calls costs with each candidate, and what pays off from when."""
