"""What must not be told: taken out of every text before it is written or shown."""
