"""Making a snapshot of finished runs."""
