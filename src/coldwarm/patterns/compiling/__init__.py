"""How often, and how much at once, a framework compiles."""
