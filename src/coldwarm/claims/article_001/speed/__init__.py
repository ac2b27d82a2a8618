"""How fast one framework is against another."""
