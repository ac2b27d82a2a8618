"""What joins coldwarm to other tools: their formats, written and read."""
