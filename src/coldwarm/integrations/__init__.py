"""Links of coldwarm to other tools: their formats, written and read."""
