"""The measured process: standard library only until the first result."""
