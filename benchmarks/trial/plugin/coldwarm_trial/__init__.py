"""A plug-in whose two backends are the two sides of a trial with ``coldwarm run``."""
