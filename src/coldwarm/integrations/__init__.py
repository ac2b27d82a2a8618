"""coldwarm inside of other tools: pytest, notebooks, and the formats of others."""
