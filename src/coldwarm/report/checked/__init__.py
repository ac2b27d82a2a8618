"""What was found out about snapshots, in words: verified, compared, replicated."""
